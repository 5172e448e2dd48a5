// See random_id.h.
#include "sys/random_id.h"

#include <sys/random.h>

#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace cellblock::sys {

std::string RandomId(absl::string_view prefix) {
  std::array<char, 16> bytes;
  CELLBLOCK_CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return absl::StrCat(prefix, absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size())));
}

}  // namespace cellblock::sys
