// See image_size.h.
#include "artifact/image_size.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace cellblock::artifact {
namespace {

using Size = std::optional<std::pair<int64_t, int64_t>>;

uint32_t Byte(absl::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }
uint32_t Big16(absl::string_view bytes, size_t at) { return Byte(bytes, at) << 8 | Byte(bytes, at + 1); }
uint32_t Big32(absl::string_view bytes, size_t at) { return Big16(bytes, at) << 16 | Big16(bytes, at + 2); }
uint32_t Little16(absl::string_view bytes, size_t at) { return Byte(bytes, at + 1) << 8 | Byte(bytes, at); }
uint32_t Little24(absl::string_view bytes, size_t at) { return Byte(bytes, at + 2) << 16 | Little16(bytes, at); }

Size Checked(int64_t width, int64_t height) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (width < 1 || height < 1 || width > kMax || height > kMax) return std::nullopt;
  return std::make_pair(width, height);
}

Size PngSize(absl::string_view head) {
  if (head.size() < 24 || !absl::StartsWith(head, "\x89PNG\r\n\x1A\n") || head.substr(12, 4) != "IHDR") return std::nullopt;
  return Checked(Big32(head, 16), Big32(head, 20));
}

Size GifSize(absl::string_view head) {
  if (head.size() < 10 || !absl::StartsWith(head, "GIF8")) return std::nullopt;
  return Checked(Little16(head, 6), Little16(head, 8));
}

// Walks the segments up to the frame header (SOF0 – SOF15 but for the tables DHT, JPG and DAC between them).
Size JpegSize(absl::string_view head) {
  if (head.size() < 4 || !absl::StartsWith(head, "\xFF\xD8")) return std::nullopt;
  size_t at = 2;
  while (at + 9 <= head.size()) {
    if (Byte(head, at) != 0xFF) return std::nullopt;
    uint32_t marker = Byte(head, at + 1);
    if (marker == 0xFF) {  // fill byte
      ++at;
      continue;
    }
    if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) {
      return Checked(Big16(head, at + 7), Big16(head, at + 5));
    }
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7)) {  // these have no length
      at += 2;
      continue;
    }
    uint32_t length = Big16(head, at + 2);
    if (length < 2 || marker == 0xD9 || marker == 0xDA) return std::nullopt;
    at += 2 + length;
  }
  return std::nullopt;
}

Size WebpSize(absl::string_view head) {
  if (head.size() < 30 || !absl::StartsWith(head, "RIFF") || head.substr(8, 4) != "WEBP") return std::nullopt;
  absl::string_view kind = head.substr(12, 4);
  if (kind == "VP8X") return Checked(Little24(head, 24) + 1, Little24(head, 27) + 1);
  if (kind == "VP8L") {
    if (Byte(head, 20) != 0x2F) return std::nullopt;
    uint32_t bits = Little24(head, 21) | Byte(head, 24) << 24;
    return Checked((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1);
  }
  if (kind == "VP8 ") {
    if (head.substr(23, 3) != "\x9D\x01\x2A") return std::nullopt;
    return Checked(Little16(head, 26) & 0x3FFF, Little16(head, 28) & 0x3FFF);
  }
  return std::nullopt;
}

// The value of an attribute of one tag, without entities; none when it is not there.
std::optional<absl::string_view> Attribute(absl::string_view tag, absl::string_view name) {
  size_t at = 0;
  while ((at = tag.find(name, at)) != absl::string_view::npos) {
    size_t after = at + name.size();
    bool starts = at > 0 && absl::ascii_isspace(static_cast<unsigned char>(tag[at - 1]));
    while (after < tag.size() && absl::ascii_isspace(static_cast<unsigned char>(tag[after]))) ++after;
    if (!starts || after >= tag.size() || tag[after] != '=') {
      at += name.size();
      continue;
    }
    ++after;
    while (after < tag.size() && absl::ascii_isspace(static_cast<unsigned char>(tag[after]))) ++after;
    if (after >= tag.size() || (tag[after] != '"' && tag[after] != '\'')) return std::nullopt;
    size_t end = tag.find(tag[after], after + 1);
    if (end == absl::string_view::npos) return std::nullopt;
    return tag.substr(after + 1, end - after - 1);
  }
  return std::nullopt;
}

// A CSS length in pixels (96 to the inch); none for percentages and units that depend on a font.
std::optional<double> Pixels(absl::string_view length) {
  struct Unit {
    absl::string_view name;
    double pixels;
  };
  static constexpr Unit kUnits[] = {{"px", 1}, {"pt", 96.0 / 72}, {"pc", 16}, {"in", 96}, {"cm", 96 / 2.54}, {"mm", 96 / 25.4}};
  length = absl::StripAsciiWhitespace(length);
  double factor = 1;
  for (const Unit& unit : kUnits) {
    if (!absl::EndsWith(length, unit.name)) continue;
    factor = unit.pixels;
    length.remove_suffix(unit.name.size());
    break;
  }
  double value = 0;
  if (length.size() > 32 || !absl::SimpleAtod(length, &value) || !std::isfinite(value) || value <= 0) return std::nullopt;
  return value * factor;
}

Size Rounded(double width, double height) {
  constexpr double kMax = std::numeric_limits<int32_t>::max();
  if (!(width >= 0.5 && width < kMax && height >= 0.5 && height < kMax)) return std::nullopt;
  return Checked(std::llround(width), std::llround(height));
}

Size SvgSize(absl::string_view head) {
  size_t begin = head.find("<svg");
  if (begin == absl::string_view::npos) return std::nullopt;
  size_t end = head.find('>', begin);
  if (end == absl::string_view::npos) return std::nullopt;
  absl::string_view tag = head.substr(begin, end - begin);
  std::optional<absl::string_view> width = Attribute(tag, "width"), height = Attribute(tag, "height");
  if (width.has_value() && height.has_value()) {
    std::optional<double> w = Pixels(*width), h = Pixels(*height);
    if (w.has_value() && h.has_value()) return Rounded(*w, *h);
  }
  std::optional<absl::string_view> box = Attribute(tag, "viewBox");
  if (!box.has_value() || box->size() > 256) return std::nullopt;
  std::vector<absl::string_view> numbers = absl::StrSplit(*box, absl::ByAnyChar(" ,\t\r\n"), absl::SkipEmpty());
  if (numbers.size() != 4) return std::nullopt;
  std::optional<double> w = Pixels(numbers[2]), h = Pixels(numbers[3]);
  if (!w.has_value() || !h.has_value()) return std::nullopt;
  return Rounded(*w, *h);
}

}  // namespace

Size ImageSize(absl::string_view mime, absl::string_view head) {
  if (mime == "image/png") return PngSize(head);
  if (mime == "image/jpeg") return JpegSize(head);
  if (mime == "image/gif") return GifSize(head);
  if (mime == "image/webp") return WebpSize(head);
  if (mime == "image/svg+xml") return SvgSize(head);
  return std::nullopt;
}

}  // namespace cellblock::artifact
