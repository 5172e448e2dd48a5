// A service over a real journal, and sessions without a jail: their calls end when the test lets them, their files are real. Tests only.
#ifndef CELLBLOCK_TESTS_UNIT_SERVICE_SERVICE_FIXTURE_H_
#define CELLBLOCK_TESTS_UNIT_SERVICE_SERVICE_FIXTURE_H_

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/errors.h"
#include "service/service.h"
#include "session/workspace.h"
#include "store/journal.h"
#include "sys/files.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/policy/temp_directory.h"

namespace cellblock::service {

inline constexpr absl::Duration kPatience = absl::Seconds(60);  // for a condition; a hang is far beyond it

// What the sessions of one host do and have done. Thread-safe.
class World {
 public:
  // Code that begins with "wait" runs until it is released or interrupted; other code ends at once.
  void Release(const std::string& code) {
    std::lock_guard<std::mutex> lock(mutex_);
    released_.insert(code);
    changed_.notify_all();
  }
  std::vector<std::string> ran() {
    std::lock_guard<std::mutex> lock(mutex_);
    return ran_;
  }
  int interrupts() {
    std::lock_guard<std::mutex> lock(mutex_);
    return interrupts_;
  }
  // Until `code` runs.
  void WaitUntilRuns(const std::string& code) {
    std::unique_lock<std::mutex> lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, absl::ToChronoSeconds(kPatience), [&] { return std::find(ran_.begin(), ran_.end(), code) != ran_.end(); })) << code;
  }
  bool NoteInterrupt() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++interrupts_;
    changed_.notify_all();
    return true;
  }
  // True: it was interrupted.
  bool Run(const std::string& code, const std::atomic<int>& interrupts) {
    std::unique_lock<std::mutex> lock(mutex_);
    ran_.push_back(code);
    changed_.notify_all();
    if (absl::StartsWith(code, "wait")) changed_.wait(lock, [&] { return interrupts > 0 || released_.contains(code); });
    return interrupts > 0;
  }

  absl::Status session_status;                  // of making one
  std::function<void()> before_start;           // a call has its turn, and takes no interrupt yet
  std::atomic<int> sessions = 0;                // alive
  std::atomic<bool> lost = false;               // their jails have ended
  Policy last_policy;
  UniqueFd workspace;                           // of all sessions

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> released_;
  std::vector<std::string> ran_;
  int interrupts_ = 0;
};

class WorldSession : public Session {
 public:
  WorldSession(World& world, Policy policy, std::string id) : world_(world), policy_(std::move(policy)), id_(std::move(id)) { ++world_.sessions; }
  ~WorldSession() override { --world_.sessions; }

  const std::string& id() const override { return id_; }
  const Policy& policy() const override { return policy_; }
  const std::vector<Layer>& layers() const override { return layers_; }
  bool alive() const override { return true; }
  bool lost() const override { return world_.lost; }
  absl::StatusOr<Record> Execute(absl::string_view code, const ExecuteOptions& options) override {
    if (absl::StartsWith(code, "refused")) return absl::InvalidArgumentError("no such code is run");
    if (world_.before_start) world_.before_start();
    interrupts_ = 0;
    if (options.on_started) options.on_started();
    Record record;
    if (absl::StartsWith(code, "wait and print")) Print(options, record);
    record.status = world_.Run(std::string(code), interrupts_) ? CallStatus::kInterrupted : CallStatus::kOk;
    record.call = ++calls_;
    record.started_at = absl::Now();
    return record;
  }
  void Interrupt() override {
    ++interrupts_;
    world_.NoteInterrupt();
  }
  absl::Status Restart() override { return absl::OkStatus(); }
  absl::Status PutFile(int source, absl::string_view path) override {
    CELLBLOCK_ASSIGN_OR_RETURN(session::ReceivedFile file, session::ReceiveFile(world_.workspace.get(), 0, source, path, policy_.limits.file_bytes));
    return session::PlaceFile(0, file);
  }
  absl::Status MakeFolder(absl::string_view path) override { return session::MakeFolder(world_.workspace.get(), 0, path); }
  absl::Status GetFile(absl::string_view path, int target) override {
    CELLBLOCK_ASSIGN_OR_RETURN(const UniqueFd file, session::OpenFile(world_.workspace.get(), path));
    return sys::CopyAll(file.get(), target, policy_.limits.workspace_bytes).status();
  }
  absl::StatusOr<std::vector<FileEntry>> ListFiles() override { return session::ListFiles(world_.workspace.get()); }
  absl::Status RemoveFile(absl::string_view path) override { return session::RemoveFile(world_.workspace.get(), 0, path); }
  absl::StatusOr<std::string> DescribeVariables() override { return "{}"; }
  absl::StatusOr<std::string> PreviewFile(absl::string_view, int64_t) override { return "{}"; }

 private:
  // Ten texts of a mebibyte each, and a short one.
  static void Print(const ExecuteOptions& options, Record& record) {
    for (int i = 0; i < 11; ++i) {
      Event event;
      event.type = Event::Type::kStdout;
      event.text = i == 10 ? "short" : std::string(1 << 20, 'x');
      record.events.push_back(event);
      if (options.on_event) options.on_event(event, record);
    }
  }

