// See serve_command.h.
#include "app/serve_command.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "app/console.h"
#include "app/exit_codes.h"
#include "app/locations.h"
#include "app/server_state.h"
#include "app/server_watching.h"
#include "app/service_manager.h"
#include "app/session_setup.h"
#include "app/signals.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "front/http/api.h"
#include "front/http/io_threads.h"
#include "front/http/server.h"
#include "render/json_writer.h"
#include "service/service.h"
#include "store/journal.h"
#include "sys/files.h"
#include "sys/memory.h"

#ifndef CELLBLOCK_VERSION
#define CELLBLOCK_VERSION "unknown"
#endif

namespace cellblock::app {
namespace {

constexpr absl::Duration kSweepEvery = absl::Milliseconds(500);
constexpr absl::Duration kTryAgainAfter = absl::Seconds(10);
constexpr absl::Duration kLastReplies = absl::Seconds(5);
constexpr int64_t kOtherRequestsMax = 256;  // beside calls: uploads, restarts and the like, which hold a thread too
constexpr size_t kSessionsBesideMax = 64;  // that the service does not count: the one that warms up, and those whose processes are just ending
constexpr size_t kManifestBytesMax = size_t{4} << 20;

// A Host for each Python environment that a policy names, started when the first session wants it.
class Hosts {
 public:
  Hosts(const ServeOptions& options, const Context& context, std::string state) : options_(options), context_(context), state_(std::move(state)) {}

  absl::StatusOr<std::shared_ptr<Host>> Find(const std::string& environment) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<Host>& host = hosts_[environment];
    if (host != nullptr && host->usage().alive) return host;
    host.reset();
    HostOptions host_options;
    CELLBLOCK_ASSIGN_OR_RETURN(host_options.python_environment, FindPythonEnvironment(context_.surroundings, options_.python_environment, environment));
    host_options.state_directory = absl::StrCat(state_, "/host/", environment);
    std::error_code error;
    std::filesystem::create_directories(host_options.state_directory, error);
    if (error) return absl::UnavailableError(absl::StrCat("make ", host_options.state_directory, ": ", error.message()));
    host_options.sessions_max = static_cast<size_t>(options_.sessions_max) + kSessionsBesideMax;
    host_options.pool.ready_max = options_.pool_max;
    host_options.pool.ready_min = std::min<int64_t>(1, options_.pool_max);
    CELLBLOCK_ASSIGN_OR_RETURN(host, context_.create_host(std::move(host_options)));
    return host;
  }

  // Lets go of those that make no session any more. True: there were some.
  bool DropLost() {
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    return lock.owns_lock() && std::erase_if(hosts_, [](const auto& entry) { return entry.second != nullptr && !entry.second->usage().alive; }) > 0;
  }

  // Of all of them together; as last seen, while a host is just being started: that takes a second.
  HostUsage usage() {
    std::lock_guard<std::mutex> seen(seen_mutex_);
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return seen_;
    seen_ = HostUsage();
    for (const auto& [environment, host] : hosts_) {
      if (host == nullptr) continue;
      const HostUsage usage = host->usage();
      seen_.zygotes += usage.zygotes;
      for (int64_t PoolUsage::*figure : {&PoolUsage::ready, &PoolUsage::wanted, &PoolUsage::memory_bytes, &PoolUsage::handed_out, &PoolUsage::built, &PoolUsage::made, &PoolUsage::discarded}) {
        seen_.pool.*figure += usage.pool.*figure;
      }
    }
    return seen_;
  }

 private:
  const ServeOptions& options_;
  const Context& context_;
  const std::string state_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Host>> hosts_;
  std::mutex seen_mutex_;  // taken before the other
  HostUsage seen_;
};

// The manifests of the environments that are there.
std::string EnvironmentsJson(const std::string& folder) {
  std::string text;
  render::JsonWriter json(&text);
  json.BeginArray();
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const absl::StatusOr<std::string> manifest = sys::ReadFile((entry->path() / "manifest.json").string(), kManifestBytesMax);
    if (!manifest.ok()) continue;
    json.BeginObject();
    json.Member("name", entry->path().filename().string());
    json.Key("manifest");
    json.JsonObject(*manifest);
    json.EndObject();
  }
  json.EndArray();
  return text;
}

