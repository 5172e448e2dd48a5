// What tests over whole sessions share: one Host for the test process (its first zygote takes seconds), a fixture that makes sessions
// and runs cells, and matchers over records. Tests only. Runs as root and as an ordinary user; nothing here depends on which.
#ifndef CELLBLOCK_TESTS_SUPPORT_SESSION_FIXTURE_H_
#define CELLBLOCK_TESTS_SUPPORT_SESSION_FIXTURE_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cellblock/host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock {

// How much later than its limit and grace an answer may come: two loaded processors. A hang is far beyond it.
inline constexpr absl::Duration kSlack = absl::Seconds(6);

// Where the Python environment and the helper programs are: CELLBLOCK_PYTHON_ENV and CELLBLOCK_LIBEXEC, else as configured. With
// CELLBLOCK_TEST_POOL sessions come from a pool wherever they can, so that the same tests hold for those.
HostOptions TestHostOptions();
// For tests that count helper processes or descriptors: those of workers made ahead are there too.
bool SessionsComeFromAPool();
#define CELLBLOCK_SKIP_BESIDE_A_POOL() \
  if (SessionsComeFromAPool()) GTEST_SKIP() << "missing: a host without workers made ahead (CELLBLOCK_TEST_POOL)"
// The test process's own; made at first use, ended after the last test.
Host& TestHost();

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() { TestHost(); }  // before a test's own threads could be the first to ask for it
  // The session that Run uses, of the default policy unless Use was called before.
  Session& session();
  Session& Use(const Policy& policy, const SessionOptions& options = {});
  void End() { session_.reset(); }
  std::unique_ptr<Session> NewSession(const Policy& policy = {}, const SessionOptions& options = {});

  // Fails the test when the host could not do its work.
  Record Run(absl::string_view code, const ExecuteOptions& options = {}) { return RunIn(session(), code, options); }
  Record RunIn(Session& session, absl::string_view code, const ExecuteOptions& options = {});
  Record RunBash(absl::string_view script, ExecuteOptions options = {});
  // Uploads `content`.
  absl::Status Put(Session& session, absl::string_view path, absl::string_view content);
  absl::StatusOr<std::string> Get(Session& session, absl::string_view path);
  // The text of the cell's value; the test fails when the cell did not end well.
  std::string Value(absl::string_view code) { return ValueIn(session(), code); }
  std::string ValueIn(Session& session, absl::string_view code);

 private:
  std::unique_ptr<Session> session_;
};

ExecuteOptions WithTimeout(absl::Duration timeout);
// The error that ended the call; empty when there was none.
ErrorInfo ErrorOf(const Record& record);
// The cell's value as text, and any representation of the result `index`; empty when there is none.
std::string ValueText(const Record& record);
std::string MimeOf(const Record& record, size_t index, absl::string_view type);
size_t CountMime(const Record& record, absl::string_view type);
// The state of a layer: "enforced", "watched" or "off".
std::string LayerState(const Session& session, absl::string_view name);
inline bool HasCgroup(const Session& session) { return LayerState(session, "memory") == "enforced"; }
// Events as one text for comparisons, late text marked: "stdout:a\n|display|stderr:b\n|result".
std::string EventLine(const Record& record);
std::vector<std::string> PathsOf(const std::vector<Artifact>& artifacts);
std::vector<std::string> PathsOf(const std::vector<FileEntry>& entries);

// Processes below `root`, from the host's /proc, zombies left out.
std::vector<pid_t> DescendantsOf(pid_t root);
// Waits until `condition` holds, at most `limit`.
bool Eventually(const std::function<bool()>& condition, absl::Duration limit = absl::Seconds(10));
// A program outside the sandbox, with the test's own rights: its output and exit status.
struct OutsideEnd {
  int exit_code = -1;
  std::string output;
};
OutsideEnd RunOutside(const std::vector<std::string>& arguments);

void PrintTo(const Record& record, std::ostream* out);
void PrintTo(CallStatus status, std::ostream* out);
void PrintTo(SessionState state, std::ostream* out);

MATCHER_P2(Ended, status, state, "") { return arg.status == status && arg.session_state == state; }
MATCHER(EndedWell, "ended ok, the session kept") { return arg.status == CallStatus::kOk && arg.session_state == SessionState::kKept; }
MATCHER_P(EndedWithError, name, "") {
  return arg.status == CallStatus::kError && arg.session_state == SessionState::kKept && arg.error.has_value() && arg.error->name == name;
}
MATCHER_P(Hit, name, "") {
  for (const LimitHit& hit : arg.receipt.limits_hit) {
    if (hit.name == name && !hit.detail.empty()) return true;
  }
  return false;
}
MATCHER(HitNothing, "hit no limit") { return arg.receipt.limits_hit.empty(); }

}  // namespace cellblock

#endif  // CELLBLOCK_TESTS_SUPPORT_SESSION_FIXTURE_H_
