// Fuzzes questions to the session's resolver: one that is read can be answered, and the answer is none that is read as a question;
// anything else gets a failure of 12 bytes or silence.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/log.h"
#include "egress/dns_message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cellblock;          // NOLINT: one function
  using namespace cellblock::egress;  // NOLINT: one function
  const absl::string_view message(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<DnsQuestion> question = ParseDnsQuestion(message);
  if (!question.ok()) {
    CELLBLOCK_CHECK(absl::IsInvalidArgument(question.status()) || absl::IsUnimplemented(question.status()));
    const std::string failure = FormatDnsFailure(message, DnsCode::kFormatError);
    CELLBLOCK_CHECK(failure.empty() || (failure.size() == 12 && failure.substr(0, 2) == message.substr(0, 2)));
    CELLBLOCK_CHECK(FormatDnsFailure(failure, DnsCode::kFormatError).empty());
    return 0;
  }
  CELLBLOCK_CHECK(size <= kDnsQuestionBytesMax && question->name.size() <= 253 && question->question.size() <= 259);
  CELLBLOCK_CHECK(std::all_of(question->name.begin(), question->name.end(), [](unsigned char c) { return absl::ascii_isgraph(c); }));
  CELLBLOCK_CHECK(absl::StartsWith(message.substr(12), question->question));
  for (DnsCode code : {DnsCode::kNoError, DnsCode::kNameError, DnsCode::kRefused}) {
    const std::string empty = FormatDnsAnswer(*question, code, std::nullopt, 60), full = FormatDnsAnswer(*question, code, policy::Address::V4(0xc6120001), 60);
    CELLBLOCK_CHECK(empty.size() == 12 + question->question.size() && full.size() == empty.size() + 16);
    CELLBLOCK_CHECK(full.size() <= 512);   // fits a datagram of a client without EDNS
    CELLBLOCK_CHECK(!ParseDnsQuestion(empty).ok() && !ParseDnsQuestion(full).ok());
  }
  // The question without what came with it is the same question.
  std::string plain(message.substr(0, 12));
  plain[11] = '\0';
  absl::StatusOr<DnsQuestion> again = ParseDnsQuestion(plain + question->question);
  CELLBLOCK_CHECK(again.ok() && again->name == question->name && again->type == question->type && again->id == question->id);
  return 0;
}
