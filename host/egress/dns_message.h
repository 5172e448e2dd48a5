// Questions to the session's resolver and the answers to them (RFC 1035). Egress proxy; questions come from the session's code and are
// hostile. No question is ever passed on. Pure.
#ifndef CELLBLOCK_EGRESS_DNS_MESSAGE_H_
#define CELLBLOCK_EGRESS_DNS_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "policy/address.h"

namespace cellblock::egress {

inline constexpr size_t kDnsQuestionBytesMax = 1232;   // with EDNS (RFC 6891)

enum class DnsCode { kNoError = 0, kFormatError = 1, kNameError = 3, kNotImplemented = 4, kRefused = 5 };
inline constexpr uint16_t kDnsTypeA = 1, kDnsTypeAaaa = 28, kDnsTypeAny = 255;

struct DnsQuestion {
  uint16_t id = 0;
  bool recursion_desired = false;
  std::string name;      // as text with dots, not yet checked as a host name; bytes that are no visible ASCII, and dots within a label, as "?"
  uint16_t type = 0;
  std::string question;  // name, type and class as they came, for the answer
};

// kInvalidArgument: no header, an answer, more or fewer than one question, compressed or broken names, bytes behind the last record, more than
// kDnsQuestionBytesMax. An additional EDNS record is skipped. Class other than IN, or another request than a question: kUnimplemented.
absl::StatusOr<DnsQuestion> ParseDnsQuestion(absl::string_view message);

// With `address` an A or AAAA record of it; without, an empty answer of that code.
std::string FormatDnsAnswer(const DnsQuestion& question, DnsCode code, const std::optional<policy::Address>& address, uint32_t ttl_seconds);
// For a message that ParseDnsQuestion refused: empty when id and flags are not there or it was an answer.
std::string FormatDnsFailure(absl::string_view message, DnsCode code);

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_DNS_MESSAGE_H_
