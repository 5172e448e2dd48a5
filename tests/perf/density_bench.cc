// Many sessions, long streams, stops: what library_bench's loops over one thing do not show. Prints JSON: name, figure, unit, and the
// spread of what was measured more than once (longest less shortest, by the median). Not a test.
//
// Usage: density_bench [SECONDS] [SESSIONS]     SECONDS: of each row that counts per second (10); SESSIONS: of the crowd (1000)
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sys/files.h"
#include "sys/memory.h"
#include "sys/proc_reader.h"
#include "tests/perf/bench_support.h"

namespace cellblock::perf {
namespace {

constexpr char kOne[] = "1+1";
constexpr char kSpin[] = "while True: pass";
constexpr double kMiB = 1 << 20;
constexpr int kRounds = 5;

class Table {
 public:
  void Row(const std::string& name, double figure, const std::string& unit, double spread = -1) {
    rows_.push_back(absl::StrFormat("{\"name\": \"%s\", \"figure\": %.9g, \"unit\": \"%s\"%s}", name, figure, unit, spread < 0 ? "" : absl::StrFormat(", \"spread\": %.3f", spread)));
    std::fprintf(stderr, "%-70s %14.6g %s\n", name.c_str(), figure, unit.c_str());
  }
  // The median of the rounds with their spread.
  void Rounds(const std::string& name, const std::string& unit, const std::function<double()>& round) {
    Laps laps;
    for (int i = 0; i < kRounds; ++i) laps.Add(round());
    Row(name, laps.At(0.5), unit, (laps.At(1) - laps.At(0)) / laps.At(0.5));
  }
  void Spread(const std::string& name, Laps& laps) {
    Row(name + ", median", laps.At(0.5), "s");
    Row(name + ", 99th of 100", laps.At(0.99), "s");
  }
  void Print() const {
    std::string text;
    for (const std::string& row : rows_) absl::StrAppend(&text, text.empty() ? "" : ",\n ", row);
    std::printf("[%s]\n", text.c_str());
  }

 private:
  std::vector<std::string> rows_;
};

// A thousand of the default's workspaces would promise more memory than there is.
Policy SmallPolicy() {
  Policy policy;
  policy.limits.workspace_bytes = policy.limits.tmp_bytes = policy.limits.shm_bytes = 16 << 20;
  return policy;
}

double Lap(const std::function<void()>& body) {
  const StopWatch watch;
  body();
  return watch.seconds();
}

double Call(Session& session) {
  return Lap([&] { RunWell(session, kOne); });
}

void ColdStart(Table& table) {
  table.Rounds("cold start: a host, its first session, 1+1", "s", [] {
    return Lap([] {
      std::unique_ptr<Host> host = MakeHost(0);
      RunWell(*MakeSession(*host), kOne);
    });
  });
}

void FirstResults(Host& host, Table& table) {
  for (const auto& [name, code] : {std::pair{"first pandas result of a new session, built", kPandas}, {"first chart of a new session, built", kChart}}) {
    table.Rounds(name, "s", [&host, code = code] {
      return Lap([&] { RunWell(*MakeSession(host), code); });
    });
  }
}

// What a value has that is no text; 16 MiB of it.
void Results(Host& host, Table& table) {
  std::unique_ptr<Session> session = MakeSession(host);
  RunWell(*session, "class Large:\n    data = bytes(range(256)) * 65536\n    def _repr_mimebundle_(self, **kwargs): return {'application/octet-stream': self.data}\nlarge = Large()");
  table.Rounds("a binary result of 16 MiB", "MiB/s", [&] { return 16 / Lap([&] { RunWell(*session, "large"); }); });
}

void Streams(Host& host, Table& table) {
  constexpr double kStreamed = 100 * kMiB;
  std::unique_ptr<Session> session = MakeSession(host);
  table.Rounds("100 MiB written to stdout, by lines of 100 bytes", "MiB/s", [&] {
    const double took = Lap([&] { RunWell(*session, "import sys\nline = 'x' * 99 + '\\n'\nfor _ in range(1048576): sys.stdout.write(line)"); });
    return kStreamed / kMiB / took;
  });
  table.Rounds("100 MiB written to stdout, by 64 KiB", "MiB/s", [&] {
    const double took = Lap([&] { RunWell(*session, "import os\nblock = b'x' * 65535 + b'\\n'\nfor _ in range(1600): os.write(1, block)"); });
    return kStreamed / kMiB / took;
  });
}

// Stops a call that runs, and says how long that took from the moment of asking.
double Stop(Session& session) {
  std::atomic<double> asked = 0;
  const StopWatch watch;
  ExecuteOptions options;
  std::thread other;
  options.on_event = [&](const Event&, const Record&) {
    if (other.joinable()) return;
    other = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      asked = watch.seconds();
      session.Interrupt();
    });
  };
  auto record = session.Execute(absl::StrCat("print('go', flush=True)\n", kSpin), options);
  const double ended = watch.seconds();
  other.join();
  if (!record.ok() || record->status != CallStatus::kInterrupted) Fail("a call was not interrupted");
  return ended - asked;
}

