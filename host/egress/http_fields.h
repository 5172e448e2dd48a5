// Fields of HTTP/1 heads and trailers: one line in, name and value out, and back. Egress proxy; both ends of a connection are hostile.
// Pure functions. RFC 9110, 5; RFC 9112, 5.
#ifndef CELLBLOCK_EGRESS_HTTP_FIELDS_H_
#define CELLBLOCK_EGRESS_HTTP_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::egress {

struct Field {
  std::string name;    // as sent
  std::string value;   // without white space around it

  friend bool operator==(const Field&, const Field&) = default;
};

// A line without its CRLF. kInvalidArgument: obs-fold, white space before the colon, a name that is no token, control bytes.
absl::StatusOr<Field> ParseFieldLine(absl::string_view line);

bool IsToken(absl::string_view text);         // what a field's name and a method are made of; not empty
// What a field may hold without becoming two: no control byte but tab. For values that don't come from ParseFieldLine, such as secrets.
bool IsFieldValue(absl::string_view text);
absl::string_view TrimBlanks(absl::string_view text);   // spaces and tabs around it

// Each as "name: value" and CRLF. Names are tokens and values IsFieldValue().
std::string FormatFields(const std::vector<Field>& fields);
bool HasField(const std::vector<Field>& fields, absl::string_view name);      // names without regard to case
void RemoveField(std::vector<Field>& fields, absl::string_view name);

// Bytes of a stranger within a message of ours: escaped and cut.
std::string Shown(absl::string_view text);

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_HTTP_FIELDS_H_
