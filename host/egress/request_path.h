// Paths of requests as rules compare them: by their prefix at a "/", and only where every server reads them alike. Egress proxy and
// `policy explain`; the text comes from the session's code and is hostile. Pure functions.
#ifndef CELLBLOCK_EGRESS_REQUEST_PATH_H_
#define CELLBLOCK_EGRESS_REQUEST_PATH_H_

#include "absl/strings/string_view.h"

namespace cellblock::egress {

// The path part of `target` without query, with a "/" where it is empty.
absl::string_view PathOf(absl::string_view target);

// What servers may read differently in a path, as a noun with its article; empty for none: a segment "." or ".." (also before a ";"),
// "//", "\", and percent-encoded, once or more, any of these characters, NUL and the overlong beginnings of them; a "%" without two digits.
absl::string_view PathAmbiguity(absl::string_view path);

// "/v1" and "/v1/" both fit "/v1/x"; "/v1" alone fits "/v1"; neither fits "/v10".
bool PathFits(absl::string_view prefix, absl::string_view path);

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_REQUEST_PATH_H_
