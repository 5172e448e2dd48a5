// Fields of a request's head that are more than a text: ranges of content of a known size, entity tags, accepted types (RFC 9110). Pure; the
// fields are a client's.
#ifndef CELLBLOCK_FRONT_HTTP_HEADER_FIELDS_H_
#define CELLBLOCK_FRONT_HTTP_HEADER_FIELDS_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace cellblock::front {

struct Range {
  enum class Kind { kWhole, kPart, kUnsatisfiable };
  Kind kind = Kind::kWhole;
  int64_t first = 0;
  int64_t bytes = 0;
};

// One range of bytes. What is no range, or is several, is answered by the whole, as the RFC allows.
Range ParseRange(absl::string_view header, int64_t size_bytes);

// Whether an Accept field names this media type by itself, with a weight above 0 (RFC 9110, section 12.5.1).
bool AcceptsType(absl::string_view header, absl::string_view type);
// Whether an If-None-Match field names this entity tag (given with its quotes); "*" names any.
bool NamesTag(absl::string_view header, absl::string_view tag);

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_HEADER_FIELDS_H_
