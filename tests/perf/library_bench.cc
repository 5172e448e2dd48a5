// Google Benchmark over the library: a session with its first cell, a plain cell, a pandas cell, a first chart. Beside them the
// primitives that they are made of, since machines differ: compare ratios, not times. Not a test.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "cellblock/host.h"
#include "sys/files.h"
#include "sys/proc_reader.h"
#include "sys/process.h"
#include "sys/sockets.h"
#include "tests/perf/bench_support.h"

namespace {

using namespace cellblock::perf;

std::unique_ptr<cellblock::Host> Warm(int64_t ready) {
  std::unique_ptr<cellblock::Host> host = MakeHost(ready);
  (void)MakeSession(*host);
  return host;
}

cellblock::Host& TheHost() {
  static const std::unique_ptr<cellblock::Host> host = Warm(0);
  return *host;
}

constexpr int64_t kReady = 16;

// With workers made ahead; it makes none while nobody takes any.
cellblock::Host& TheHostWithPool() {
  static const std::unique_ptr<cellblock::Host> host = Warm(kReady);
  return *host;
}

void Run(cellblock::Session& session, const char* code, benchmark::State& state) {
  auto record = session.Execute(code);
  if (!record.ok() || record->status != cellblock::CallStatus::kOk) state.SkipWithError("the cell failed");
}

void BM_ForkOfATinyProcess(benchmark::State& state) {
  for (auto _ : state) {
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    waitpid(pid, nullptr, 0);
  }
}
BENCHMARK(BM_ForkOfATinyProcess)->Unit(benchmark::kMicrosecond)->MinTime(0.5);

void BM_PingPongBetweenProcesses(benchmark::State& state) {
  auto pair = cellblock::sys::MakeSocketPair(SOCK_SEQPACKET);
  pid_t pid = fork();
  char byte = 'x';
  if (pid == 0) {
    pair->first.Reset();
    while (read(pair->second.get(), &byte, 1) == 1 && write(pair->second.get(), &byte, 1) == 1) {
    }
    _exit(0);
  }
  for (auto _ : state) {
    if (write(pair->first.get(), &byte, 1) != 1 || read(pair->first.get(), &byte, 1) != 1) break;
  }
  pair->first.Reset();
  pair->second.Reset();
  waitpid(pid, nullptr, 0);
}
BENCHMARK(BM_PingPongBetweenProcesses)->Unit(benchmark::kMicrosecond)->MinTime(0.5);

// `usual`, or what whoever measures in short rounds asks for.
int64_t Iterations(int64_t usual) {
  const char* asked = std::getenv("CELLBLOCK_BENCH_ITERATIONS");
  return asked == nullptr ? usual : std::max<int64_t>(1, std::atoll(asked));
}

void Report(Laps& laps, benchmark::State& state) {
  if (laps.size() == 0) return;
  state.counters["min_us"] = laps.At(0) * 1e6, state.counters["median_us"] = laps.At(0.5) * 1e6, state.counters["p99_us"] = laps.At(0.99) * 1e6;
}

// Sessions one after another, without their ends; `prepare` is not counted.
void TimeSessions(benchmark::State& state, cellblock::Host& host, bool with_cell, const std::function<void()>& prepare, bool is_handed_out) {
  Laps laps;
  for (auto _ : state) {
    state.PauseTiming();
    prepare();
    state.ResumeTiming();
    const StopWatch watch;
    auto session = host.CreateSession(cellblock::Policy{});
    if (!session.ok()) return state.SkipWithError(std::string(session.status().message()).c_str());
    if (with_cell) Run(**session, "1+1", state);
    laps.Add(watch.seconds());
    state.PauseTiming();
    if (is_handed_out && (*session)->start_timings().hand_out == absl::ZeroDuration()) state.SkipWithError("it did not come from the pool");
    session->reset();
    state.ResumeTiming();
  }
  Report(laps, state);
}

void BM_NewSession(benchmark::State& state) {
  TimeSessions(state, TheHost(), /*with_cell=*/false, [] {}, /*is_handed_out=*/false);
}
BENCHMARK(BM_NewSession)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(Iterations(200));

void BM_NewSessionWithItsFirstCell(benchmark::State& state) {
  TimeSessions(state, TheHost(), /*with_cell=*/true, [] {}, /*is_handed_out=*/false);
}
BENCHMARK(BM_NewSessionWithItsFirstCell)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(Iterations(200));

// Each when the pool is full again: what a caller meets who comes now and then.
void BM_HandedOutSessionWithItsFirstCell(benchmark::State& state) {
  const auto wait = [] {
    while (TheHostWithPool().usage().pool.ready < kReady) usleep(1000);
  };
  TimeSessions(state, TheHostWithPool(), /*with_cell=*/true, wait, /*is_handed_out=*/true);
}
BENCHMARK(BM_HandedOutSessionWithItsFirstCell)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(Iterations(200));

// As fast as one caller can: a session, its cell, its end. With a pool, what it makes ahead competes with what it hands out.
void BM_SessionsOneAfterAnother(benchmark::State& state, cellblock::Host& (*host)()) {
  host();
  for (auto _ : state) {
    auto session = host().CreateSession(cellblock::Policy{});
    if (!session.ok()) return state.SkipWithError(std::string(session.status().message()).c_str());
    Run(**session, "1+1", state);
  }
}
BENCHMARK_CAPTURE(BM_SessionsOneAfterAnother, Built, TheHost)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(Iterations(300));
BENCHMARK_CAPTURE(BM_SessionsOneAfterAnother, FromThePool, TheHostWithPool)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(Iterations(300));

void BM_Cell(benchmark::State& state, const char* code) {
  auto session = TheHost().CreateSession(cellblock::Policy{});
  if (!session.ok()) return state.SkipWithError("no session");
  Laps laps;
  for (auto _ : state) {
    const StopWatch watch;
    Run(**session, code, state);
    laps.Add(watch.seconds());
  }
  Report(laps, state);
}
BENCHMARK_CAPTURE(BM_Cell, OnePlusOne, "1+1")->Unit(benchmark::kMicrosecond)->UseRealTime()->Iterations(Iterations(5000));
BENCHMARK_CAPTURE(BM_Cell, PandasGroupBy, kPandas)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(50);
BENCHMARK_CAPTURE(BM_Cell, Chart, kChart)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(10);

void BM_FirstChartOfASession(benchmark::State& state) {
  Laps laps;
  for (auto _ : state) {
    auto session = TheHost().CreateSession(cellblock::Policy{});
    if (!session.ok()) return state.SkipWithError("no session");
    const StopWatch watch;
    Run(**session, kChart, state);
    laps.Add(watch.seconds());
  }
  Report(laps, state);
}
BENCHMARK(BM_FirstChartOfASession)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(10);

// Private memory of every process three pid namespaces deep: the workers (this process, the nest's, the jail's).
void AddWorkerMemory(const std::vector<pid_t>& others, std::vector<double>& kilobytes) {
  for (pid_t pid : cellblock::sys::Descendants({getpid()})) {
    if (std::find(others.begin(), others.end(), pid) != others.end()) continue;
    std::string folder = "/proc/" + std::to_string(pid);
    std::ifstream status(folder + "/status"), rollup(folder + "/smaps_rollup");
    std::string line, name;
    int levels = 0;
    while (std::getline(status, line)) {
      if (line.rfind("Name:", 0) == 0) name = line;
      if (line.rfind("NSpid:", 0) == 0) levels = static_cast<int>(std::count(line.begin(), line.end(), '\t'));
    }
    if (levels != 3 || name.find("cellblock-guest") == std::string::npos) continue;
    double sum = 0;
    while (std::getline(rollup, line)) {
      if (line.rfind("Private_", 0) == 0) sum += std::atof(line.substr(line.find(':') + 1).c_str());
    }
    kilobytes.push_back(sum);
  }
}

void BM_IdleSessionAfterItsFirstCell(benchmark::State& state) {
  const std::vector<pid_t> others = cellblock::sys::Descendants({getpid()});
  std::vector<std::unique_ptr<cellblock::Session>> sessions;
  for (auto _ : state) {
    auto session = TheHost().CreateSession(cellblock::Policy{});
    if (!session.ok()) return state.SkipWithError("no session");
    Run(**session, "1+1", state);
    sessions.push_back(*std::move(session));
  }
  std::vector<double> kilobytes;
  AddWorkerMemory(others, kilobytes);
  std::sort(kilobytes.begin(), kilobytes.end());
  if (!kilobytes.empty()) state.counters["private_kb"] = kilobytes[kilobytes.size() / 2];
}
BENCHMARK(BM_IdleSessionAfterItsFirstCell)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(20);

}  // namespace

BENCHMARK_MAIN();
