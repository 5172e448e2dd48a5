// Google Benchmark over the library: a session with its first cell, a plain cell, a pandas cell, a first chart. Beside them the
// primitives that they are made of, since machines differ: compare ratios, not times. Not a test.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "cellblock/host.h"
#include "sys/files.h"
#include "sys/proc_reader.h"
#include "sys/process.h"
#include "sys/sockets.h"

namespace {

constexpr char kPandas[] =
    "import pandas as pd, numpy as np\n"
    "pd.DataFrame({'a': np.arange(1000), 'c': list('abcd') * 250}).groupby('c').a.mean().sum()";
constexpr char kChart[] = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3]); plt.title('t'); plt.show()";

cellblock::Host& TheHost() {
  static std::unique_ptr<cellblock::Host> host = [] {
    cellblock::HostOptions options;
    const char* environment = std::getenv("CELLBLOCK_PYTHON_ENV");
    options.python_environment = environment != nullptr ? environment : CELLBLOCK_DEFAULT_PYTHON_ENV;
    options.libexec_directory = CELLBLOCK_LIBEXEC;
    auto made = cellblock::Host::Create(options);
    if (!made.ok()) {
      std::cerr << made.status() << "\n";
      std::exit(4);
    }
    if (auto first = (*made)->CreateSession(cellblock::Policy{}); !first.ok()) std::exit((std::cerr << first.status() << "\n", 4));
    return *std::move(made);
  }();
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

// Each lap by itself: a mean hides what most calls cost behind the machine's worst moments.
class Laps {
 public:
  void Add(std::chrono::steady_clock::time_point start) { microseconds_.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count()); }
  void Report(benchmark::State& state) {
    if (microseconds_.empty()) return;
    std::sort(microseconds_.begin(), microseconds_.end());
    auto at = [this](double part) { return microseconds_[static_cast<size_t>(part * static_cast<double>(microseconds_.size() - 1))]; };
    state.counters["min_us"] = at(0), state.counters["median_us"] = at(0.5), state.counters["p99_us"] = at(0.99);
  }

 private:
  std::vector<double> microseconds_;
};

void BM_NewSession(benchmark::State& state) {
  Laps laps;
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    auto session = TheHost().CreateSession(cellblock::Policy{});
    if (!session.ok()) return state.SkipWithError(std::string(session.status().message()).c_str());
    laps.Add(start);
    state.PauseTiming();
    session->reset();
    state.ResumeTiming();
  }
  laps.Report(state);
}
BENCHMARK(BM_NewSession)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(Iterations(200));

void BM_NewSessionWithItsFirstCell(benchmark::State& state) {
  Laps laps;
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    auto session = TheHost().CreateSession(cellblock::Policy{});
    if (!session.ok()) return state.SkipWithError(std::string(session.status().message()).c_str());
    Run(**session, "1+1", state);
    laps.Add(start);
    state.PauseTiming();
    session->reset();
    state.ResumeTiming();
  }
  laps.Report(state);
}
BENCHMARK(BM_NewSessionWithItsFirstCell)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(Iterations(200));

void BM_Cell(benchmark::State& state, const char* code) {
  auto session = TheHost().CreateSession(cellblock::Policy{});
  if (!session.ok()) return state.SkipWithError("no session");
  Laps laps;
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    Run(**session, code, state);
    laps.Add(start);
  }
  laps.Report(state);
}
BENCHMARK_CAPTURE(BM_Cell, OnePlusOne, "1+1")->Unit(benchmark::kMicrosecond)->UseRealTime()->Iterations(Iterations(5000));
BENCHMARK_CAPTURE(BM_Cell, PandasGroupBy, kPandas)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(50);
BENCHMARK_CAPTURE(BM_Cell, Chart, kChart)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(10);

void BM_FirstChartOfASession(benchmark::State& state) {
  Laps laps;
  for (auto _ : state) {
    auto session = TheHost().CreateSession(cellblock::Policy{});
    if (!session.ok()) return state.SkipWithError("no session");
    auto start = std::chrono::steady_clock::now();
    Run(**session, kChart, state);
    laps.Add(start);
  }
  laps.Report(state);
}
BENCHMARK(BM_FirstChartOfASession)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(10);

// Private memory of every process three pid namespaces deep: the workers (this process, the nest's, the jail's).
void AddWorkerMemory(std::vector<double>& kilobytes) {
  for (pid_t pid : cellblock::sys::Descendants({getpid()})) {
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
  std::vector<std::unique_ptr<cellblock::Session>> sessions;
  for (auto _ : state) {
    auto session = TheHost().CreateSession(cellblock::Policy{});
    if (!session.ok()) return state.SkipWithError("no session");
    Run(**session, "1+1", state);
    sessions.push_back(*std::move(session));
  }
  std::vector<double> kilobytes;
  AddWorkerMemory(kilobytes);
  std::sort(kilobytes.begin(), kilobytes.end());
  if (!kilobytes.empty()) state.counters["private_kb"] = kilobytes[kilobytes.size() / 2];
}
BENCHMARK(BM_IdleSessionAfterItsFirstCell)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(20);

}  // namespace

BENCHMARK_MAIN();
