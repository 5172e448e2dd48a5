// See safe_name.h.
#include "app/safe_name.h"

#include <openssl/evp.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "app/terminal_text.h"
#include "policy/text.h"

namespace cellblock::app {
namespace {

constexpr size_t kDigestCharacters = 16;  // 64 bits: names that differ meet by chance once in billions of files
constexpr size_t kEndingBytesMax = 16;

bool IsUnsafe(char32_t code, bool first) {
  return code < 0x20 || policy::IsHidden(code) || code == '/' || (first && (code == '.' || code == '-'));
}

// Cuts at most at `bytes_max`, never inside a character.
absl::string_view CutAtCharacter(absl::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

std::string Shorten(const std::string& name) {
  const size_t dot = name.rfind('.');
  const bool has_ending = dot != std::string::npos && dot > 0 && name.size() - dot <= kEndingBytesMax;
  const std::string ending = has_ending ? name.substr(dot) : "";
  const absl::string_view head = CutAtCharacter(name, kNameBytesMax - kDigestCharacters - 1 - ending.size());
  return absl::StrCat(head, "-", Sha256Hex(name).substr(0, kDigestCharacters), ending);
}

}  // namespace

std::string SafeComponent(absl::string_view component) {
  std::string out;
  absl::string_view rest = component;
  while (!rest.empty()) {
    const policy::Character character = policy::NextCharacter(rest);
    const absl::string_view bytes = rest.substr(0, static_cast<size_t>(std::max(character.bytes, 1)));
    if (character.bytes < 0 || IsUnsafe(character.code, out.empty())) {
      for (char byte : bytes) absl::StrAppendFormat(&out, "%%%02X", static_cast<unsigned char>(byte));
    } else {
      out.append(bytes.data(), bytes.size());
    }
    rest.remove_prefix(bytes.size());
  }
  return out.size() > kNameBytesMax ? Shorten(out) : out;
}

absl::StatusOr<std::vector<std::string>> SafePath(absl::string_view path) {
  std::vector<std::string> components;
  for (absl::string_view component : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    if (components.size() == kPathComponentsMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("a path deeper than ", kPathComponentsMax, " folders: ", NeutralizeLine(path.substr(0, 200))));
    }
    components.push_back(SafeComponent(component));
  }
  if (components.empty()) return absl::InvalidArgumentError("an empty path");
  return components;
}

std::string Sha256Hex(absl::string_view data) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), digest, &size, EVP_sha256(), nullptr) != 1) size = 0;
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

}  // namespace cellblock::app
