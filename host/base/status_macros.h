// Early returns for absl::Status and absl::StatusOr: Abseil 20220623 has none. Every process; trusts nothing.
#ifndef CELLBLOCK_BASE_STATUS_MACROS_H_
#define CELLBLOCK_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define CELLBLOCK_CONCAT_INNER_(a, b) a##b
#define CELLBLOCK_CONCAT_(a, b) CELLBLOCK_CONCAT_INNER_(a, b)

// Returns from the enclosing function when `expr` (an absl::Status) is not ok.
#define CELLBLOCK_RETURN_IF_ERROR(expr)                        \
  do {                                                         \
    absl::Status cellblock_status_ = (expr);                   \
    if (!cellblock_status_.ok()) return cellblock_status_;     \
  } while (false)

// Assigns the value of `expr` (an absl::StatusOr) to `lhs`, or returns its status from the enclosing function.
#define CELLBLOCK_ASSIGN_OR_RETURN(lhs, expr) \
  CELLBLOCK_ASSIGN_OR_RETURN_IMPL_(CELLBLOCK_CONCAT_(cellblock_statusor_, __LINE__), lhs, expr)
#define CELLBLOCK_ASSIGN_OR_RETURN_IMPL_(var, lhs, expr) \
  auto var = (expr);                                     \
  if (!var.ok()) return std::move(var).status();         \
  lhs = std::move(var).value()

#endif  // CELLBLOCK_BASE_STATUS_MACROS_H_
