// See egress.h.
#include "supervise/egress.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "confine/confine.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/sockets.h"
#include "wire/messages.h"

namespace cellblock::supervise {
namespace {

constexpr uint32_t kIdInside = 1000;  // as an ordinary user, in the proxy's own user namespace
constexpr int kControlFd = 3;
constexpr int kAboveControl = 16;

// In a new user namespace, where it has every capability: keeps over the exec below what locking down takes (capabilities(7), ambient).
bool KeepCapabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  constexpr int kNeeded[] = {CAP_SETPCAP, CAP_SETUID, CAP_SETGID};
  for (int capability : kNeeded) data[0].permitted |= 1U << capability;
  data[0].effective = data[0].inheritable = data[0].permitted;
  if (syscall(SYS_capset, &header, data) != 0) return false;
  for (int capability : kNeeded) {
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) return false;
  }
  return true;
}

// In a child of a process that may have threads: only async-signal-safe calls.
[[noreturn]] void ExecEgress(const char* path, char* const* environment, int control, int go) {
  char byte;
  if (read(go, &byte, 1) != 1) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int moved = fcntl(control, F_DUPFD, kAboveControl);
  const int null = open("/dev/null", O_RDWR);
  if (moved < 0 || null < 0 || dup2(moved, kControlFd) < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0) _exit(1);
  syscall(SYS_close_range, kControlFd + 1, ~0U, 0);
  if (geteuid() != 0 && !KeepCapabilities()) _exit(1);
  char* const arguments[] = {const_cast<char*>("cellblock-egress"), nullptr};
  execve(path, arguments, environment);
  _exit(1);
}

// The supervisor's environment, for secrets that stand there, and short waits for name servers that do not answer (resolv.conf(5)).
std::vector<std::string> EnvironmentOfEgress() {
  std::vector<std::string> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const absl::string_view variable = *each;
    const bool is_left_out = absl::StartsWith(variable, "RES_OPTIONS=") || absl::StartsWith(variable, "LOCALDOMAIN=") || absl::StartsWith(variable, "HOSTALIASES=") || absl::StartsWith(variable, "LD_");
    if (!is_left_out) variables.emplace_back(*each);
  }
  variables.push_back("RES_OPTIONS=timeout:2 attempts:2");
  return variables;
}

absl::Status WriteMaps(pid_t pid) {
  const std::string proc = absl::StrCat("/proc/", pid);
  CELLBLOCK_RETURN_IF_ERROR(sys::WriteFile(proc + "/uid_map", absl::StrCat(kIdInside, " ", geteuid(), " 1\n")));
  CELLBLOCK_RETURN_IF_ERROR(sys::WriteFile(proc + "/setgroups", "deny"));
  return sys::WriteFile(proc + "/gid_map", absl::StrCat(kIdInside, " ", getegid(), " 1\n"));
}

confine::Spec SpecOf(const EgressOptions& options) {
  confine::Spec spec;
  spec.uid = spec.gid = options.user_id != 0 ? options.user_id : kIdInside;
  spec.allow_inet = true;
  spec.landlock = Requirement::kPreferred;
  // What resolving names and checking certificates reads. /run: where resolv.conf often leads.
  for (const char* path : {"/usr", "/lib", "/lib64", "/etc", "/run/systemd/resolve", "/run/resolvconf", "/proc/self"}) {
    if (access(path, R_OK) == 0) spec.read_only_paths.push_back(path);
  }
  std::array<char, PATH_MAX> resolver;  // wherever a link leads
  if (realpath("/etc/resolv.conf", resolver.data()) != nullptr && !absl::StartsWith(resolver.data(), "/etc/")) spec.read_only_paths.push_back(resolver.data());
  return spec;
}

