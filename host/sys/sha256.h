// SHA-256 by OpenSSL, for names that follow from content. Supervisor; any bytes. Of a target of its own: cellblock-init has no OpenSSL.
#ifndef CELLBLOCK_SYS_SHA256_H_
#define CELLBLOCK_SYS_SHA256_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct evp_md_ctx_st;

namespace cellblock::sys {

class Sha256 {
 public:
  Sha256();
  void Update(absl::string_view bytes);
  absl::StatusOr<std::string> Hex();  // of all so far, 64 digits; once

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
  bool good_ = false;
};

// From the descriptor's offset to its end.
absl::StatusOr<std::string> Sha256OfFile(int fd);

}  // namespace cellblock::sys

#endif  // CELLBLOCK_SYS_SHA256_H_
