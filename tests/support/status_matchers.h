// IsOk() and StatusIs(code, matcher) for absl::Status and absl::StatusOr: Abseil 20220623 has none. Tests only.
#ifndef CELLBLOCK_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define CELLBLOCK_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock {

inline const absl::Status& ToStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& ToStatus(const absl::StatusOr<T>& value) { return value.status(); }

MATCHER(IsOk, "is OK") {
  *result_listener << ToStatus(arg).ToString();
  return ToStatus(arg).ok();
}

MATCHER_P2(StatusIs, code, message, "") {
  *result_listener << ToStatus(arg).ToString();
  return ToStatus(arg).code() == code && ::testing::ExplainMatchResult(message, std::string(ToStatus(arg).message()), result_listener);
}

}  // namespace cellblock

#define CELLBLOCK_ASSERT_OK_AND_ASSIGN(lhs, expr) \
  CELLBLOCK_ASSERT_OK_AND_ASSIGN_IMPL_(CELLBLOCK_TEST_CONCAT_(cellblock_value_, __LINE__), lhs, expr)
#define CELLBLOCK_TEST_CONCAT_INNER_(a, b) a##b
#define CELLBLOCK_TEST_CONCAT_(a, b) CELLBLOCK_TEST_CONCAT_INNER_(a, b)
#define CELLBLOCK_ASSERT_OK_AND_ASSIGN_IMPL_(var, lhs, expr)     \
  auto var = (expr);                                             \
  ASSERT_TRUE(var.ok()) << var.status().ToString();              \
  lhs = std::move(var).value()

#endif  // CELLBLOCK_TESTS_SUPPORT_STATUS_MATCHERS_H_