// A value's file: readable by its owner alone, or, where systemd put it, by nobody outside its group.
absl::StatusOr<UniqueFd> OpenSecret(const NetworkSecret& secret) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(secret.source, absl::MaxSplits(':', 1));
  const bool is_credential = parts.first == "credential";
  std::string path = parts.second;
  const std::string what = absl::StrCat("network.secrets: ", secret.name, ": ");
  if (is_credential) {
    const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
    if (folder == nullptr) return absl::FailedPreconditionError(absl::StrCat(what, "there are no systemd credentials here ($CREDENTIALS_DIRECTORY is not set): LoadCredential= in the unit gives some"));
    path = absl::StrCat(folder, "/", parts.second);
  }
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return absl::FailedPreconditionError(absl::StrCat(what, std::string(sys::ErrnoStatus(absl::StrCat("open ", path)).message())));
  struct stat info;
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return absl::FailedPreconditionError(absl::StrCat(what, path, " is no regular file"));
  if (info.st_uid != 0 && info.st_uid != geteuid()) return absl::FailedPreconditionError(absl::StrCat(what, path, " belongs to another user, who can read it"));
  const mode_t others = is_credential ? S_IRWXO : S_IRWXG | S_IRWXO;
  if ((info.st_mode & others) != 0) return absl::FailedPreconditionError(absl::StrCat(what, path, " can be read by others: chmod 600 it"));
  return file;
}

absl::StatusOr<UniqueFd> OpenAuthorities(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return absl::FailedPreconditionError(absl::StrCat("authorities: ", std::string(sys::ErrnoStatus(absl::StrCat("open ", path)).message())));
  return file;
}

wire::EgressRule ToMessage(const NetworkRule& rule) {
  wire::EgressRule message;
  message.host = rule.host;
  for (int64_t port : rule.ports) message.ports.push_back(absl::StrCat(port));
  message.protocol = static_cast<uint64_t>(rule.protocol);
  message.methods = rule.methods;
  message.paths = rule.paths;
  message.addresses = rule.addresses;
  message.has_authorities = rule.authorities.empty() ? 0 : 1;
  return message;
}

