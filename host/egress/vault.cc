// See vault.h.
#include "egress/vault.h"

#include <openssl/crypto.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "egress/byte_redactor.h"
#include "sys/files.h"

namespace cellblock::egress {
namespace {

absl::StatusOr<std::string> ReadValue(const std::string& variable, const UniqueFd& file) {
  if (!variable.empty()) {
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr) return absl::FailedPreconditionError(absl::StrCat("the variable ", variable, " is not set where cellblock was started"));
    return std::string(value);
  }
  std::string value(kSecretBytesMax + 2, '\0');
  const ssize_t count = pread(file.get(), value.data(), value.size(), 0);
  if (count < 0) return sys::ErrnoStatus("read its file");
  value.resize(static_cast<size_t>(count));
  return value;
}

}  // namespace

absl::StatusOr<Secret> Secret::Read(NetworkSecret description, const std::string& variable, const UniqueFd& file) {
  const std::string what = absl::StrCat("network.secrets: ", description.name, ": ");
  absl::StatusOr<std::string> value = ReadValue(variable, file);
  if (!value.ok()) return absl::FailedPreconditionError(absl::StrCat(what, std::string(value.status().message())));
  if (!value->empty() && value->back() == '\n') value->pop_back();
  if (!value->empty() && value->back() == '\r') value->pop_back();
  Secret secret(std::move(description), *std::move(value));  // wiped from here on, whatever comes
  const std::string& held = secret.value_;
  if (held.size() < kSecretBytesMin) return absl::FailedPreconditionError(absl::StrCat(what, "its value has fewer than ", kSecretBytesMin, " bytes"));
  if (held.size() > kSecretBytesMax) return absl::FailedPreconditionError(absl::StrCat(what, "its value has more than ", kSecretBytesMax, " bytes"));
  if (std::any_of(held.begin(), held.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; })) {
    return absl::FailedPreconditionError(absl::StrCat(what, "its value holds a control character or a letter beyond ASCII; one line of ASCII text is taken"));
  }
  return secret;
}

Secret::~Secret() { OPENSSL_cleanse(value_.data(), value_.size()); }

std::string Secret::Formatted() const { return absl::StrReplaceAll(description_.format, {{"{secret}", value_}}); }

std::vector<std::string> Secret::Spellings() const { return SpellingsOf(value_); }

}  // namespace cellblock::egress
