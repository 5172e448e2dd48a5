// Fuzzes the redaction of secrets in bytes: the first byte says how they are cut, the second how long the secret is that follows, the
// rest is the stream. What comes out does not depend on the cut and holds no spelling of the secret.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "egress/byte_redactor.h"

namespace {

using namespace cellblock::egress;  // NOLINT: one file

std::string Redact(const std::vector<std::string>& needles, absl::string_view bytes, size_t piece, uint64_t* replaced) {
  ByteRedactor redactor(needles);
  std::string text;
  size_t given = 0;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    const absl::string_view next = bytes.substr(0, piece);
    given += next.size();
    text += redactor.Feed(next);
    if (redactor.replaced() == 0) CELLBLOCK_CHECK(given - text.size() == std::min(given, redactor.held_back()));
  }
  text += redactor.Finish();
  *replaced = redactor.replaced();
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string value(bytes.substr(0, data[1] % 32));
  const absl::string_view stream = bytes.substr(value.size());
  const std::vector<std::string> needles = SpellingsOf(value);
  CELLBLOCK_CHECK(needles.front() == value && needles.size() <= 60);
  uint64_t whole_count = 0, cut_count = 0;
  const std::string whole = Redact(needles, stream, stream.size() + 1, &whole_count);
  CELLBLOCK_CHECK(whole == Redact(needles, stream, 1 + data[0] % 40, &cut_count) && whole_count == cut_count);
  if (whole_count == 0) CELLBLOCK_CHECK(whole == stream);
  // What replaces a secret could be a part of one with asterisks.
  for (const std::string& needle : needles) {
    if (needle.size() >= kNeedleBytesMin && !absl::StrContains(needle, '*')) CELLBLOCK_CHECK(!absl::StrContains(whole, needle));
  }
  uint64_t count = 0;
  if (value.size() >= kNeedleBytesMin) Redact(needles, absl::StrCat(stream, value), 7, &count), CELLBLOCK_CHECK(count > 0);
  return 0;
}