void Stops(Host& host, Table& table) {
  std::unique_ptr<Session> session = MakeSession(host);
  Laps interrupts, timeouts, kills, ends;
  for (int i = 0; i < 50; ++i) interrupts.Add(Stop(*session));
  ExecuteOptions options;
  options.timeout = absl::Milliseconds(100);
  for (int i = 0; i < 20; ++i) {
    timeouts.Add(Lap([&] { (void)session->Execute(kSpin, options); }) - 0.1);
    if (!session->alive()) Fail("a timeout has ended the session");
  }
  Policy hard;
  hard.limits.wall_grace = absl::Milliseconds(100);
  for (int i = 0; i < 10; ++i) {
    std::unique_ptr<Session> deaf = MakeSession(host, hard);
    kills.Add(Lap([&] { (void)deaf->Execute("sum(range(10**12))", options); }) - 0.2);
    ends.Add(Lap([&] { deaf.reset(); }));
  }
  table.Spread("interrupt of `while True: pass`, until the call has ended", interrupts);
  table.Spread("timeout overshoot, of what heeds the interrupt", timeouts);
  table.Spread("timeout overshoot beyond the grace, of what must be killed", kills);
  table.Spread("end of a session that was killed", ends);
}

// Until `seconds` are over, in `threads` threads: how often a second.
double Rate(int threads, double seconds, const std::function<void(const std::function<bool()>& go_on, std::atomic<int64_t>& done)>& body) {
  std::atomic<int64_t> done = 0;
  const StopWatch watch;
  const std::function<bool()> go_on = [&] { return watch.seconds() < seconds; };
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back([&] { body(go_on, done); });
  for (std::thread& thread : all) thread.join();
  return static_cast<double>(done) / watch.seconds();
}

void Rates(Host& host, Host& with_pool, double seconds, Table& table) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  for (auto [name, from] : {std::pair<const char*, Host*>{"built", &host}, {"with a pool", &with_pool}}) {
    table.Row(absl::StrCat("sessions made, called once and ended, on all cores, ", name), Rate(cores, seconds, [from = from](const auto& go_on, auto& done) {
                for (; go_on(); ++done) RunWell(*MakeSession(*from), kOne);
              }), "/s");
  }
  table.Row("calls on all cores, a session each", Rate(cores, seconds, [&host](const auto& go_on, auto& done) {
              std::unique_ptr<Session> session = MakeSession(host);
              for (; go_on(); ++done) RunWell(*session, kOne);
            }), "/s");
}

void Busy(Host& host, Table& table) {
  constexpr int kBusy = 64;
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<std::thread> threads;
  for (int i = 0; i < kBusy; ++i) sessions.push_back(MakeSession(host, SmallPolicy()));
  std::unique_ptr<Session> idle = MakeSession(host);
  for (auto& session : sessions) threads.emplace_back([&session] { (void)session->Execute(kSpin); });
  std::this_thread::sleep_for(std::chrono::seconds(1));
  Laps calls, made;
  for (int i = 0; i < 100; ++i) calls.Add(Call(*idle));
  for (int i = 0; i < 5; ++i) made.Add(Lap([&] { RunWell(*MakeSession(host), kOne); }));
  for (auto& session : sessions) session->Interrupt();
  for (std::thread& thread : threads) thread.join();
  table.Spread("1+1 beside 64 sessions that spin", calls);
  table.Row("new session with its first cell beside them, median", made.At(0.5), "s");
}

// The median of the interpreters that have come since; jails' inits are smaller.
double OfInterpreters(const std::vector<pid_t>& others, const std::function<double(const std::string& rollup)>& mebibytes) {
  Laps sizes;
  for (pid_t pid : sys::Descendants({getpid()})) {
    if (std::find(others.begin(), others.end(), pid) != others.end()) continue;
    const double size = mebibytes(sys::ReadFile(absl::StrCat("/proc/", pid, "/smaps_rollup"), 65536).value_or(""));
    if (size > 1) sizes.Add(size);
  }
  return sizes.At(0.5);
}

