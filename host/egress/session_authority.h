// A session's own certificate authority: with it the proxy ends TLS for the hosts whose requests it must see. Trusted inside that
// session's jail alone, and by its own name constraints for those hosts alone (RFC 5280, 4.2.1.10). Keys never leave the egress proxy.
#ifndef CELLBLOCK_EGRESS_SESSION_AUTHORITY_H_
#define CELLBLOCK_EGRESS_SESSION_AUTHORITY_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <boost/asio/ssl/context.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cellblock::egress {

inline constexpr size_t kLeavesMax = 256;  // hosts of one session at once; the oldest name goes first

class SessionAuthority {
 public:
  // `hosts`: canonical names and "*." patterns.
  static absl::StatusOr<std::unique_ptr<SessionAuthority>> Create(const std::vector<std::string>& hosts);
  const std::string& pem() const { return pem_; }
  // For a server that claims to be `host`; lives as long as this does and no other host is asked for.
  absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> ContextFor(const std::string& host);

 private:
  template <auto Free>
  struct Freer {
    template <typename T>
    void operator()(T* object) const {
      Free(object);
    }
  };
  using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
  using Certificate = std::unique_ptr<X509, Freer<X509_free>>;

  SessionAuthority() = default;
  static Certificate MakeCertificate(const std::string& name, EVP_PKEY* key);
  static bool Extend(X509* certificate, X509* issuer, int kind, const std::string& value);

  Key key_, leaf_key_;  // one key for all leaves: they are all this proxy's
  Certificate certificate_;
  std::string pem_;
  std::map<std::string, std::shared_ptr<boost::asio::ssl::context>> contexts_;
};

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_SESSION_AUTHORITY_H_
