// See dns_message.h.
#include "egress/dns_message.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cellblock::egress {
namespace {

constexpr size_t kHeaderBytes = 12;
constexpr size_t kNameBytesMax = 255;    // RFC 1035, 2.3.4, with all lengths and the root's
constexpr uint8_t kLabelBytesMax = 63;   // greater first bytes point elsewhere (compression) or mean nothing
constexpr uint16_t kClassIn = 1, kTypeOpt = 41;
// Bits of the header's second 16.
constexpr uint16_t kIsAnswer = 0x8000, kOpcode = 0x7800, kIsTruncated = 0x0200, kRecursionDesired = 0x0100, kRecursionAvailable = 0x0080;

absl::Status Bad(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("DNS question: ", what)); }

uint16_t NumberAt(absl::string_view bytes, size_t at) { return static_cast<uint16_t>(static_cast<uint8_t>(bytes[at]) << 8 | static_cast<uint8_t>(bytes[at + 1])); }

void AppendNumber(std::string& out, uint16_t number) {
  out.push_back(static_cast<char>(number >> 8));
  out.push_back(static_cast<char>(number & 0xff));
}

// A dot within a label would look like one between labels.
char Visible(char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '.' ? c : '?'; }

// Reads the name at `at` and leaves `at` behind it.
absl::StatusOr<std::string> ReadName(absl::string_view message, size_t& at) {
  const size_t begin = at;
  std::string name;
  while (true) {
    if (at >= message.size()) return Bad("a name is cut off");
    const uint8_t length = static_cast<uint8_t>(message[at]);
    ++at;
    if (length == 0) break;
    if (length > kLabelBytesMax) return Bad("a compressed name");
    if (length > message.size() - at) return Bad("a label is cut off");
    if (at + length - begin >= kNameBytesMax) return Bad("a name of more than 255 bytes");
    if (!name.empty()) name.push_back('.');
    const absl::string_view label = message.substr(at, length);
    std::transform(label.begin(), label.end(), std::back_inserter(name), Visible);
    at += length;
  }
  return name;
}

// The one record that a question may bring along: EDNS (RFC 6891, 6.1.2). Its content asks for nothing that is done here.
absl::Status SkipEdns(absl::string_view message, size_t& at) {
  constexpr size_t kFixedBytes = 11;   // root, type, class, ttl, length
  if (message.size() - at < kFixedBytes || message[at] != 0 || NumberAt(message, at + 1) != kTypeOpt) return Bad("an additional record other than EDNS");
  const size_t length = NumberAt(message, at + 9);
  at += kFixedBytes;
  if (length > message.size() - at) return Bad("the EDNS record is cut off");
  at += length;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DnsQuestion> ParseDnsQuestion(absl::string_view message) {
  if (message.size() < kHeaderBytes) return Bad("no header");
  if (message.size() > kDnsQuestionBytesMax) return Bad("too long");
  const uint16_t flags = NumberAt(message, 2);
  if ((flags & (kIsAnswer | kIsTruncated)) != 0) return Bad("an answer or a cut message");
  if ((flags & kOpcode) != 0) return absl::UnimplementedError("DNS: only plain questions are answered");
  const uint16_t additional = NumberAt(message, 10);
  if (NumberAt(message, 4) != 1 || NumberAt(message, 6) != 0 || NumberAt(message, 8) != 0 || additional > 1) return Bad("not one question and nothing else");

  DnsQuestion question;
  question.id = NumberAt(message, 0);
  question.recursion_desired = (flags & kRecursionDesired) != 0;
  size_t at = kHeaderBytes;
  CELLBLOCK_ASSIGN_OR_RETURN(question.name, ReadName(message, at));
  if (message.size() - at < 4) return Bad("type and class are missing");
  question.type = NumberAt(message, at);
  const uint16_t of_class = NumberAt(message, at + 2);
  at += 4;
  question.question = std::string(message.substr(kHeaderBytes, at - kHeaderBytes));
  if (additional == 1) CELLBLOCK_RETURN_IF_ERROR(SkipEdns(message, at));
  if (at != message.size()) return Bad("bytes behind the last record");
  if (of_class != kClassIn) return absl::UnimplementedError("DNS: only the class IN is answered");
  return question;
}

std::string FormatDnsAnswer(const DnsQuestion& question, DnsCode code, const std::optional<policy::Address>& address, uint32_t ttl_seconds) {
  std::string answer;
  AppendNumber(answer, question.id);
  AppendNumber(answer, static_cast<uint16_t>(kIsAnswer | (question.recursion_desired ? kRecursionDesired : 0) | kRecursionAvailable | static_cast<uint16_t>(code)));
  for (uint16_t count : {1, address.has_value() ? 1 : 0, 0, 0}) AppendNumber(answer, count);
  answer += question.question;
  if (!address.has_value()) return answer;
  const size_t bytes = address->is_v4 ? 4 : 16;
  AppendNumber(answer, 0xc000 | kHeaderBytes);   // the question's name
  AppendNumber(answer, address->is_v4 ? kDnsTypeA : kDnsTypeAaaa);
  AppendNumber(answer, kClassIn);
  AppendNumber(answer, static_cast<uint16_t>(ttl_seconds >> 16));
  AppendNumber(answer, static_cast<uint16_t>(ttl_seconds & 0xffff));
  AppendNumber(answer, static_cast<uint16_t>(bytes));
  answer.append(reinterpret_cast<const char*>(address->bytes.data()), bytes);
  return answer;
}

std::string FormatDnsFailure(absl::string_view message, DnsCode code) {
  if (message.size() < 4) return "";
  const uint16_t flags = NumberAt(message, 2);
  if ((flags & kIsAnswer) != 0) return "";   // two resolvers must not answer each other's answers
  std::string answer(message.substr(0, 2));
  AppendNumber(answer, static_cast<uint16_t>(kIsAnswer | (flags & (kOpcode | kRecursionDesired)) | kRecursionAvailable | static_cast<uint16_t>(code)));
  answer.append(8, '\0');
  return answer;
}

}  // namespace cellblock::egress