double MebibytesAfter(const std::string& rollup, const char* key) {
  const size_t at = rollup.find(key);
  return at == std::string::npos ? 0 : std::atof(rollup.c_str() + at + std::strlen(key)) / 1024;
}

double PrivateMiB(const std::vector<pid_t>& others) {
  return OfInterpreters(others, [](const std::string& rollup) { return MebibytesAfter(rollup, "Private_Clean:") + MebibytesAfter(rollup, "Private_Dirty:"); });
}

double ShareMiB(const std::vector<pid_t>& others) {
  return OfInterpreters(others, [](const std::string& rollup) { return MebibytesAfter(rollup, "\nPss:"); });
}

void Crowd(Host& host, size_t count, Table& table) {
  const std::vector<pid_t> others = sys::Descendants({getpid()});
  const int64_t before = sys::ReadMachineMemory().available_bytes;
  std::vector<std::unique_ptr<Session>> sessions;
  Laps first, last, calls;
  const StopWatch watch;
  while (sessions.size() < count) {
    Laps& laps = sessions.size() < count / 2 ? first : last;
    laps.Add(Lap([&] { RunWell(*sessions.emplace_back(MakeSession(host, SmallPolicy())), kOne); }));
  }
  table.Row(absl::StrCat(count, " sessions made, each with its first cell"), watch.seconds(), "s");
  table.Row("of these the second half against the first, median", last.At(0.5) / first.At(0.5), "times");
  const double held = static_cast<double>(before - sys::ReadMachineMemory().available_bytes) / kMiB;
  table.Row(absl::StrCat(count, " idle sessions, of the machine's memory, all in"), held, "MiB");
  table.Row("an idle session of these, all in", held / static_cast<double>(count), "MiB");
  table.Row("an idle session of these, private memory of its interpreter", PrivateMiB(others), "MiB");
  for (size_t i = 0; i < 1000; ++i) calls.Add(Call(*sessions[i * 7919 % count]));
  table.Spread("1+1 on any of them", calls);
  table.Row("all of them ended", Lap([&] { sessions.clear(); }), "s");
}

void Memory(Host& host, Table& table) {
  for (const auto& [name, code] : {std::pair{"a first cell", kOne}, {"a small pandas cell", kPandas}, {"a chart", kChart}}) {
    const std::vector<pid_t> others = sys::Descendants({getpid()});
    std::unique_ptr<Session> session = MakeSession(host);
    RunWell(*session, code);
    table.Row(absl::StrCat("private memory after ", name), PrivateMiB(others), "MiB");
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    table.Row(absl::StrCat("private memory after ", name, ", a second later"), PrivateMiB(others), "MiB");
    table.Row(absl::StrCat("its share of memory after ", name, " (PSS)"), ShareMiB(others), "MiB");
    table.Row(absl::StrCat("what its control group counts after ", name), static_cast<double>(session->memory().bytes) / kMiB, "MiB");
  }
}

// How a session's cost grows with what its template has imported.
void Environments(Table& table) {
  const std::pair<const char*, std::vector<std::string>> lists[] = {{"nothing", {}}, {"numpy", {"numpy"}}, {"numpy, pandas, matplotlib, IPython", Policy().python.preload}};
  for (const auto& [name, preload] : lists) {
    Policy policy;
    policy.python.preload = preload;
    std::unique_ptr<Host> host = MakeHost(0);
    (void)MakeSession(*host, policy);
    Laps laps;
    for (int i = 0; i < 30; ++i) laps.Add(Lap([&] { RunWell(*MakeSession(*host, policy), kOne); }));
    table.Row(absl::StrCat("new session with its first cell, preloaded: ", name), laps.At(0.5), "s");
  }
}

}  // namespace

int Main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  const auto sessions = static_cast<size_t>(argc > 2 ? std::atoll(argv[2]) : 1000);
  Table table;
  ColdStart(table);
  {
    const std::unique_ptr<Host> host = MakeHost(0), with_pool = MakeHost(16);
    for (Host* each : {host.get(), with_pool.get()}) (void)MakeSession(*each);  // whose first session waits for the template
    FirstResults(*host, table);
    Results(*host, table);
    Streams(*host, table);
    Stops(*host, table);
    Rates(*host, *with_pool, seconds, table);
    Busy(*host, table);
    Memory(*host, table);
  }
  {
    const std::unique_ptr<Host> host = MakeHost(0);
    (void)MakeSession(*host);
    Crowd(*host, sessions, table);
  }
  Environments(table);
  table.Print();
  return 0;
}

}  // namespace cellblock::perf

int main(int argc, char** argv) { return cellblock::perf::Main(argc, argv); }
