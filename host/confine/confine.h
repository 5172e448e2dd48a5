// Locks the calling process for good: ids, rlimits, capabilities, no_new_privs, Landlock, proofs, seccomp, in the order of the
// table in steps.cc. Runs in a worker after its fork, and in cellblock-init's children (bash) before exec; single-threaded, after
// the process joined its jail's namespaces and with the jail's /proc mounted. Trusts its Spec, which the supervisor made; nothing
// of the guest has run yet. The filter is built elsewhere (seccomp_program.h): nothing here links libseccomp.
#ifndef CELLBLOCK_CONFINE_CONFINE_H_
#define CELLBLOCK_CONFINE_CONFINE_H_

#include <linux/filter.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cellblock/policy.h"

namespace cellblock::confine {

constexpr size_t kSpecBytesMax = 64 << 10;  // encoded
constexpr size_t kPathsMax = 64;            // of each list
constexpr size_t kPathBytesMax = 4096;
constexpr size_t kCpusMax = 1024;           // entries; each number lies in 0 – 1023

// What to lock, flat, so that it travels in one wire message (EncodeSpec/DecodeSpec).
struct Spec {
  uint32_t uid = 1000;              // inside the jail's user namespace
  uint32_t gid = 1000;
  // 0 keeps the inherited value; a value above the inherited hard limit becomes that limit (tighter, never looser).
  // RLIMIT_CORE and RLIMIT_MEMLOCK are always 0; RLIMIT_NPROC as real root does not count.
  uint64_t open_files = 0;          // RLIMIT_NOFILE
  uint64_t file_bytes = 0;          // RLIMIT_FSIZE
  uint64_t processes = 0;           // RLIMIT_NPROC
  uint64_t data_bytes = 0;          // RLIMIT_DATA, soft and hard
  uint64_t stack_bytes = 0;         // RLIMIT_STACK
  std::vector<int32_t> cpus;        // affinity; empty keeps
  // Landlock. Absolute paths, each must exist when the process locks itself; files and folders both will do; symbolic links are
  // followed. The root itself is refused in the first two: such a rule would leave Landlock on in name only.
  std::vector<std::string> read_only_paths;   // read, list and execute beneath
  std::vector<std::string> writable_paths;    // everything but device nodes beneath; ioctl on a device that is named itself
  std::vector<std::string> listable_paths;    // folders: only list names beneath ("/": so that os.listdir("/") works)
  // false: Landlock also refuses every TCP bind and connect, where the kernel can (ABI 4). Goes with SeccompOptions::allow_inet.
  bool allow_inet = false;
  Requirement landlock = Requirement::kPreferred;
  Requirement seccomp = Requirement::kRequired;
  Requirement capabilities = Requirement::kRequired;
  Requirement no_new_privileges = Requirement::kRequired;
};
// Ranges, counts and paths. kInvalidArgument names the field.
absl::Status ValidateSpec(const Spec& spec);
std::string EncodeSpec(const Spec& spec);
// Refuses unknown tags, truncation, over-long lists and whatever ValidateSpec refuses.
absl::StatusOr<Spec> DecodeSpec(absl::string_view bytes);

// Reads a program back from the memfd that SeccompProgram::ToMemFd made; refuses one that is unsealed, empty, odd-sized or over
// BPF_MAXINSNS. Leaves the descriptor's offset alone.
absl::StatusOr<std::vector<sock_filter>> ReadSeccompProgram(int fd);

// How a step went. `step` indexes the table in steps.cc; names by StepName().
struct StepFailure {
  int32_t step = -1;                // -1: none failed
  int32_t error = 0;                // errno
  int32_t detail = -1;              // which path (counted through the three lists), descriptor, resource or capability; -1: none
};
int StepCount();
const char* StepName(int step);
const char* StepReason(int step);

// Which layers are now on. Fixed size: written up a pipe as it is.
struct Report {
  StepFailure failure;
  int32_t landlock_abi = 0;         // the ABI whose rights are handled; 0: off
  uint8_t seccomp = 0;
  uint8_t capabilities_dropped = 0;
  uint8_t no_new_privileges = 0;
  uint8_t reserved = 0;
};
static_assert(sizeof(Report) == 20, "travels between processes as it is");

// What a process sees before it enters its jail, to prove afterwards that it has left it. Fixed size: carried through forks.
struct Outside {
  static constexpr int kNamespaces = 6;
  static constexpr int kRootBytes = 256;
  std::array<uint64_t, kNamespaces> namespaces = {};  // inodes; NamespaceName in jail_proof.h
  // Of the line of "/" in /proc/self/mountinfo; empty: not known, since the caller has a prepared root already.
  char root_device[kRootBytes] = {};
  char root[kRootBytes] = {};
};
// 0 or an errno. Allocates nothing.
int LookOutside(Outside* outside, bool with_root);

// Runs the table. Irreversible. On a failure the process must _exit at once: it is half locked. `filter` must outlive the call;
// it is not looked at when spec.seccomp is kOff. Keeps open descriptors as they are (the caller has closed what it must), except
// that it proves that none beyond `descriptors_max` (the highest allowed number) is open. Allocates nothing and takes no locks:
// fit for the child of a large process. A layer that is kPreferred and missing in the kernel is reported off; a layer that is
// there and fails (a path that does not exist) is always a failure. `outside`: the process must be in a jail, and proves it; nullptr
// (tests of single layers): it need not be.
Report EnterConfinement(const Spec& spec, const std::vector<sock_filter>& filter, int descriptors_max, const Outside* outside = nullptr);

// Lowers the rlimits of `spec` (its other fields are not looked at), and proves them: for a process that was locked down before all of its
// limits were known. 0 or an errno.
int LowerLimitsLater(const Spec& spec);

// One sentence for the log and the user; ok when nothing failed. For the reader of a Report, not after fork.
absl::Status ReportStatus(const Report& report, const Spec& spec);

// The running kernel's Landlock ABI (0: none), and whether seccomp filters work; for `cellblock doctor`.
int LandlockAbi();
bool HasSeccompFilter();

}  // namespace cellblock::confine

#endif  // CELLBLOCK_CONFINE_CONFINE_H_
