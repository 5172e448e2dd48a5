// What both benchmarks over the library share: a Host, a cell that must end well, and laps. Not a test.
#ifndef CELLBLOCK_TESTS_PERF_BENCH_SUPPORT_H_
#define CELLBLOCK_TESTS_PERF_BENCH_SUPPORT_H_

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cellblock/host.h"

namespace cellblock::perf {

inline constexpr char kPandas[] =
    "import pandas as pd, numpy as np\n"
    "pd.DataFrame({'a': np.arange(1000), 'c': list('abcd') * 250}).groupby('c').a.mean().sum()";
inline constexpr char kChart[] = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3]); plt.title('t'); plt.show()";

[[noreturn]] inline void Fail(const std::string& what) {
  std::cerr << what << "\n";
  std::exit(4);
}

// `ready`: workers made ahead at most.
inline std::unique_ptr<Host> MakeHost(int64_t ready) {
  HostOptions options;
  options.pool.ready_max = options.pool.ready_min = ready;
  options.pool.refills_per_second = 1000;
  options.sessions_max = 4096;
  const char* environment = std::getenv("CELLBLOCK_PYTHON_ENV");
  options.python_environment = environment != nullptr ? environment : CELLBLOCK_DEFAULT_PYTHON_ENV;
  options.libexec_directory = CELLBLOCK_LIBEXEC;
  auto made = Host::Create(options);
  if (!made.ok()) Fail(made.status().ToString());
  return *std::move(made);
}

inline std::unique_ptr<Session> MakeSession(Host& host, const Policy& policy = {}) {
  auto session = host.CreateSession(policy);
  if (!session.ok()) Fail(session.status().ToString());
  return *std::move(session);
}

inline Record RunWell(Session& session, const std::string& code, const ExecuteOptions& options = {}) {
  auto record = session.Execute(code, options);
  if (!record.ok()) Fail(record.status().ToString());
  if (record->status != CallStatus::kOk) Fail("a cell did not end well: " + code + ": " + record->reason + record->stderr_text);
  return *std::move(record);
}

class StopWatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Each lap by itself: a mean hides what most calls cost behind the machine's worst moments.
class Laps {
 public:
  void Add(double seconds) { seconds_.push_back(seconds); }
  void Add(const Laps& others) { seconds_.insert(seconds_.end(), others.seconds_.begin(), others.seconds_.end()); }
  size_t size() const { return seconds_.size(); }
  // `part` of the laps are no longer: 0 the shortest, 0.5 the median.
  double At(double part) {
    if (seconds_.empty()) return 0;
    std::sort(seconds_.begin(), seconds_.end());
    return seconds_[static_cast<size_t>(part * static_cast<double>(seconds_.size() - 1))];
  }

 private:
  std::vector<double> seconds_;
};

}  // namespace cellblock::perf

#endif  // CELLBLOCK_TESTS_PERF_BENCH_SUPPORT_H_
