// See multipart.h.
#include "front/http/multipart.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace cellblock::front {
namespace {

constexpr size_t kBoundaryBytesMax = 70;  // RFC 2046, section 5.1.1
constexpr size_t kPaddingBytesMax = 70;   // white space between a boundary and its line's end

bool IsBoundaryCharacter(char c) { return absl::ascii_isalnum(c) || absl::StrContains("'()+_,-./:=? ", absl::string_view(&c, 1)); }

// The value of a parameter of a header ("name", "boundary"): a token or a quoted string. False when it is not there.
bool Parameter(absl::string_view header, absl::string_view name, std::string* value) {
  size_t at = header.find(';');
  while (at != absl::string_view::npos) {
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(header.substr(at + 1));
    const size_t equals = rest.find_first_of("=;");
    const absl::string_view key = absl::StripTrailingAsciiWhitespace(rest.substr(0, equals));
    std::string text;
    size_t end = equals;
    if (equals != absl::string_view::npos && rest[equals] == '=') {
      absl::string_view raw = rest.substr(equals + 1);
      if (absl::StartsWith(raw, "\"")) {
        size_t i = 1;
        for (; i < raw.size() && raw[i] != '"'; ++i) {
          // Browsers and curl send quotes as %22 and backslashes as they are (Windows paths); others escape quotes by a backslash. A name
          // that has %22 in it of its own is sent alike, and is rarer.
          if (absl::StartsWith(raw.substr(i), "%22")) {
            text.push_back('"');
            i += 2;
            continue;
          }
          if (raw[i] == '\\' && i + 1 < raw.size() && (raw[i + 1] == '"' || raw[i + 1] == '\\')) ++i;
          text.push_back(raw[i]);
        }
        end = raw.find(';', std::min(i, raw.size()));
      } else {
        end = raw.find(';');
        text = std::string(absl::StripTrailingAsciiWhitespace(raw.substr(0, end)));
      }
      if (end != absl::string_view::npos) end += equals + 1;
    }
    if (absl::EqualsIgnoreCase(key, name)) {
      *value = text;
      return true;
    }
    at = end == absl::string_view::npos ? end : static_cast<size_t>(rest.data() - header.data()) + end;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::string> BoundaryOf(absl::string_view content_type) {
  if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(content_type.substr(0, content_type.find(';'))), "multipart/form-data")) return "";
  std::string boundary;
  if (!Parameter(content_type, "boundary", &boundary) || boundary.empty() || boundary.size() > kBoundaryBytesMax ||
      !std::all_of(boundary.begin(), boundary.end(), IsBoundaryCharacter) || boundary.back() == ' ') {
    return absl::InvalidArgumentError("Content-Type: multipart/form-data needs a boundary of 1 to 70 characters");
  }
  return boundary;
}

// The first delimiter may stand at the very beginning, without its CRLF: as if one had come before.
MultipartReader::MultipartReader(absl::string_view boundary, Sink sink) : delimiter_(absl::StrCat("\r\n--", boundary)), sink_(std::move(sink)), held_("\r\n") {}

absl::Status MultipartReader::Read(absl::string_view piece) {
  absl::StrAppend(&held_, piece);
  while (true) {
    CELLBLOCK_ASSIGN_OR_RETURN(const bool more, Step());
    if (!more) return absl::OkStatus();
  }
}

absl::StatusOr<bool> MultipartReader::Step() {
  switch (state_) {
    case State::kPreamble: {
      // Both bounds look at positions, so that it does not matter how the body was cut.
      const size_t found = held_.find(delimiter_);
      if (std::min(found, held_.size() - std::min(held_.size(), delimiter_.size())) > kPartHeaderBytesMax) {
        return absl::InvalidArgumentError("the multipart body does not begin with its boundary");
      }
      if (found == std::string::npos) return false;
      held_.erase(0, found + delimiter_.size());
      state_ = State::kAfterBoundary;
      return true;
    }
    case State::kAfterBoundary: {
      if (absl::StartsWith(held_, "--")) {
        state_ = State::kEpilogue;
        return true;
      }
      const size_t end = held_.find("\r\n");  // white space may stand before it
      if (end == std::string::npos && held_.size() <= kPaddingBytesMax + 1) return false;
      if (end > kPaddingBytesMax || !absl::StripAsciiWhitespace(absl::string_view(held_).substr(0, end)).empty()) {
        return absl::InvalidArgumentError("a multipart boundary is followed by something else than a line's end");
      }
      held_.erase(0, end);  // its CRLF is the first half of an empty header list's end
      state_ = State::kHeaders;
      return true;
    }
    case State::kHeaders: {
      const size_t end = held_.find("\r\n\r\n");
      if (end == std::string::npos || end > kPartHeaderBytesMax) {
        if (held_.size() > kPartHeaderBytesMax + 3) return absl::InvalidArgumentError(absl::StrCat("the headers of a part are longer than ", kPartHeaderBytesMax, " bytes"));
        return false;
      }
      CELLBLOCK_RETURN_IF_ERROR(BeginPart(absl::string_view(held_).substr(0, end)));
      held_.erase(0, end + 2);  // its last CRLF may begin the delimiter of an empty part
      state_ = State::kData;
      skip_ = 2;
      return true;
    }
    case State::kData: return StepData();
    case State::kEpilogue: held_.clear(); return false;
  }
  return false;
}

absl::StatusOr<bool> MultipartReader::StepData() {
  const size_t found = held_.find(delimiter_);
  // What may be the beginning of a delimiter is held back.
  const size_t safe = found != std::string::npos ? found : held_.size() - std::min(held_.size(), delimiter_.size() - 1);
  if (safe > skip_) CELLBLOCK_RETURN_IF_ERROR(sink_.data(absl::string_view(held_).substr(skip_, safe - skip_)));
  if (found == std::string::npos) {
    if (safe > skip_) {
      held_.erase(0, safe);
      skip_ = 0;
    }
    return false;
  }
  held_.erase(0, found + delimiter_.size());
  skip_ = 0;
  CELLBLOCK_RETURN_IF_ERROR(sink_.end());
  state_ = State::kAfterBoundary;
  return true;
}

absl::Status MultipartReader::BeginPart(absl::string_view headers) {
  if (++parts_ > kPartsMax) return absl::InvalidArgumentError(absl::StrCat("more than ", kPartsMax, " parts"));
  Part part;
  bool named = false;
  for (absl::string_view line : absl::StrSplit(headers, "\r\n", absl::SkipEmpty())) {
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos) return absl::InvalidArgumentError("a header of a part has no colon");
    const absl::string_view name = absl::StripAsciiWhitespace(line.substr(0, colon)), value = absl::StripAsciiWhitespace(line.substr(colon + 1));
    if (absl::EqualsIgnoreCase(name, "Content-Type")) part.content_type = std::string(value);
    if (!absl::EqualsIgnoreCase(name, "Content-Disposition")) continue;
    named = Parameter(value, "name", &part.name);
    part.is_file = Parameter(value, "filename", &part.file_name);
  }
  if (!named || part.name.empty()) return absl::InvalidArgumentError("a part has no name (Content-Disposition: form-data; name=\"…\")");
  return sink_.begin(part);
}

absl::Status MultipartReader::Finish() {
  if (state_ == State::kAfterBoundary) CELLBLOCK_RETURN_IF_ERROR(Read(""));
  if (state_ != State::kEpilogue) return absl::InvalidArgumentError("the multipart body ends before its last boundary");
  return absl::OkStatus();
}

}  // namespace cellblock::front
