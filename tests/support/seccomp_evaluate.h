// Runs a seccomp filter in user space, so that a test can ask it about every system call and argument without making one. Knows
// exactly the classic BPF that seccomp_check_filter() in the kernel accepts, and refuses the rest. Tests only.
#ifndef CELLBLOCK_TESTS_SUPPORT_SECCOMP_EVALUATE_H_
#define CELLBLOCK_TESTS_SUPPORT_SECCOMP_EVALUATE_H_

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace cellblock {

#if defined(__x86_64__)
constexpr uint32_t kNativeAuditArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kNativeAuditArch = AUDIT_ARCH_AARCH64;
#endif

class SeccompEvaluator {
 public:
  explicit SeccompEvaluator(const std::vector<sock_filter>& program) : program_(program) {}

  // The filter's answer (SECCOMP_RET_…) to one call, or what makes the program one that the kernel would refuse.
  absl::StatusOr<uint32_t> Run(const seccomp_data& data) const {
    State state;
    for (size_t at = 0; at < program_.size(); ++at) {
      const sock_filter& op = program_[at];
      if (BPF_CLASS(op.code) == BPF_RET) return BPF_RVAL(op.code) == BPF_A ? state.a : op.k;
      absl::StatusOr<size_t> skip = BPF_CLASS(op.code) == BPF_JMP ? Jump(op, state) : Step(op, data, &state);
      if (!skip.ok()) return absl::InternalError(absl::StrCat("instruction ", at, ": ", skip.status().message()));
      at += *skip;
    }
    return absl::InternalError("the program runs past its end");
  }

 private:
  struct State {
    uint32_t a = 0, x = 0;
    uint32_t memory[BPF_MEMWORDS] = {};
  };

  static absl::StatusOr<size_t> Jump(const sock_filter& op, const State& state) {
    const uint32_t with = BPF_SRC(op.code) == BPF_X ? state.x : op.k;
    switch (BPF_OP(op.code)) {
      case BPF_JA:
        return op.k;
      case BPF_JEQ:
        return state.a == with ? op.jt : op.jf;
      case BPF_JGT:
        return state.a > with ? op.jt : op.jf;
      case BPF_JGE:
        return state.a >= with ? op.jt : op.jf;
      case BPF_JSET:
        return (state.a & with) != 0 ? op.jt : op.jf;
    }
    return absl::InternalError(absl::StrCat("jump ", op.code));
  }

  // Everything but jumps and returns; no instruction is skipped after it.
  static absl::StatusOr<size_t> Step(const sock_filter& op, const seccomp_data& data, State* state) {
    switch (op.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (op.k % 4 != 0 || op.k >= sizeof(data)) return absl::InternalError(absl::StrCat("load at ", op.k));
        std::memcpy(&state->a, reinterpret_cast<const char*>(&data) + op.k, sizeof(state->a));
        return 0;
      case BPF_LD | BPF_W | BPF_LEN:
        state->a = sizeof(data);
        return 0;
      case BPF_LDX | BPF_W | BPF_LEN:
        state->x = sizeof(data);
        return 0;
      case BPF_LD | BPF_IMM:
        state->a = op.k;
        return 0;
      case BPF_LDX | BPF_IMM:
        state->x = op.k;
        return 0;
      case BPF_MISC | BPF_TAX:
        state->x = state->a;
        return 0;
      case BPF_MISC | BPF_TXA:
        state->a = state->x;
        return 0;
      case BPF_ALU | BPF_NEG:
        state->a = -state->a;
        return 0;
      case BPF_LD | BPF_MEM:
      case BPF_LDX | BPF_MEM:
      case BPF_ST:
      case BPF_STX:
        return Memory(op, state);
    }
    if (BPF_CLASS(op.code) == BPF_ALU) return Arithmetic(op, state);
    return absl::InternalError(absl::StrCat("unknown code ", op.code));
  }

  static absl::StatusOr<size_t> Memory(const sock_filter& op, State* state) {
    if (op.k >= BPF_MEMWORDS) return absl::InternalError(absl::StrCat("memory word ", op.k));
    switch (BPF_CLASS(op.code)) {
      case BPF_LD:
        state->a = state->memory[op.k];
        break;
      case BPF_LDX:
        state->x = state->memory[op.k];
        break;
      case BPF_ST:
        state->memory[op.k] = state->a;
        break;
      default:
        state->memory[op.k] = state->x;
    }
    return 0;
  }

  static absl::StatusOr<size_t> Arithmetic(const sock_filter& op, State* state) {
    const uint32_t with = BPF_SRC(op.code) == BPF_X ? state->x : op.k;
    switch (BPF_OP(op.code)) {
      case BPF_ADD:
        state->a += with;
        return 0;
      case BPF_SUB:
        state->a -= with;
        return 0;
      case BPF_MUL:
        state->a *= with;
        return 0;
      case BPF_DIV:
        if (with == 0) return absl::InternalError("division by zero");
        state->a /= with;
        return 0;
      case BPF_AND:
        state->a &= with;
        return 0;
      case BPF_OR:
        state->a |= with;
        return 0;
      case BPF_XOR:
        state->a ^= with;
        return 0;
      case BPF_LSH:
      case BPF_RSH:
        if (with > 31) return absl::InternalError(absl::StrCat("shift by ", with));
        state->a = BPF_OP(op.code) == BPF_LSH ? state->a << with : state->a >> with;
        return 0;
    }
    return absl::InternalError(absl::StrCat("arithmetic ", op.code));
  }

  const std::vector<sock_filter>& program_;
};

// "allow", "kill", or the errno that the call would answer ("EPERM"); otherwise the number in hexadecimal.
inline std::string SeccompActionName(uint32_t action) {
  if (action == SECCOMP_RET_ALLOW) return "allow";
  if (action == SECCOMP_RET_KILL_PROCESS) return "kill";
  if ((action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO) {
    const char* name = strerrorname_np(static_cast<int>(action & SECCOMP_RET_DATA));
    if (name != nullptr) return name;
  }
  return absl::StrCat("0x", absl::Hex(action));
}

}  // namespace cellblock

#endif  // CELLBLOCK_TESTS_SUPPORT_SECCOMP_EVALUATE_H_
