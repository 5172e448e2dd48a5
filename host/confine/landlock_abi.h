// Landlock's constants and structures for ABI 1 to 7: those of Linux 6.15, so that a build on 6.1 headers knows all of them. Every
// process that locks itself; the one place where they stand. The values are kernel ABI and never change.
#ifndef CELLBLOCK_CONFINE_LANDLOCK_ABI_H_
#define CELLBLOCK_CONFINE_LANDLOCK_ABI_H_

#include <cstddef>
#include <cstdint>

namespace cellblock::confine::landlock_abi {

// The same numbers on every architecture that Linux has (they came after the tables were unified).
constexpr long kCreateRulesetCall = 444;
constexpr long kAddRuleCall = 445;
constexpr long kRestrictSelfCall = 446;

constexpr uint32_t kCreateRulesetVersion = 1U << 0;
constexpr int kRulePathBeneath = 1;

// Not logged: a guest that is refused in a loop must not fill the host's audit log (ABI 7).
constexpr uint32_t kRestrictSelfLogSameExecOff = 1U << 0;

// File rights. ABI 1 (Linux 5.13) has the first thirteen.
constexpr uint64_t kFsExecute = 1ULL << 0;
constexpr uint64_t kFsWriteFile = 1ULL << 1;
constexpr uint64_t kFsReadFile = 1ULL << 2;
constexpr uint64_t kFsReadDir = 1ULL << 3;
constexpr uint64_t kFsRemoveDir = 1ULL << 4;
constexpr uint64_t kFsRemoveFile = 1ULL << 5;
constexpr uint64_t kFsMakeChar = 1ULL << 6;
constexpr uint64_t kFsMakeDir = 1ULL << 7;
constexpr uint64_t kFsMakeRegular = 1ULL << 8;
constexpr uint64_t kFsMakeSocket = 1ULL << 9;
constexpr uint64_t kFsMakeFifo = 1ULL << 10;
constexpr uint64_t kFsMakeBlock = 1ULL << 11;
constexpr uint64_t kFsMakeSymlink = 1ULL << 12;
constexpr uint64_t kFsRefer = 1ULL << 13;     // ABI 2 (5.19)
constexpr uint64_t kFsTruncate = 1ULL << 14;  // ABI 3 (6.2)
constexpr uint64_t kFsIoctlDevice = 1ULL << 15;  // ABI 5 (6.10)

constexpr uint64_t kNetBindTcp = 1ULL << 0;     // ABI 4 (6.7)
constexpr uint64_t kNetConnectTcp = 1ULL << 1;  // ABI 4

constexpr uint64_t kScopeAbstractUnixSocket = 1ULL << 0;  // ABI 6 (6.12)
constexpr uint64_t kScopeSignal = 1ULL << 1;              // ABI 6

constexpr int kAbiKnownMax = 7;

struct RulesetAttr {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};

struct PathBeneathAttr {
  uint64_t allowed_access;
  int32_t parent_fd;
} __attribute__((packed));
static_assert(sizeof(PathBeneathAttr) == 12, "packed in the kernel's header as well");

}  // namespace cellblock::confine::landlock_abi

#endif  // CELLBLOCK_CONFINE_LANDLOCK_ABI_H_
