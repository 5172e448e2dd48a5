// See python_encoding.h.
#include "app/python_encoding.h"

#include <errno.h>
#include <iconv.h>

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "app/terminal_text.h"
#include "policy/text.h"

namespace cellblock::app {
namespace {

constexpr absl::string_view kUtf8Mark = "\xEF\xBB\xBF";

size_t LineOf(absl::string_view bytes, size_t offset) {
  return 1 + static_cast<size_t>(std::count(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(offset), '\n'));
}

// PEP 263: ^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)
std::string EncodingInLine(absl::string_view line) {
  while (!line.empty() && (line[0] == ' ' || line[0] == '\t' || line[0] == '\f')) line.remove_prefix(1);
  if (!absl::StartsWith(line, "#")) return "";
  for (size_t at = line.find("coding"); at != absl::string_view::npos; at = line.find("coding", at + 1)) {
    absl::string_view rest = line.substr(at + 6);
    if (!absl::ConsumePrefix(&rest, ":") && !absl::ConsumePrefix(&rest, "=")) continue;
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t')) rest.remove_prefix(1);
    const auto end =
        std::find_if(rest.begin(), rest.end(), [](char c) { return !absl::ascii_isalnum(c) && c != '-' && c != '_' && c != '.'; });
    if (end != rest.begin()) return std::string(rest.begin(), end);
  }
  return "";
}

bool IsBlankOrComment(absl::string_view line) {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
  return text.empty() || text[0] == '#';
}

// Python's spelling of an encoding, in the form in which its aliases are told apart: lower case, dashes.
std::string NormalName(absl::string_view name) { return absl::StrReplaceAll(absl::AsciiStrToLower(name), {{"_", "-"}}); }

bool IsUtf8Name(const std::string& name) {
  return name == "utf-8" || name == "utf8" || name == "u8" || name == "utf-8-sig" || absl::StartsWith(name, "utf-8-");
}

// What iconv calls it, where Python's name is another one.
std::string IconvName(const std::string& name) {
  if (name == "latin-1" || name == "latin1" || name == "iso-latin-1" || name == "l1" || name == "8859") return "ISO-8859-1";
  if (name == "latin-9" || name == "latin9") return "ISO-8859-15";
  if (absl::StartsWith(name, "windows-")) return absl::StrCat("CP", name.substr(8));
  if (name == "mbcs" || name == "ansi") return "CP1252";
  return absl::AsciiStrToUpper(name);
}

absl::Status NotUtf8(absl::string_view name, absl::string_view bytes, size_t offset) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s:%d: byte 0x%02x is not UTF-8; save the file as UTF-8, or name its encoding in the first line (# -*- coding: latin-1 -*-)",
      NeutralizeLine(name), LineOf(bytes, offset), static_cast<unsigned char>(bytes[offset])));
}

absl::Status CheckNoNul(absl::string_view name, absl::string_view text) {
  const size_t nul = text.find('\0');
  if (nul == absl::string_view::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(NeutralizeLine(name), ":", LineOf(text, nul), ": a NUL byte; this is no source text (a data file goes in with --file)"));
}

absl::Status CheckByteOrder(absl::string_view bytes, absl::string_view name) {
  if (absl::StartsWith(bytes, "\xFF\xFE") || absl::StartsWith(bytes, "\xFE\xFF")) {
    return absl::InvalidArgumentError(absl::StrCat(NeutralizeLine(name), ": the file is UTF-16; save it as UTF-8"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Convert(absl::string_view bytes, const std::string& encoding, absl::string_view name) {
  iconv_t converter = iconv_open("UTF-8", IconvName(NormalName(encoding)).c_str());
  if (converter == reinterpret_cast<iconv_t>(-1)) {
    return absl::InvalidArgumentError(absl::StrCat(NeutralizeLine(name), ": unknown encoding '", NeutralizeLine(encoding),
                                                   "' in the declaration (# coding: …); save the file as UTF-8 and drop it"));
  }
  absl::Cleanup close = [converter] { iconv_close(converter); };
  std::string out(bytes.size() * 4 + 16, '\0');   // no single- or double-byte set needs more than 4 bytes for one
  char* input = const_cast<char*>(bytes.data());  // iconv's signature; it does not write there
  size_t input_left = bytes.size();
  char* output = out.data();
  size_t output_left = out.size();
  if (iconv(converter, &input, &input_left, &output, &output_left) == static_cast<size_t>(-1)) {
    const size_t offset = bytes.size() - input_left;
    return absl::InvalidArgumentError(absl::StrCat(NeutralizeLine(name), ":", LineOf(bytes, offset), ": a byte that is not ", encoding,
                                                   ", though the file declares that encoding"));
  }
  out.resize(out.size() - output_left);
  return out;
}

}  // namespace

std::string DeclaredEncoding(absl::string_view bytes) {
  absl::string_view rest = bytes;
  for (int number = 0; number < 2 && !rest.empty(); ++number) {
    const size_t end = rest.find_first_of("\r\n");
    const absl::string_view line = rest.substr(0, end);
    if (std::string encoding = EncodingInLine(line); !encoding.empty()) return encoding;
    // A second line counts only after a first one that is blank or a comment (a "#!" line).
    if (!IsBlankOrComment(line) || end == absl::string_view::npos) return "";
    rest.remove_prefix(end + (absl::StartsWith(rest.substr(end), "\r\n") ? 2 : 1));
  }
  return "";
}

std::string WithUnixLineEnds(absl::string_view text) { return absl::StrReplaceAll(text, {{"\r\n", "\n"}, {"\r", "\n"}}); }

absl::StatusOr<std::string> DecodeUtf8Source(absl::string_view bytes, absl::string_view name) {
  if (absl::Status status = CheckByteOrder(bytes, name); !status.ok()) return status;
  absl::ConsumePrefix(&bytes, kUtf8Mark);
  if (absl::Status status = CheckNoNul(name, bytes); !status.ok()) return status;
  for (size_t offset = 0; offset < bytes.size();) {
    const policy::Character character = policy::NextCharacter(bytes.substr(offset));
    if (character.bytes < 0) return NotUtf8(name, bytes, offset);
    offset += static_cast<size_t>(character.bytes);
  }
  return WithUnixLineEnds(bytes);
}

absl::StatusOr<std::string> DecodePythonSource(absl::string_view bytes, absl::string_view name) {
  const bool marked = absl::StartsWith(bytes, kUtf8Mark);
  const std::string declared = DeclaredEncoding(marked ? bytes.substr(kUtf8Mark.size()) : bytes);
  if (declared.empty() || IsUtf8Name(NormalName(declared))) return DecodeUtf8Source(bytes, name);
  if (marked) {
    return absl::InvalidArgumentError(absl::StrCat(NeutralizeLine(name), ": the file has a UTF-8 byte-order mark but declares ",
                                                   NeutralizeLine(declared), "; drop the declaration"));
  }
  absl::StatusOr<std::string> text = Convert(bytes, declared, name);
  if (!text.ok()) return text;
  if (absl::Status status = CheckNoNul(name, *text); !status.ok()) return status;
  return WithUnixLineEnds(*text);
}

}  // namespace cellblock::app