absl::Status AddFiles(const Network& network, wire::OpenEgress& request, std::vector<UniqueFd>& files) {
  auto add = [&files](absl::StatusOr<UniqueFd> file) -> absl::Status {
    if (file.ok()) files.push_back(*std::move(file));
    return file.status();
  };
  for (const NetworkRule& rule : network.allow) {
    request.rules.push_back(wire::EncodeBody(ToMessage(rule)));
    if (!rule.authorities.empty()) CELLBLOCK_RETURN_IF_ERROR(add(OpenAuthorities(rule.authorities)));
  }
  if (!network.packages.authorities.empty()) CELLBLOCK_RETURN_IF_ERROR(add(OpenAuthorities(network.packages.authorities)));
  for (const NetworkSecret& secret : network.secrets) {
    wire::EgressSecret message = {secret.name, secret.host, static_cast<uint64_t>(secret.port), secret.header, secret.query, secret.format, ""};
    if (absl::StartsWith(secret.source, "env:")) {
      message.variable = secret.source.substr(4);
    } else {
      CELLBLOCK_RETURN_IF_ERROR(add(OpenSecret(secret)));
    }
    request.secrets.push_back(wire::EncodeBody(message));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<EgressProxy>> EgressProxy::Create(const EgressOptions& options) {
  if (access(options.path.c_str(), X_OK) != 0) return sys::ErrnoStatus(absl::StrCat("find the program ", options.path));
  std::shared_ptr<EgressProxy> egress(new EgressProxy());
  CELLBLOCK_ASSIGN_OR_RETURN(auto pair, sys::MakeSocketPair(SOCK_SEQPACKET));
  CELLBLOCK_ASSIGN_OR_RETURN(sys::PipePair go, sys::MakePipe());
  std::vector<std::string> variables = EnvironmentOfEgress();
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  const bool own_namespace = options.user_id == 0;
  CELLBLOCK_ASSIGN_OR_RETURN(sys::Cloned child, sys::CloneProcess(own_namespace ? CLONE_NEWUSER : 0));
  if (child.pid == 0) {
    close(go.write.Release());
    ExecEgress(options.path.c_str(), environment.data(), pair.second.get(), go.read.get());
  }
  egress->pid_ = child.pid;
  egress->pidfd_ = std::move(child.pidfd);
  pair.second.Reset();
  egress->socket_ = std::make_unique<HelperSocket>(std::move(pair.first));
  if (own_namespace) CELLBLOCK_RETURN_IF_ERROR(WriteMaps(child.pid));
  CELLBLOCK_RETURN_IF_ERROR(sys::WriteAll(go.write.get(), "g"));
  wire::StartEgress start;
  start.spec = confine::EncodeSpec(SpecOf(options));
  absl::Status locked = egress->socket_->Ask(wire::EncodeMessage(start), {options.seccomp_fd}, kHelperDeadline).status();
  if (!locked.ok()) return absl::FailedPreconditionError(absl::StrCat("the egress proxy could not be started: ", std::string(locked.message())));
  return egress;
}

EgressProxy::~EgressProxy() {
  socket_.reset();  // which ends it
  if (pid_ <= 0) return;
  (void)sys::SendSignal(pidfd_.get(), SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::StatusOr<std::string> EgressProxy::Ask(absl::string_view request, const std::vector<int>& descriptors) {
  CELLBLOCK_ASSIGN_OR_RETURN(sys::Message answer, socket_->Ask(request, descriptors, kHelperDeadline));
  CELLBLOCK_ASSIGN_OR_RETURN(wire::Reply reply, wire::DecodeMessage<wire::Reply>(answer.bytes));
  return std::move(reply.message);
}

absl::StatusOr<std::unique_ptr<EgressLink>> EgressProxy::Open(const Network& network) {
  wire::OpenEgress request;
  request.session = ++last_session_;
  std::vector<UniqueFd> files;
  CELLBLOCK_RETURN_IF_ERROR(AddFiles(network, request, files));
  request.package_url = network.packages.url;
  request.package_hosts = network.packages.hosts;
  request.package_addresses = network.packages.addresses;
  request.package_has_authorities = network.packages.authorities.empty() ? 0 : 1;
  request.call_bytes = static_cast<uint64_t>(network.call_bytes);
  request.rate_bytes = static_cast<uint64_t>(network.rate_bytes.value_or(0));
  request.connections = static_cast<uint64_t>(network.connections);
  request.requests = static_cast<uint64_t>(network.requests);
  request.idle_milliseconds = static_cast<uint64_t>(absl::ToInt64Milliseconds(network.idle));
  std::vector<int> descriptors;
  for (const UniqueFd& file : files) descriptors.push_back(file.get());
  std::unique_ptr<EgressLink> link(new EgressLink(shared_from_this(), request.session));
  CELLBLOCK_ASSIGN_OR_RETURN(std::string bytes, Ask(wire::EncodeMessage(request), descriptors));
  CELLBLOCK_ASSIGN_OR_RETURN(wire::EgressOpened opened, wire::DecodeMessage<wire::EgressOpened>(bytes));
  link->certificates_ = std::move(opened.certificates);
  link->ports_ = std::move(opened.ports);
  return link;
}

EgressLink::~EgressLink() { (void)egress_->Ask(wire::EncodeMessage(wire::CloseEgress{session_}), {}); }

absl::Status EgressLink::Serve(const std::vector<UniqueFd>& sockets) {
  CELLBLOCK_ASSIGN_OR_RETURN(auto pair, sys::MakeSocketPair(SOCK_SEQPACKET));
  CELLBLOCK_RETURN_IF_ERROR(sys::SetNonBlocking(pair.first.get(), true));
  wire::ServeEgress request;
  request.session = session_;
  request.ports = ports_;
  std::vector<int> descriptors = {pair.second.get()};
  for (const UniqueFd& socket : sockets) descriptors.push_back(socket.get());
  CELLBLOCK_RETURN_IF_ERROR(egress_->Ask(wire::EncodeMessage(request), descriptors).status());
  notes_ = std::move(pair.first);
  return absl::OkStatus();
}

absl::StatusOr<wire::EgressCount> EgressLink::Count() {
  CELLBLOCK_ASSIGN_OR_RETURN(std::string bytes, egress_->Ask(wire::EncodeMessage(wire::CountEgress{session_}), {}));
  return wire::DecodeMessage<wire::EgressCount>(bytes);
}

}  // namespace cellblock::supervise
