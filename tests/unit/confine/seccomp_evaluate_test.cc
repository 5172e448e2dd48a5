// The user-space evaluator itself: each instruction against a value worked out by hand, and what it must refuse.
#include "tests/support/seccomp_evaluate.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;

sock_filter Op(int code, uint32_t k, uint8_t jt = 0, uint8_t jf = 0) { return {static_cast<uint16_t>(code), jt, jf, k}; }
const sock_filter kReturnA = Op(BPF_RET | BPF_A, 0);

absl::StatusOr<uint32_t> Execute(std::vector<sock_filter> program, const seccomp_data& data = {}) {
  return SeccompEvaluator(program).Run(data);
}

// A starts as `a`, X as `x`; then one instruction.
uint32_t Apply(sock_filter op, uint32_t a, uint32_t x = 0) {
  absl::StatusOr<uint32_t> result = Execute({Op(BPF_LDX | BPF_IMM, x), Op(BPF_LD | BPF_IMM, a), op, kReturnA});
  EXPECT_THAT(result, IsOk());
  return result.value_or(0xdead);
}

TEST(SeccompEvaluatorTest, DoesArithmetic) {
  EXPECT_EQ(Apply(Op(BPF_ALU | BPF_ADD | BPF_K, 5), 7), 12U);
  EXPECT_EQ(Apply(Op(BPF_ALU | BPF_ADD | BPF_X, 0), 7, 9), 16U);
  EXPECT_EQ(Apply(Op(BPF_ALU | BPF_SUB | BPF_K, 8), 7), 0xffffffffU);
  EXPECT_EQ(Apply(Op(BPF_ALU | BPF_MUL | BPF_K, 3), 7), 21U);
  EXPECT_EQ(Apply(Op(BPF_ALU | BPF_DIV | BPF_K, 2), 7), 3U);
  EXPECT_EQ(Apply(Op(BPF_ALU | BPF_AND | BPF_K, 6), 3), 2U);
  EXPECT_EQ(Apply(Op(BPF_ALU | BPF_OR | BPF_K, 6), 3), 7U);
  EXPECT_EQ(Apply(Op(BPF_ALU | BPF_XOR | BPF_K, 6), 3), 5U);
  EXPECT_EQ(Apply(Op(BPF_ALU | BPF_LSH | BPF_K, 4), 3), 48U);
  EXPECT_EQ(Apply(Op(BPF_ALU | BPF_RSH | BPF_K, 1), 3), 1U);
  EXPECT_EQ(Apply(Op(BPF_ALU | BPF_NEG, 0), 1), 0xffffffffU);
  EXPECT_EQ(Apply(Op(BPF_MISC | BPF_TXA, 0), 1, 2), 2U);
}

TEST(SeccompEvaluatorTest, LoadsBothHalvesOfArguments) {
  seccomp_data data = {.nr = 3, .arch = 4, .instruction_pointer = 0, .args = {0x1111111122222222}};
  auto load = [&](size_t at) { return Execute({Op(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(at)), kReturnA}, data).value_or(0xdead); };
  EXPECT_EQ(load(offsetof(seccomp_data, nr)), 3U);
  EXPECT_EQ(load(offsetof(seccomp_data, arch)), 4U);
  EXPECT_EQ(load(offsetof(seccomp_data, args)), 0x22222222U);
  EXPECT_EQ(load(offsetof(seccomp_data, args) + 4), 0x11111111U);
}

TEST(SeccompEvaluatorTest, JumpsForwardByTheOffset) {
  auto jump = [](int code, uint32_t a, uint32_t k) {
    return Execute({Op(BPF_LD | BPF_IMM, a), Op(BPF_JMP | code | BPF_K, k, 1, 0), Op(BPF_RET | BPF_K, 100), Op(BPF_RET | BPF_K, 200)}).value_or(0xdead);
  };
  EXPECT_EQ(jump(BPF_JEQ, 5, 5), 200U);
  EXPECT_EQ(jump(BPF_JEQ, 5, 6), 100U);
  EXPECT_EQ(jump(BPF_JGT, 5, 5), 100U);
  EXPECT_EQ(jump(BPF_JGE, 5, 5), 200U);
  EXPECT_EQ(jump(BPF_JGT, 0x80000000, 1), 200U) << "unsigned";
  EXPECT_EQ(jump(BPF_JSET, 6, 1), 100U);
  EXPECT_EQ(jump(BPF_JSET, 6, 2), 200U);
  EXPECT_EQ(Execute({Op(BPF_JMP | BPF_JA, 1), Op(BPF_RET | BPF_K, 100), Op(BPF_RET | BPF_K, 200)}).value_or(0), 200U);
}

TEST(SeccompEvaluatorTest, RemembersWords) {
  EXPECT_EQ(Execute({Op(BPF_LD | BPF_IMM, 9), Op(BPF_ST, 15), Op(BPF_LD | BPF_IMM, 1), Op(BPF_LD | BPF_MEM, 15), kReturnA}).value_or(0), 9U);
  EXPECT_THAT(Execute({Op(BPF_ST, 16), kReturnA}), StatusIs(absl::StatusCode::kInternal, HasSubstr("memory word 16")));
}

TEST(SeccompEvaluatorTest, RefusesWhatTheKernelWould) {
  EXPECT_THAT(Execute({}), StatusIs(absl::StatusCode::kInternal, HasSubstr("past its end")));
  EXPECT_THAT(Execute({Op(BPF_LD | BPF_IMM, 1)}), StatusIs(absl::StatusCode::kInternal, HasSubstr("past its end")));
  EXPECT_THAT(Execute({Op(BPF_JMP | BPF_JA, 7), kReturnA}), StatusIs(absl::StatusCode::kInternal, HasSubstr("past its end")));
  EXPECT_THAT(Execute({Op(BPF_LD | BPF_W | BPF_ABS, 64), kReturnA}), StatusIs(absl::StatusCode::kInternal, HasSubstr("load at 64")));
  EXPECT_THAT(Execute({Op(BPF_LD | BPF_W | BPF_ABS, 2), kReturnA}), StatusIs(absl::StatusCode::kInternal, HasSubstr("load at 2")));
  EXPECT_THAT(Execute({Op(BPF_LD | BPF_B | BPF_ABS, 0), kReturnA}), StatusIs(absl::StatusCode::kInternal, HasSubstr("unknown code")));
  EXPECT_THAT(Execute({Op(BPF_ALU | BPF_DIV | BPF_K, 0), kReturnA}), StatusIs(absl::StatusCode::kInternal, HasSubstr("division")));
}

TEST(SeccompEvaluatorTest, NamesActions) {
  EXPECT_EQ(SeccompActionName(SECCOMP_RET_ALLOW), "allow");
  EXPECT_EQ(SeccompActionName(SECCOMP_RET_KILL_PROCESS), "kill");
  EXPECT_EQ(SeccompActionName(SECCOMP_RET_ERRNO | EPERM), "EPERM");
  EXPECT_EQ(SeccompActionName(SECCOMP_RET_TRACE), "0x7ff00000");
}

}  // namespace
}  // namespace cellblock
