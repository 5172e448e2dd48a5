// Google Benchmark over the library: a session with its first cell, a plain cell, a pandas cell, a first chart. Beside them the
// primitives that they are made of, since machines differ: compare ratios, not times. Not a test.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "benchmark/benchmark.h"
#include "cellblock/host.h"
#include "sys/files.h"
#include "sys/proc_reader.h"
#include "sys/sockets.h"

#include <sys/socket.h>

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

void BM_NewSessionWithItsFirstCell(benchmark::State& state) {
  for (auto _ : state) {
    auto session = TheHost().CreateSession(cellblock::Policy{});
    if (!session.ok()) return state.SkipWithError(std::string(session.status().message()).c_str());
    Run(**session, "1+1", state);
    state.PauseTiming();
    session->reset();
    state.ResumeTiming();
  }
}
BENCHMARK(BM_NewSessionWithItsFirstCell)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(50)->Repetitions(5)->ReportAggregatesOnly();

void BM_Cell(benchmark::State& state, const char* code) {
  auto session = TheHost().CreateSession(cellblock::Policy{});
  if (!session.ok()) return state.SkipWithError("no session");
  for (auto _ : state) Run(**session, code, state);
}
BENCHMARK_CAPTURE(BM_Cell, OnePlusOne, "1+1")->Unit(benchmark::kMicrosecond)->UseRealTime()->Iterations(1000)->Repetitions(5)->ReportAggregatesOnly();
BENCHMARK_CAPTURE(BM_Cell, PandasGroupBy, kPandas)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(50);
BENCHMARK_CAPTURE(BM_Cell, Chart, kChart)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(10);

}  // namespace

BENCHMARK_MAIN();
