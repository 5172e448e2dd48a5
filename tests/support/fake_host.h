// A Host without a jail, for tests of what stands before it: each piece of code has a scripted answer, everything asked for is kept for
// the test to look at. Tests only. Not thread-safe but for Interrupt().
#ifndef CELLBLOCK_TESTS_SUPPORT_FAKE_HOST_H_
#define CELLBLOCK_TESTS_SUPPORT_FAKE_HOST_H_

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cellblock/host.h"
#include "gtest/gtest.h"

namespace cellblock {

class FakeSession;

// Builds a record and hands out its events as a session would.
class Playback {
 public:
  explicit Playback(const ExecuteOptions& options) : options_(options) { record_.status = CallStatus::kOk; }

  Playback& Stdout(const std::string& text) { return Text(Event::Type::kStdout, text, &record_.stdout_text); }
  Playback& Stderr(const std::string& text) { return Text(Event::Type::kStderr, text, &record_.stderr_text); }
  Playback& Value(const std::string& text) { return Bundle(Event::Type::kResult, {{{"text/plain", text}}, "{}", true, ""}); }
  Playback& Display(const std::string& text) { return Bundle(Event::Type::kDisplay, {{{"text/plain", text}}, "{}", false, ""}); }
  Playback& Image(const std::string& bytes, const std::string& display_id = "", Event::Type type = Event::Type::kDisplay,
                  const std::string& mime = "image/png") {
    return Bundle(
        type,
        {{{"text/plain", "<Figure size 640x480 with 1 Axes>"}, {mime, bytes, false}}, "{}", type == Event::Type::kResult, display_id});
  }
  Playback& Bundle(Event::Type type, Result result) {
    record_.results.push_back(std::move(result));
    Event event;
    event.type = type;
    event.result = record_.results.size() - 1;
    return Emit(std::move(event));
  }
  Playback& Clear(bool wait) {
    Event event;
    event.type = Event::Type::kClear;
    event.wait = wait;
    return Emit(std::move(event));
  }
  Playback& Error(const std::string& name, const std::string& value, const std::string& hint = "") {
    record_.status = CallStatus::kError;
    record_.error = ErrorInfo{name, value, absl::StrCat("Traceback (most recent call last):\n", name, ": ", value), 1, 1, hint};
    Event event;
    event.type = Event::Type::kError;
    return Emit(std::move(event));
  }
  Playback& Status(CallStatus status, const std::string& reason = "") {
    record_.status = status;
    record_.reason = reason;
    return *this;
  }
  Playback& Exit(int code) {
    record_.status = CallStatus::kExited;
    record_.exit_code = code;
    return *this;
  }
  Playback& Gone() {
    record_.session_state = SessionState::kGone;
    return *this;
  }
  // `stored_at`: a file of the test's that stands for the collected copy.
  Playback& Artifact(const std::string& path, const std::string& stored_at, const std::string& sha256 = "") {
    struct stat found = {};
    stat(stored_at.c_str(), &found);
    cellblock::Artifact artifact;
    artifact.id = absl::StrCat("artifact-", record_.artifacts.size() + 1);
    artifact.path = path;
    artifact.size_bytes = found.st_size;
    artifact.mime = "application/octet-stream";
    artifact.sha256 = sha256.empty() ? absl::StrCat("digest of ", path) : sha256;
    artifact.stored_at = stored_at;
    record_.artifacts.push_back(std::move(artifact));
    return *this;
  }
  Record& record() { return record_; }
  operator absl::StatusOr<Record>() const { return record_; }  // NOLINT: a script ends with `return play;`

 private:
  Playback& Text(Event::Type type, const std::string& text, std::string* whole) {
    *whole += text;
    Event event;
    event.type = type;
    event.text = text;
    return Emit(std::move(event));
  }
  Playback& Emit(Event event) {
    record_.events.push_back(event);
    if (options_.on_event) options_.on_event(event, record_);
    return *this;
  }

  const ExecuteOptions& options_;
  Record record_;
};

using Script = std::function<absl::StatusOr<Record>(Playback&, FakeSession&)>;

// What the test sets up and what it finds afterwards.
struct FakeWorld {
  std::map<std::string, Script> scripts;  // by code; other code ends ok with no output
  absl::Status host_status, session_status, put_status, restart_status;

  struct Call {
    std::string code;
    ExecuteOptions options;
  };
  std::vector<Call> calls;
  std::map<std::string, std::string> files;  // the workspace
  std::set<std::string> folders;             // made without a file in them
  std::vector<HostOptions> hosts;
  std::vector<Policy> policies;
  std::vector<SessionOptions> sessions;
  std::string variables = "{}";
  HostUsage usage;
  std::atomic<int> interrupts{0};
  int restarts = 0;

