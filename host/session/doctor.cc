// InspectMachine(): tries each layer once, for real, and says how to turn on what is missing. Supervisor.
#include <sched.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cellblock/host.h"
#include "cellblock/policy.h"
#include "confine/confine.h"
#include "session/libexec.h"
#include "supervise/helpers.h"
#include "sys/cgroup.h"
#include "sys/files.h"
#include "sys/process.h"

namespace cellblock {
namespace {

constexpr char kUserNamespaceAdvice[] =
    "set user.max_user_namespaces above 0 (sysctl -w user.max_user_namespaces=10000); on Debian and its kin also kernel.unprivileged_userns_clone=1; on Ubuntu 24.04 "
    "kernel.apparmor_restrict_unprivileged_userns=0 or an AppArmor profile with `userns` for the program; in a container the run-time must allow clone with CLONE_NEWUSER";

LayerReport TryNamespace(const char* name, uint64_t flags, const char* advice) {
  absl::StatusOr<sys::Cloned> child = sys::CloneProcess(flags);
  if (child.ok() && child->pid == 0) _exit(0);
  if (child.ok()) waitpid(child->pid, nullptr, 0);
  return {name, child.ok(), child.ok() ? "works for this user" : std::string(child.status().message()), child.ok() ? "" : advice};
}

LayerReport TryNest() {
  absl::StatusOr<std::string> libexec = session::FindLibexec();
  if (!libexec.ok()) return {"nest", false, std::string(libexec.status().message()), "build or install the helper programs (tools/cellblock does)"};
  supervise::NestOptions options = {*libexec + "/cellblock-init", HostOptions().first_user_id, HostOptions().user_id_count};
  absl::Status status = absl::OkStatus();
  std::thread([&] { status = supervise::Nest::Create(options).status(); }).join();
  const bool ids_are_missing = absl::StrContains(status.message(), "ids");
  return {"nest", status.ok(), status.ok() ? "helper processes run in namespaces of their own, with a proc of their own" : std::string(status.message()),
          status.ok()       ? ""
          : ids_are_missing ? "rootless containers: more ids in /etc/subuid and /etc/subgid of the host's user; or start cellblock as another user than root"
                            : "the mounts of /proc must not be masked: in a container run it with an unmasked /proc (Docker: --security-opt systempaths=unconfined)"};
}

LayerReport TryCgroup() {
  absl::StatusOr<std::unique_ptr<sys::CgroupParent>> parent = sys::CgroupParent::Create(absl::StrCat("cellblock-doctor-", getpid()), [](const std::string&) {});
  if (parent.ok()) return {"cgroup", true, absl::StrCat("version ", (*parent)->version(), ": memory, processes and CPU are limited by the kernel"), ""};
  return {"cgroup", false, absl::StrCat(std::string(parent.status().message()), "; memory is watched from outside instead (policies that accept `isolation.memory: watched`)"),
          "run as root, or give this user a delegated cgroup: `systemd-run --user --scope -p Delegate=yes cellblock …`"};
}

LayerReport TryUserIds() {
  if (geteuid() == 0) return {"user_ids", true, absl::StrCat("one outside user id per session, from ", HostOptions().first_user_id), ""};
  return {"user_ids", false, absl::StrCat("sessions run under this user's own id (", geteuid(), ") outside"), "run as root, where every session gets an id of its own"};
}

// The kernel counts open files of the whole machine (proc_sys_fs(5), file-max), and nothing bounds a session's but its processes times
// what each may hold: with systemd the table has no end, elsewhere a tenth of memory, which few sessions fill.
LayerReport TryOpenFiles() {
  constexpr int64_t kSessions = 100;
  const int64_t of_one = Limits().processes * Limits().open_files;
  int64_t table = 0;
  if (absl::StatusOr<std::string> text = sys::ReadFile("/proc/sys/fs/file-max", 64); !text.ok() || !absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &table)) {
    return {"open_files", false, "fs.file-max cannot be read", "mount /proc"};
  }
  const std::string detail = absl::StrCat(table, " in the whole machine (fs.file-max); a session of the default limits can hold ", of_one);
  if (table / kSessions >= of_one) return {"open_files", true, detail, ""};
  return {"open_files", false, absl::StrCat(detail, ": ", table / of_one, " hostile ones leave none for others"),
          absl::StrCat("sysctl -w fs.file-max=", kSessions * of_one, ", or lower limits.processes or limits.open_files in the policy")};
}

}  // namespace

std::vector<LayerReport> InspectMachine() {
  std::vector<LayerReport> rows;
  rows.push_back(TryNamespace("user_namespace", CLONE_NEWUSER, kUserNamespaceAdvice));
  rows.push_back(TryNamespace("pid_namespace", CLONE_NEWUSER | CLONE_NEWPID, kUserNamespaceAdvice));
  rows.push_back(TryNamespace("mount_namespace", CLONE_NEWUSER | CLONE_NEWNS, kUserNamespaceAdvice));
  rows.push_back(TryNamespace("network_namespace", CLONE_NEWUSER | CLONE_NEWNET, "the kernel needs CONFIG_NET_NS, and user.max_net_namespaces above 0"));
  rows.push_back(TryNamespace("ipc_namespace", CLONE_NEWUSER | CLONE_NEWIPC, "the kernel needs CONFIG_IPC_NS, and user.max_ipc_namespaces above 0"));
  rows.push_back(TryNamespace("uts_namespace", CLONE_NEWUSER | CLONE_NEWUTS, "the kernel needs CONFIG_UTS_NS, and user.max_uts_namespaces above 0"));
  rows.push_back(TryNest());
  rows.push_back(TryUserIds());
  bool seccomp = confine::HasSeccompFilter();
  rows.push_back({"seccomp", seccomp, seccomp ? "system call filters work" : "no system call filters", seccomp ? "" : "the kernel needs CONFIG_SECCOMP_FILTER"});
  int abi = confine::LandlockAbi();
  rows.push_back({"landlock", abi > 0, abi > 0 ? absl::StrCat("ABI ", abi) : "not in this kernel, or not switched on", abi > 0 ? "" : "Linux 5.13 or newer, with landlock in the `lsm=` boot parameter"});
  rows.push_back(TryCgroup());
  rows.push_back(TryOpenFiles());
  return rows;
}

}  // namespace cellblock
