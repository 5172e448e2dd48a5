// The target of a request (RFC 9112, section 3.2): path and query, percent-decoded. Pure; every byte is a client's.
#ifndef CELLBLOCK_FRONT_HTTP_TARGET_H_
#define CELLBLOCK_FRONT_HTTP_TARGET_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::front {

// False for a '%' that is followed by no two hex digits.
bool DecodePercent(absl::string_view text, std::string* decoded);
// All but letters, digits and "-._~" (RFC 3986, section 2.3).
std::string EncodePercent(absl::string_view text);

struct Target {
  std::string path;                                     // still encoded
  std::map<std::string, std::string, std::less<>> query;  // of a name that comes twice the last value
};
// False: not of the form "/path?query".
bool ParseTarget(absl::string_view text, Target* target);

// The host of a Host header or an origin's authority, lower case, without the port: "[::1]:80" → "[::1]". "" when it is none.
std::string HostOf(absl::string_view authority);

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_TARGET_H_