  std::function<absl::StatusOr<std::unique_ptr<Host>>(HostOptions)> Factory();
};

class FakeSession : public Session {
 public:
  FakeSession(FakeWorld& world, Policy policy) : world_(world), policy_(std::move(policy)) {
    layers_.push_back({"seccomp", "enforced", "210 system calls"});
    layers_.push_back({"memory", "watched", ""});
  }

  const std::string& id() const override { return id_; }
  const Policy& policy() const override { return policy_; }
  const std::vector<Layer>& layers() const override { return layers_; }
  bool alive() const override { return alive_; }

  absl::StatusOr<Record> Execute(absl::string_view code, const ExecuteOptions& options) override {
    if (!alive_) return absl::FailedPreconditionError("the session is gone; Restart() gives a new interpreter");
    world_.calls.push_back({std::string(code), options});
    const auto script = world_.scripts.find(std::string(code));
    Playback play(options);
    absl::StatusOr<Record> record = script == world_.scripts.end() ? play : script->second(play, *this);
    if (!record.ok()) return record;
    record->id = options.id.empty() ? absl::StrCat("call-", world_.calls.size()) : options.id;
    record->session_id = id_;
    record->call = static_cast<int64_t>(world_.calls.size());
    record->started_at = absl::Now();
    if (record->session_state == SessionState::kGone) alive_ = false;
    return record;
  }
  void Interrupt() override { ++world_.interrupts; }
  absl::Status Restart() override {
    if (!world_.restart_status.ok()) return world_.restart_status;
    ++world_.restarts;
    alive_ = true;
    return absl::OkStatus();
  }
  absl::Status PutFile(int source_fd, absl::string_view path) override {
    if (!world_.put_status.ok()) return world_.put_status;
    std::string content;
    char chunk[4096];
    for (ssize_t count = read(source_fd, chunk, sizeof(chunk)); count > 0; count = read(source_fd, chunk, sizeof(chunk))) {
      content.append(chunk, static_cast<size_t>(count));
    }
    world_.files[std::string(path)] = content;
    return absl::OkStatus();
  }
  absl::Status MakeFolder(absl::string_view path) override {
    world_.folders.insert(std::string(path));
    return world_.put_status;
  }
  absl::Status GetFile(absl::string_view path, int target_fd) override {
    const auto file = world_.files.find(std::string(path));
    if (file == world_.files.end()) return absl::NotFoundError(absl::StrCat("no file ", path));
    const ssize_t written = write(target_fd, file->second.data(), file->second.size());
    return written == static_cast<ssize_t>(file->second.size()) ? absl::OkStatus() : absl::InternalError("short write");
  }
  absl::StatusOr<std::vector<FileEntry>> ListFiles() override {
    std::vector<FileEntry> entries;
    for (const auto& [path, content] : world_.files) entries.push_back({path, static_cast<int64_t>(content.size()), absl::UnixEpoch()});
    return entries;
  }
  absl::StatusOr<std::string> DescribeVariables() override { return world_.variables; }
  absl::StatusOr<std::string> PreviewFile(absl::string_view path, int64_t rows) override { return absl::StrCat("{\"path\":\"", path, "\",\"rows\":", rows, "}"); }
  absl::Status RemoveFile(absl::string_view path) override {
    return world_.files.erase(std::string(path)) == 1 ? absl::OkStatus() : absl::NotFoundError(absl::StrCat("no file ", path));
  }
  FakeWorld& world() { return world_; }

 private:
  FakeWorld& world_;
  const std::string id_ = "session-1";
  const Policy policy_;
  std::vector<Layer> layers_;
  bool alive_ = true;
};

class FakeHost : public Host {
 public:
  explicit FakeHost(FakeWorld& world) : world_(world) {}
  absl::StatusOr<std::unique_ptr<Session>> CreateSession(const Policy& policy, const SessionOptions& options) override {
    if (!world_.session_status.ok()) return world_.session_status;
    world_.policies.push_back(policy);
    world_.sessions.push_back(options);
    return std::unique_ptr<Session>(std::make_unique<FakeSession>(world_, policy));
  }
  HostUsage usage() override { return world_.usage; }

 private:
  FakeWorld& world_;
};

inline std::function<absl::StatusOr<std::unique_ptr<Host>>(HostOptions)> FakeWorld::Factory() {
  return [this](HostOptions options) -> absl::StatusOr<std::unique_ptr<Host>> {
    if (!host_status.ok()) return host_status;
    hosts.push_back(std::move(options));
    return std::unique_ptr<Host>(std::make_unique<FakeHost>(*this));
  };
}

}  // namespace cellblock

#endif  // CELLBLOCK_TESTS_SUPPORT_FAKE_HOST_H_
