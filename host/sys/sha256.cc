// See sha256.h.
#include "sys/sha256.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/strings/escaping.h"
#include "sys/files.h"

namespace cellblock::sys {

constexpr size_t kReadBytes = 256 * 1024;

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) { good_ = context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1; }

void Sha256::Update(absl::string_view bytes) { good_ = good_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1; }

absl::StatusOr<std::string> Sha256::Hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (!good_ || EVP_DigestFinal_ex(context_.get(), digest, &size) != 1) return absl::InternalError("SHA-256 is not available in OpenSSL");
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

absl::StatusOr<std::string> Sha256OfFile(int fd) {
  Sha256 sha256;
  std::string buffer(kReadBytes, '\0');
  while (true) {
    ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus("read");
    if (count == 0) return sha256.Hex();
    sha256.Update(absl::string_view(buffer.data(), static_cast<size_t>(count)));
  }
}

}  // namespace cellblock::sys
