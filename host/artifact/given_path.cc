// See given_path.h.
#include "artifact/given_path.h"

#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "capture/utf8.h"

namespace cellblock::artifact {

absl::Status RefuseGivenPath(absl::string_view path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("file name \"", absl::Utf8SafeCHexEscape(path.substr(0, 200)), "\" is refused: ", why));
}

absl::Status CheckGivenPath(absl::string_view path) {
  if (path.empty()) return RefuseGivenPath(path, "it is empty");
  if (path.size() > kGivenPathBytesMax) return RefuseGivenPath(path, absl::StrCat("it is longer than ", kGivenPathBytesMax, " bytes"));
  if (path[0] == '/') return RefuseGivenPath(path, "it is absolute; names are relative to /workspace");
  for (unsigned char c : path) {
    if (c < 0x20 || c == 0x7f) return RefuseGivenPath(path, "it holds a control character");
  }
  if (!capture::IsValidUtf8(path)) return RefuseGivenPath(path, "it is not UTF-8");  // no list and no record could name it
  std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  if (parts.size() > static_cast<size_t>(kGivenPartsMax)) return RefuseGivenPath(path, absl::StrCat("it is deeper than ", kGivenPartsMax, " folders"));
  for (absl::string_view part : parts) {
    if (part.empty() || part == "." || part == "..") return RefuseGivenPath(path, "it has an empty, \".\" or \"..\" part");
    if (part.size() > kGivenPartBytesMax) return RefuseGivenPath(path, absl::StrCat("a part of it is longer than ", kGivenPartBytesMax, " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace cellblock::artifact