// What signals ask for.
class Wishes {
 public:
  void Tell(int signal) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (signal == SIGHUP) {
      reload_ = true;
    } else if (++ends_ > 1) {
      hurry_ = true;
    }
    changed_.notify_all();
  }
  // Up to `limit`. True: the end is asked for.
  bool Wait(absl::Duration limit, bool* reload) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, absl::ToChronoMilliseconds(limit), [&] { return reload_ || ends_ > 0; });
    *reload = std::exchange(reload_, false);
    return ends_ > 0;
  }
  bool hurry() {
    std::lock_guard<std::mutex> lock(mutex_);
    return hurry_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reload_ = false, hurry_ = false;
  int ends_ = 0;
};

// The parts of a running server, in the order in which they build on each other; they end in the opposite order.
class Server {
 public:
  Server(const ServeOptions& options, const Context& context, Console& console) : options_(options), context_(context), console_(console), log_(console) {}

  std::optional<Failure> Start() {
    // First of all: whoever starts it may stop it at any time.
    if (absl::StatusOr<std::unique_ptr<SignalWatch>> watch = SignalWatch::Create([this](int signal) { OnSignal(signal); }); watch.ok()) signals_ = *std::move(watch);
    if (absl::Status status = PrepareAccess(); !status.ok()) return Failure{status, ExitCodeFor(status, kExitUsage)};
    if (absl::Status status = PrepareParts(); !status.ok()) return Failure{status, kExitHost};
    return std::nullopt;
  }

  void Announce() {
    std::string text = absl::StrCat("cellblock serves on ", http_->address(), "\n");
    if (own_token_.has_value()) absl::StrAppend(&text, "token: ", own_token_->secret, "   (kept in ", own_token_->path, ")\n");
    if (options_.no_token) absl::StrAppend(&text, "no token is asked for: whoever reaches this address may run code\n");
    console_.Write(text);
    if (options_.log_format == LogFormat::kJson) log_.Note(absl::StrCat("serves on ", http_->address()));
    if (const int64_t enough = SessionsForDescriptors(); enough < options_.sessions_max) {
      log_.Note(absl::StrCat("open files are limited: enough for about ", enough, " sessions of --sessions ", options_.sessions_max, "; raise `ulimit -Hn` or LimitNOFILE="));
    }
    const store::Journal::Recovered& found = journal_->recovered();
    if (found.sessions_died + found.executions_lost > 0) {
      log_.Note(absl::StrCat("the server before this one did not end in order: ", found.sessions_died, " sessions died with it, ", found.executions_lost, " calls are lost"));
    }
  }

  void Run() {
    threads_->Background([this] { WarmUp(); });
    NotifyServiceManager(absl::StrCat("READY=1\nSTATUS=serves on ", http_->address()));
    for (bool reload = false; !wishes_.Wait(kSweepEvery, &reload);) {
      if (reload) Reload();
      service_->Sweep(absl::Now());
      LookAfterHosts();
      NotifyServiceManager("WATCHDOG=1");
    }
    Stop();
  }

 private:
  // What this process may still open goes to sessions, but for its own files and its connections.
  int64_t SessionsForDescriptors() const {
    constexpr int64_t kOfASession = 20, kOfTheServer = 200;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return options_.sessions_max;
    return std::max<int64_t>(0, (static_cast<int64_t>(limit.rlim_max) - kOfTheServer) / (kOfASession + 1));  // and a connection
  }

  int64_t SpareMemory() const {
    constexpr int64_t kPart = 20;
    return options_.spare_memory_bytes >= 0 ? options_.spare_memory_bytes : sys::ReadMachineMemory().total_bytes / kPart;
  }

  absl::Status PrepareAccess() {
    CELLBLOCK_ASSIGN_OR_RETURN(state_, StateFolder(context_.surroundings, options_.state));
    CELLBLOCK_RETURN_IF_ERROR(PrepareStateFolder(state_));
    policies_ = std::make_unique<service::PolicyShelf>(options_.policies.empty() ? FindLocations(context_.surroundings).policy_directory : options_.policies);
    CELLBLOCK_RETURN_IF_ERROR(policies_->Read());
    if (options_.no_token) return absl::OkStatus();
    if (!options_.tokens.empty()) {
      CELLBLOCK_ASSIGN_OR_RETURN(tokens_, ReadTokens(options_.tokens));
      return absl::OkStatus();
    }
    CELLBLOCK_ASSIGN_OR_RETURN(own_token_, FindOrMakeToken(state_));
    service::Token token = Everything("default");
    CELLBLOCK_ASSIGN_OR_RETURN(token.sha256, service::HashOfSecret(own_token_->secret));
    CELLBLOCK_ASSIGN_OR_RETURN(tokens_, service::Tokens::Create({token}));
    return absl::OkStatus();
  }