  World& world_;
  const Policy policy_;
  const std::string id_;
  const std::vector<Layer> layers_;
  std::atomic<int> interrupts_ = 0;             // of the call that runs
  int64_t calls_ = 0;
};

class WorldHost : public Host {
 public:
  explicit WorldHost(World& world) : world_(world) {}
  absl::StatusOr<std::unique_ptr<Session>> CreateSession(const Policy& policy, const SessionOptions& options) override {
    CELLBLOCK_RETURN_IF_ERROR(world_.session_status);
    world_.last_policy = policy;
    return std::unique_ptr<Session>(std::make_unique<WorldSession>(world_, policy, options.id));
  }

 private:
  World& world_;
};

// Threads that are joined at its end.
class Threads {
 public:
  ~Threads() { Join(); }
  void Run(std::function<void()> work) {
    std::lock_guard<std::mutex> lock(mutex_);
    threads_.emplace_back(std::move(work));
  }
  void Join() {
    while (true) {
      std::vector<std::thread> threads;
      {
        std::lock_guard<std::mutex> lock(mutex_);
        threads.swap(threads_);
      }
      if (threads.empty()) return;
      for (std::thread& thread : threads) thread.join();
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() : shelf_(folder_.PathOf("policies")), host_(std::make_shared<WorldHost>(world_)) {
    folder_.Write("policies/default.yaml", "session: {queue: 1, idle: 10min, life: 1h}\n");
    folder_.Write("policies/other.yaml", "session: {queue: 8}\n");
    EXPECT_THAT(shelf_.Read(), IsOk());
    std::filesystem::create_directory(folder_.PathOf("workspace"));
    world_.workspace = *sys::Open(folder_.PathOf("workspace"), O_RDONLY | O_DIRECTORY);
    anna_.name = "anna";
    ben_.name = "ben";
  }
  ~ServiceTest() override {
    if (service_ != nullptr) service_->Stop(absl::ZeroDuration());  // what still waits is interrupted
    calls_.Join();
    background_.Join();
  }

  // Made at first use, with options_ as they are then.
  Service& service() {
    if (service_ != nullptr) return *service_;
    store::JournalOptions journal;
    journal.folder = folder_.PathOf("journal");
    journal_ = *store::Journal::Open(journal, absl::Now());
    service_ = std::make_unique<Service>(options_, [this](const std::string&) { return host_; }, shelf_, *journal_, std::vector<Observer*>{},
                                         [this](std::function<void()> work) { background_.Run(std::move(work)); });
    return *service_;
  }
  static Request By(const Token& token, const std::string& key = "", const std::string& content = "") {
    Request request;
    request.token = &token;
    request.idempotency_key = key;
    request.content_sha256 = content;
    return request;
  }
  std::string NewSessionOf(const Token& token, const NewSession& wanted = {}) {
    absl::StatusOr<SessionInfo> made = service().CreateSession(By(token), wanted);
    EXPECT_THAT(made, IsOk());
    return made.ok() ? made->id : "";
  }
  absl::StatusOr<CallAnswer> Execute(const Request& request, const std::string& session, const std::string& code) {
    NewCall call;
    call.code = code;
    return service().Execute(request, session, call);
  }
  // On a thread of its own; `answer` is set before Join().
  void Begin(const Request& request, const std::string& session, const std::string& code, absl::StatusOr<CallAnswer>* answer = nullptr) {
    service();
    calls_.Run([this, request, session, code, answer] {
      absl::StatusOr<CallAnswer> got = Execute(request, session, code);
      if (answer != nullptr) *answer = std::move(got);
    });
  }
  absl::StatusOr<std::string> Detach(const Request& request, const std::string& session, const std::string& code) {
    NewCall call;
    call.code = code;
    return service().StartExecution(request, session, call);
  }
  static bool Eventually(const std::function<bool()>& condition) {
    for (const absl::Time end = absl::Now() + kPatience; !condition();) {
      if (absl::Now() > end) return false;
      absl::SleepFor(absl::Milliseconds(2));
    }
    return true;
  }
  // Until so many wait on the session.
  bool Waiting(const Token& token, const std::string& session, int64_t count) {
    return Eventually([&] { return service().GetSession(By(token), session)->waiting == count; });
  }
  bool Ended(const Token& token, const std::string& session) {
    return Eventually([&] { return !service().GetSession(By(token), session).ok() && service().GetSession(By(token), session).status().code() != absl::StatusCode::kUnavailable; });
  }

  policy::TempDirectory folder_;
  World world_;
  Token anna_, ben_;
  ServiceOptions options_;
  PolicyShelf shelf_;
  const std::shared_ptr<Host> host_;
  Threads calls_, background_;
  std::unique_ptr<store::Journal> journal_;
  std::unique_ptr<Service> service_;
};

MATCHER_P(HasCode, code, "") {
  *result_listener << ToStatus(arg).ToString();
  return !ToStatus(arg).ok() && CodeOf(ToStatus(arg)) == code;
}
MATCHER_P(MayBeTriedAfter, duration, "") { return RetryAfterOf(ToStatus(arg)) == std::optional<absl::Duration>(duration); }

}  // namespace cellblock::service

#endif  // CELLBLOCK_TESTS_UNIT_SERVICE_SERVICE_FIXTURE_H_
