// See seccomp_program.h. The one file that talks to libseccomp.
#include "confine/seccomp_program.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "confine/seccomp_groups.h"

namespace cellblock::confine {
namespace {

constexpr unsigned kMemFdNoExecSeal = 0x8;  // MFD_NOEXEC_SEAL, Linux 6.3: without it newer kernels complain in their log
constexpr int kBinaryTree = 2;              // SCMP_FLTATR_CTL_OPTIMIZE: searched in logarithmic time

struct ReleaseFilter {
  void operator()(void* filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, ReleaseFilter>;

// libseccomp returns negative errno values.
absl::Status Check(int result, absl::string_view what) {
  if (result >= 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("libseccomp: ", what, ": error ", -result));
}

uint32_t Action(int error) { return error == 0 ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(static_cast<uint32_t>(error)); }

absl::Status AddGroup(scmp_filter_ctx filter, const CallGroup& group) {
  for (const char* call : group.calls) {
    const int number = seccomp_syscall_resolve_name(call);
    if (number == __NR_SCMP_ERROR) {
      // A denied call that an older libseccomp has not heard of falls to the default, which denies it too.
      if (group.error != 0) continue;
      return absl::InternalError(absl::StrCat("libseccomp does not know \"", call, "\" of group ", group.name));
    }
    if (number < 0 || group.error == ENOSYS) continue;  // not on this architecture (arm64 has no open); or the default answer
    CELLBLOCK_RETURN_IF_ERROR(Check(seccomp_rule_add_exact_array(filter, Action(group.error), number, 0, nullptr), call));
  }
  return absl::OkStatus();
}

absl::Status AddArgumentRule(scmp_filter_ctx filter, const ArgumentRule& rule) {
  const int number = seccomp_syscall_resolve_name(rule.call);
  if (number == __NR_SCMP_ERROR) return absl::InternalError(absl::StrCat("libseccomp does not know \"", rule.call, "\""));
  if (number < 0) return absl::OkStatus();
  std::vector<scmp_arg_cmp> comparisons;
  for (const Condition& c : rule.conditions) {
    comparisons.push_back({.arg = c.argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = c.mask, .datum_b = c.value});
  }
  return Check(seccomp_rule_add_exact_array(filter, Action(rule.error), number, static_cast<unsigned>(comparisons.size()), comparisons.data()),
               rule.call);
}

absl::Status AddExtra(scmp_filter_ctx filter, const SeccompOptions& options) {
  if (options.extra_syscalls.size() > kExtraSyscallsMax) {
    return absl::InvalidArgumentError(absl::StrCat("extra_syscalls: ", options.extra_syscalls.size(), " names; at most ", kExtraSyscallsMax));
  }
  std::set<std::string> base;
  for (const CallGroup& group : AllowedGroups()) base.insert(group.calls.begin(), group.calls.end());
  const CallGroup& exec = ExecGroup();
  for (const std::string& name : options.extra_syscalls) {
    const std::string shown = absl::CHexEscape(name.substr(0, 64));
    if (const char* reason = RefusalReason(name.c_str()); reason != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("extra_syscalls: \"", shown, "\" cannot be allowed: ", reason));
    }
    bool is_exec = false;
    for (const char* call : exec.calls) is_exec |= name == call;
    if (is_exec && !options.allow_exec) {
      return absl::InvalidArgumentError(absl::StrCat("extra_syscalls: \"", shown, "\" contradicts a policy that forbids subprocesses"));
    }
    const int number = seccomp_syscall_resolve_name(name.c_str());
    if (number < 0 || name.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("extra_syscalls: \"", shown, "\" is not a system call of this machine that libseccomp knows"));
    }
    if (is_exec || !base.insert(name).second) continue;  // allowed already
    CELLBLOCK_RETURN_IF_ERROR(Check(seccomp_rule_add_exact_array(filter, SCMP_ACT_ALLOW, number, 0, nullptr), name));
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> MemFd(const char* name) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  UniqueFd fd(memfd_create(name, kFlags | kMemFdNoExecSeal));
  if (!fd.valid() && errno == EINVAL) fd = UniqueFd(memfd_create(name, kFlags));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("memfd_create ", name));
  return fd;
}

absl::StatusOr<std::vector<sock_filter>> Export(scmp_filter_ctx filter) {
  UniqueFd fd;
  CELLBLOCK_ASSIGN_OR_RETURN(fd, MemFd("cellblock-seccomp-export"));
  CELLBLOCK_RETURN_IF_ERROR(Check(seccomp_export_bpf(filter, fd.get()), "export"));
  struct stat file;
  if (fstat(fd.get(), &file) != 0) return absl::ErrnoToStatus(errno, "stat the exported filter");
  const size_t count = static_cast<size_t>(file.st_size) / sizeof(sock_filter);
  if (count == 0 || count > BPF_MAXINSNS) {
    return absl::ResourceExhaustedError(absl::StrCat("the seccomp filter has ", count, " instructions; the kernel takes 1 to ", BPF_MAXINSNS));
  }
  std::vector<sock_filter> instructions(count);
  const ssize_t bytes = pread(fd.get(), instructions.data(), count * sizeof(sock_filter), 0);
  if (bytes != static_cast<ssize_t>(count * sizeof(sock_filter))) return absl::ErrnoToStatus(errno, "read the exported filter");
  return instructions;
}

}  // namespace

absl::StatusOr<SeccompProgram> SeccompProgram::Build(const SeccompOptions& options) {
  // ENOSYS, not EPERM: new C libraries try a new call first and fall back on ENOSYS only.
  Filter filter(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)));
  if (filter == nullptr) return absl::InternalError("libseccomp: seccomp_init failed");
  scmp_filter_ctx context = filter.get();
  // A call through another architecture's door (int 0x80, x32) means other numbers: no library does it by accident.
  CELLBLOCK_RETURN_IF_ERROR(Check(seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "bad architecture"));
  CELLBLOCK_RETURN_IF_ERROR(Check(seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, kBinaryTree), "binary tree"));
  for (const CallGroup& group : AllowedGroups()) CELLBLOCK_RETURN_IF_ERROR(AddGroup(context, group));
  for (const CallGroup& group : DeniedGroups()) CELLBLOCK_RETURN_IF_ERROR(AddGroup(context, group));
  CallGroup exec = ExecGroup();
  if (!options.allow_exec) exec.error = EPERM;
  CELLBLOCK_RETURN_IF_ERROR(AddGroup(context, exec));
  for (const ArgumentRule& rule : ArgumentRules(options)) CELLBLOCK_RETURN_IF_ERROR(AddArgumentRule(context, rule));
  CELLBLOCK_RETURN_IF_ERROR(AddExtra(context, options));
  std::vector<sock_filter> instructions;
  CELLBLOCK_ASSIGN_OR_RETURN(instructions, Export(context));
  return SeccompProgram(std::move(instructions));
}

absl::StatusOr<UniqueFd> SeccompProgram::ToMemFd() const {
  UniqueFd fd;
  CELLBLOCK_ASSIGN_OR_RETURN(fd, MemFd("cellblock-seccomp"));
  const size_t size = instructions_.size() * sizeof(sock_filter);
  const ssize_t written = pwrite(fd.get(), instructions_.data(), size, 0);
  if (written != static_cast<ssize_t>(size)) return absl::ErrnoToStatus(written < 0 ? errno : EIO, "write the seccomp program");
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    return absl::ErrnoToStatus(errno, "seal the seccomp program");
  }
  return fd;
}

}  // namespace cellblock::confine