  service::Token Everything(const std::string& name) const {
    service::Token token;
    token.name = name;
    token.sessions_max = options_.sessions_max;
    token.calls_max = options_.calls_max;
    token.shared_bytes_max = options_.kept_bytes_max;  // all that there is
    token.metrics = service::MetricsAccess::kYes;
    return token;
  }

  absl::Status PrepareParts() {
    store::JournalOptions journal;
    journal.folder = absl::StrCat(state_, "/journal");
    journal.content_bytes_max = options_.kept_bytes_max;
    journal.kept_for = options_.kept_for;
    CELLBLOCK_ASSIGN_OR_RETURN(journal_, store::Journal::Open(journal, absl::Now()));
    // The journal's lock says that no other server uses this folder: what a killed one left there is nobody's.
    const std::string incoming = absl::StrCat(state_, "/incoming");
    std::error_code ignored;
    std::filesystem::remove_all(absl::StrCat(state_, "/host"), ignored);
    std::filesystem::remove_all(incoming, ignored);
    if (mkdir(incoming.c_str(), 0700) != 0) return sys::ErrnoStatus(absl::StrCat("make ", incoming));
    CELLBLOCK_ASSIGN_OR_RETURN(watching_, ServerWatching::Create(options_, state_, CELLBLOCK_VERSION, [this] { return Look(); }));
    hosts_ = std::make_unique<Hosts>(options_, context_, state_);
    threads_ = std::make_unique<front::IoThreads>(options_.calls_max + kOtherRequestsMax);
    auto background = [this](std::function<void()> work) { threads_->Background(std::move(work)); };
    service::ServiceOptions service_options = {options_.sessions_max, options_.calls_max, SpareMemory(), incoming};
    service_ = std::make_unique<service::Service>(service_options, [this](const std::string& environment) { return hosts_->Find(environment); }, *policies_, *journal_, watching_->observers(),
                                                  background);
    front::ApiOptions api_options;
    api_options.version = CELLBLOCK_VERSION;
    api_options.environments_json = [folder = FindLocations(context_.surroundings).python_environments] { return EnvironmentsJson(folder); };
    api_options.background = background;
    api_options.ready = [this](std::string* why) { return IsReady(why); };
    api_options.metrics = [this] { return watching_->MetricsText(); };
    api_options.metrics_open = options_.metrics_open;
    api_ = std::make_unique<front::Api>(*service_, api_options);
    return Listen(incoming);
  }

  absl::Status Listen(const std::string& incoming) {
    front::HttpServerOptions http;
    http.address = options_.address;
    http.port = options_.port;
    http.unix_path = options_.unix_path;
    http.certificate_file = options_.certificate;
    http.key_file = options_.key;
    http.hosts = options_.hosts;
    http.origins = options_.origins;
    http.incoming_folder = incoming;
    http.incoming_bytes_max = options_.incoming_bytes_max;
    http.tokens = tokens_.has_value() ? &*tokens_ : nullptr;
    http.anonymous = Everything("anonymous");
    http.on_request = [this](const front::RequestFacts& facts) { watching_->RequestAnswered(facts); };
    CELLBLOCK_ASSIGN_OR_RETURN(http_, front::HttpServer::Listen(std::move(http), *threads_, *api_, [this](const std::string& id) { service_->ClientIsGone(id); }));
    listening_ = http_.get();
    return absl::OkStatus();
  }

  // For metrics, from any thread.
  observe::Moment Look() {
    observe::Moment now;
    now.load = service_->Look();
    now.sessions_max = options_.sessions_max;
    now.calls_max = options_.calls_max;
    const HostUsage hosts = hosts_->usage();
    now.zygotes = hosts.zygotes;
    now.pool = hosts.pool;
    if (const front::HttpServer* http = listening_; http != nullptr) {
      now.connections = static_cast<int64_t>(http->connections());
      now.connections_refused = static_cast<int64_t>(http->connections_refused());
    }
    now.content_bytes = journal_->content_bytes();
    now.content_bytes_max = options_.kept_bytes_max;
    for (const char* file : {"journal.sqlite", "journal.sqlite-wal"}) {
      std::error_code error;
      const auto bytes = std::filesystem::file_size(absl::StrCat(state_, "/journal/", file), error);
      if (!error) now.database_bytes += static_cast<int64_t>(bytes);
    }
    std::string why;
    now.ready = IsReady(&why) && !service_->stopping();
    return now;
  }

