// Redaction of JSON: a literal is looked for in what the strings mean, not in how they are spelled, and JSON stays JSON. Runs in the
// supervisor; the text is the guest's. Time is linear in the text.
#ifndef CELLBLOCK_CAPTURE_REDACT_JSON_H_
#define CELLBLOCK_CAPTURE_REDACT_JSON_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "capture/redact.h"

namespace cellblock::capture {

// `text` with every string and key redacted; one that holds a literal is spelled anew, all else is copied. A number that holds one becomes
// a string. Text that is not JSON (json_text.h) is redacted as text.
std::string RedactJson(const std::shared_ptr<const RedactionSet>& set, absl::string_view text);

}  // namespace cellblock::capture

#endif  // CELLBLOCK_CAPTURE_REDACT_JSON_H_
