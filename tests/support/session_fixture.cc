// See session_fixture.h.
#include "tests/support/session_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <ostream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/unique_fd.h"
#include "sys/files.h"

namespace cellblock {
namespace {

constexpr size_t kOutsideBytesMax = 1 << 20;
constexpr size_t kShownBytesMax = 2000;

std::unique_ptr<Host>& SharedHost() {
  static std::unique_ptr<Host> host;
  return host;
}

// Ends the Host while the process is still whole; a static's destructor could run after those that it uses.
class HostEnvironment : public ::testing::Environment {
 public:
  void TearDown() override { SharedHost().reset(); }
};
[[maybe_unused]] const auto* const kHostEnvironment = ::testing::AddGlobalTestEnvironment(new HostEnvironment());

std::string FromEnvironment(const char* name, const char* otherwise) {
  const char* value = getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

struct ProcessLine {
  pid_t parent = 0;
  char state = 'Z';
};

ProcessLine ReadProcess(const char* name) {
  ProcessLine line;
  std::string stat = sys::ReadFile(absl::StrCat("/proc/", name, "/stat"), 4096).value_or("");
  size_t after_name = stat.rfind(')');  // the name may hold anything
  if (after_name == std::string::npos || after_name + 4 >= stat.size()) return line;
  line.state = stat[after_name + 2];
  line.parent = atoi(stat.c_str() + after_name + 4);
  return line;
}

}  // namespace

bool SessionsComeFromAPool() { return getenv("CELLBLOCK_TEST_POOL") != nullptr; }

HostOptions TestHostOptions() {
  HostOptions options;
  options.python_environment = FromEnvironment("CELLBLOCK_PYTHON_ENV", CELLBLOCK_TEST_PYTHON_ENV);
  options.libexec_directory = FromEnvironment("CELLBLOCK_LIBEXEC", CELLBLOCK_TEST_LIBEXEC);
  if (SessionsComeFromAPool()) options.pool.ready_max = 4;
  return options;
}

Host& TestHost() {
  if (SharedHost() == nullptr) {
    absl::StatusOr<std::unique_ptr<Host>> host = Host::Create(TestHostOptions());
    if (!host.ok()) {
      fprintf(stderr, "no host, so no test can run: %s\n", host.status().ToString().c_str());
      exit(1);
    }
    SharedHost() = *std::move(host);
  }
  return *SharedHost();
}

Session& SessionTest::session() {
  if (session_ == nullptr) Use(Policy());
  return *session_;
}

Session& SessionTest::Use(const Policy& policy, const SessionOptions& options) {
  session_.reset();
  session_ = NewSession(policy, options);
  return *session_;
}

std::unique_ptr<Session> SessionTest::NewSession(const Policy& policy, const SessionOptions& options) {
  if (SessionsComeFromAPool() && options.attached.empty() && policy.network.secrets.empty()) {
    (void)TestHost().CreateSession(policy);  // the first of its kind, which the pool then makes more of
    Eventually([] { return TestHost().usage().pool.ready > 0; });
  }
  absl::StatusOr<std::unique_ptr<Session>> session = TestHost().CreateSession(policy, options);
  if (!session.ok()) {
    fprintf(stderr, "no session: %s\n", session.status().ToString().c_str());
    abort();  // the test's next line would use it
  }
  return *std::move(session);
}

Record SessionTest::RunIn(Session& session, absl::string_view code, const ExecuteOptions& options) {
  absl::StatusOr<Record> record = session.Execute(code, options);
  EXPECT_THAT(record, IsOk()) << code;
  return record.ok() ? *std::move(record) : Record();
}

Record SessionTest::RunBash(absl::string_view script, ExecuteOptions options) {
  options.language = Language::kBash;
  return RunIn(session(), script, options);
}

absl::Status SessionTest::Put(Session& session, absl::string_view path, absl::string_view content) {
  UniqueFd file(memfd_create("upload", MFD_CLOEXEC));
  EXPECT_THAT(sys::WriteAll(file.get(), content), IsOk());
  lseek(file.get(), 0, SEEK_SET);
  return session.PutFile(file.get(), path);
}

absl::StatusOr<std::string> SessionTest::Get(Session& session, absl::string_view path) {
  UniqueFd file(memfd_create("download", MFD_CLOEXEC));
  absl::Status status = session.GetFile(path, file.get());
  if (!status.ok()) return status;
  lseek(file.get(), 0, SEEK_SET);
  return sys::ReadAll(file.get(), size_t{64} << 20);
}

std::string SessionTest::ValueIn(Session& session, absl::string_view code) {
  Record record = RunIn(session, code);
  EXPECT_THAT(record, EndedWell()) << code;
  return ValueText(record);
}

ExecuteOptions WithTimeout(absl::Duration timeout) {
  ExecuteOptions options;
  options.timeout = timeout;
  return options;
}

ErrorInfo ErrorOf(const Record& record) { return record.error.value_or(ErrorInfo()); }

std::string MimeOf(const Record& record, size_t index, absl::string_view type) {
  if (index >= record.results.size()) return "";
  for (const MimeData& data : record.results[index].mime) {
    if (data.type == type) return data.data;
  }
  return "";
}

std::string ValueText(const Record& record) {
  for (size_t i = 0; i < record.results.size(); ++i) {
    if (record.results[i].is_value) return MimeOf(record, i, "text/plain");
  }
  return "";
}

size_t CountMime(const Record& record, absl::string_view type) {
  size_t count = 0;
  for (size_t i = 0; i < record.results.size(); ++i) count += !MimeOf(record, i, type).empty();
  return count;
}

std::string LayerState(const Session& session, absl::string_view name) {
  for (const Layer& layer : session.layers()) {
    if (layer.name == name) return layer.state;
  }
  return "";
}

std::string EventLine(const Record& record) {
  std::string line;
  for (const Event& event : record.events) {
    absl::string_view type = EventTypeName(event.type);
    absl::StrAppend(&line, line.empty() ? "" : "|", event.late ? "late " : "", std::string(type.data(), type.size()));
    if (!event.text.empty()) absl::StrAppend(&line, ":", event.text);
  }
  return line;
}

std::vector<std::string> PathsOf(const std::vector<Artifact>& artifacts) {
  std::vector<std::string> paths;
  for (const Artifact& artifact : artifacts) paths.push_back(artifact.path);
  return paths;
}

std::vector<std::string> PathsOf(const std::vector<FileEntry>& entries) {
  std::vector<std::string> paths;
  for (const FileEntry& entry : entries) paths.push_back(entry.path);
  return paths;
}

std::vector<pid_t> DescendantsOf(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir("/proc"), closedir);
  while (dirent* entry = listing == nullptr ? nullptr : readdir(listing.get())) {
    int pid;
    if (!absl::SimpleAtoi(entry->d_name, &pid)) continue;
    ProcessLine line = ReadProcess(entry->d_name);
    if (line.state != 'Z' && line.state != 'X') children.emplace(line.parent, pid);
  }
  std::vector<pid_t> found = {root};
  for (size_t i = 0; i < found.size(); ++i) {
    auto [first, last] = children.equal_range(found[i]);
    for (; first != last; ++first) found.push_back(first->second);
  }
  found.erase(found.begin());
  return found;
}

bool Eventually(const std::function<bool()>& condition, absl::Duration limit) {
  absl::Time until = absl::Now() + limit;
  while (!condition()) {
    if (absl::Now() > until) return false;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return true;
}

OutsideEnd RunOutside(const std::vector<std::string>& arguments) {
  OutsideEnd end;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return end;
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  pid_t pid = fork();  // the Host has threads: nothing but system calls until the exec
  if (pid == 0) {
    if (dup2(null, 0) < 0 || dup2(write_end.get(), 1) < 0 || dup2(write_end.get(), 2) < 0) _exit(127);
    execv(words[0], words.data());
    _exit(127);
  }
  close(null);
  write_end.Reset();
  end.output = sys::ReadAll(read_end.get(), kOutsideBytesMax).value_or("");
  int status = 0;
  if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  return end;
}

void PrintTo(CallStatus status, std::ostream* out) { *out << std::string(CallStatusName(status).data(), CallStatusName(status).size()); }
void PrintTo(SessionState state, std::ostream* out) { *out << std::string(SessionStateName(state).data(), SessionStateName(state).size()); }

void PrintTo(const Record& record, std::ostream* out) {
  PrintTo(record.status, out);
  *out << ", session ";
  PrintTo(record.session_state, out);
  *out << ", wall " << absl::FormatDuration(record.receipt.wall) << ", peak " << record.receipt.memory_peak_bytes << "\n  reason: " << record.reason;
  if (record.exit_code.has_value()) *out << "\n  exit code: " << *record.exit_code;
  if (record.signal.has_value()) *out << "\n  signal: " << *record.signal;
  *out << "\n  stdout: " << record.stdout_text.substr(0, kShownBytesMax) << "\n  stderr: " << record.stderr_text.substr(0, kShownBytesMax);
  if (record.error.has_value()) *out << "\n  error: " << record.error->traceback.substr(0, kShownBytesMax);
  for (size_t i = 0; i < record.results.size(); ++i) *out << "\n  result: " << MimeOf(record, i, "text/plain").substr(0, kShownBytesMax);
  for (const LimitHit& hit : record.receipt.limits_hit) *out << "\n  hit " << hit.name << ": " << hit.detail;
  for (const Denial& denial : record.denials) *out << "\n  denied " << denial.kind << ": " << denial.subject << " (" << denial.rule << ")";
  for (const Artifact& artifact : record.artifacts) *out << "\n  artifact " << artifact.path << " " << artifact.size_bytes;
}

}  // namespace cellblock