  // The first session of a server waits for its interpreter to import its packages; better now than when somebody waits for it.
  void WarmUp() {
    absl::Status status;
    if (absl::StatusOr<Policy> policy = policies_->Find("default"); policy.ok()) {
      const absl::StatusOr<std::shared_ptr<Host>> host = hosts_->Find(policy->python.environment);
      status = host.ok() ? (*host)->CreateSession(*policy).status() : host.status();
    }
    std::lock_guard<std::mutex> lock(ready_mutex_);
    warm_ = true;
    why_not_ready_ = status.ok() ? "" : std::string(status.message());
    try_again_at_ = status.ok() ? absl::InfiniteFuture() : absl::Now() + kTryAgainAfter;
    if (!status.ok()) log_.Problem(absl::StrCat("no session can be made: ", status.message()));
  }

  // Helper processes that were ended from outside, and a first session that could not be made, are tried again.
  void LookAfterHosts() {
    const bool lost = hosts_->DropLost();
    if (lost) log_.Problem("the process that makes jails was ended, and its sessions with it; it is started anew");
    {
      std::lock_guard<std::mutex> lock(ready_mutex_);
      if (!warm_ || (!lost && absl::Now() < try_again_at_)) return;
      warm_ = false;
    }
    threads_->Background([this] { WarmUp(); });
  }

  bool IsReady(std::string* why) {
    std::lock_guard<std::mutex> lock(ready_mutex_);
    *why = !warm_ ? "the first interpreter is being started" : !why_not_ready_.empty() ? why_not_ready_ : HasRoom() ? "" : "the disk of the state folder is full";
    return why->empty();
  }

  // Calls are noted before they are answered; a journal without room for a few takes none.
  bool HasRoom() const {
    constexpr uint64_t kEnoughBytes = uint64_t{16} << 20;
    struct statvfs info;
    return statvfs(state_.c_str(), &info) != 0 || uint64_t{info.f_bavail} * info.f_frsize >= kEnoughBytes;
  }

  void OnSignal(int signal) {
    wishes_.Tell(signal);
    if (wishes_.hurry() && context_.exit_now) context_.exit_now(ExitCodeOfSignal(signal));
  }

  void Reload() {
    NotifyServiceManager(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=", MonotonicMicroseconds()));
    if (absl::Status read = policies_->Read(); read.ok()) {
      log_.Note(absl::StrCat("policies were read again: ", policies_->all()->size()));
    } else {
      log_.Problem(absl::StrCat("policies stay as they were: ", read.message()));
    }
    NotifyServiceManager("READY=1");
  }

  void Stop() {
    NotifyServiceManager(absl::StrCat("STOPPING=1\nSTATUS=stopping; calls have ", absl::FormatDuration(options_.drain), " to end"));
    log_.Note(absl::StrCat("stopping; calls have ", absl::FormatDuration(options_.drain), " to end"));
    service_->Stop(options_.drain);
    http_->Drain(kLastReplies);
    threads_->Stop();
    log_.Note("stopped");
  }

  const ServeOptions& options_;
  const Context& context_;
  Console& console_;
  ServerLog log_;
  Wishes wishes_;
  std::string state_;
  std::optional<service::Tokens> tokens_;
  std::optional<OwnToken> own_token_;
  std::mutex ready_mutex_;  // of the next three
  bool warm_ = false;
  absl::Time try_again_at_ = absl::InfiniteFuture();
  std::string why_not_ready_;
  std::unique_ptr<service::PolicyShelf> policies_;
  std::unique_ptr<store::Journal> journal_;
  std::unique_ptr<ServerWatching> watching_;
  std::unique_ptr<Hosts> hosts_;
  std::unique_ptr<front::IoThreads> threads_;
  std::unique_ptr<service::Service> service_;
  std::unique_ptr<front::Api> api_;
  std::unique_ptr<front::HttpServer> http_;
  std::atomic<const front::HttpServer*> listening_ = nullptr;  // http_, for threads that answer while it is being set
  std::unique_ptr<SignalWatch> signals_;  // ends first: its thread calls this
};

}  // namespace

int ServeCommand(const ServeOptions& options, const Context& context) {
  if (options.log_format == LogFormat::kJson) {
    SetLogFormat(LogFormat::kJson);
    SetLogLevel(LogLevel::kInfo);
  }
  Console console(context.console);
  Server server(options, context, console);
  if (std::optional<Failure> failure = server.Start()) {
    ServerLog(console).Problem(failure->status.message());
    return failure->exit_code;
  }
  server.Announce();
  server.Run();
  return kExitOk;
}

}  // namespace cellblock::app
