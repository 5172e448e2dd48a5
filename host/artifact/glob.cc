// See glob.h.
#include "artifact/glob.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "capture/utf8.h"

namespace cellblock::artifact {
namespace {

// Bytes that one `?` takes.
size_t CharacterBytes(absl::string_view text) {
  capture::Utf8Sequence sequence = capture::ScanSequence(text);
  return sequence.kind == capture::Utf8Sequence::Kind::kCharacter ? sequence.bytes : 1;
}

// Only the last `*` is ever gone back to, so that "*a*a*a*b" costs no more than pattern × name.
bool NameMatches(absl::string_view pattern, absl::string_view name) {
  size_t p = 0, n = 0;
  size_t star = absl::string_view::npos, star_name = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p;
      n += CharacterBytes(name.substr(n));
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      star_name += CharacterBytes(name.substr(star_name));
      n = star_name;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

Glob::Glob(absl::string_view pattern) : patterns_(absl::StrSplit(pattern, '/')) {}

// The same walk as NameMatches, with names for characters and `**` for the star.
bool Glob::Matches(absl::string_view path) const {
  const std::vector<absl::string_view> names = absl::StrSplit(path, '/');
  constexpr size_t kNone = ~size_t{0};
  size_t p = 0, n = 0;
  size_t star = kNone, star_name = 0;
  while (n < names.size()) {
    if (p < patterns_.size() && patterns_[p] == "**") {
      star = p++;
      star_name = n;
    } else if (p < patterns_.size() && NameMatches(patterns_[p], names[n])) {
      ++p;
      ++n;
    } else if (star != kNone) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (p < patterns_.size() && patterns_[p] == "**") ++p;
  return p == patterns_.size();
}

PathFilter::PathFilter(const std::vector<std::string>& include, const std::vector<std::string>& exclude) {
  for (const std::string& pattern : include) include_.emplace_back(pattern);
  for (const std::string& pattern : exclude) exclude_.emplace_back(pattern);
}

bool PathFilter::Includes(absl::string_view path) const {
  auto matches = [path](const Glob& glob) { return glob.Matches(path); };
  return std::none_of(exclude_.begin(), exclude_.end(), matches) && std::any_of(include_.begin(), include_.end(), matches);
}

bool PathFilter::SkipsFolder(absl::string_view folder) const {
  return std::any_of(exclude_.begin(), exclude_.end(), [folder](const Glob& glob) { return glob.Matches(folder); });
}

}  // namespace cellblock::artifact
