// See session_authority.h.
#include "egress/session_authority.h"

#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cellblock::egress {
namespace {

constexpr long kBackdateSeconds = 24 * 3600;          // clocks inside may be set back by what reads them
constexpr long kLifeSeconds = 60L * 24 * 3600;        // beyond the longest session.life
constexpr int kSerialBytes = 16;

EVP_PKEY* NewKey() { return EVP_EC_gen("P-256"); }

// Chooses HTTP/1.1 where the client offers it; HTTP/2 is not spoken here.
int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* in, unsigned int in_length, void*) {
  static constexpr unsigned char kOurs[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, kOurs, sizeof(kOurs) - 1, in, in_length) != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

SessionAuthority::Certificate SessionAuthority::MakeCertificate(const std::string& name, EVP_PKEY* key) {
  Certificate made(X509_new());
  unsigned char serial[kSerialBytes];
  if (made == nullptr || RAND_bytes(serial, sizeof(serial)) != 1) return nullptr;
  serial[0] = static_cast<unsigned char>((serial[0] & 0x3f) | 0x40);  // positive, and no leading zero
  std::unique_ptr<BIGNUM, Freer<BN_free>> number(BN_bin2bn(serial, sizeof(serial), nullptr));
  X509_NAME* subject = X509_get_subject_name(made.get());
  const bool fine = X509_set_version(made.get(), 2) == 1 && number != nullptr && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(made.get())) != nullptr &&
                    X509_gmtime_adj(X509_getm_notBefore(made.get()), -kBackdateSeconds) != nullptr && X509_gmtime_adj(X509_getm_notAfter(made.get()), kLifeSeconds) != nullptr &&
                    X509_set_pubkey(made.get(), key) == 1 &&
                    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0) == 1;
  return fine ? std::move(made) : nullptr;
}

bool SessionAuthority::Extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>> extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

absl::StatusOr<std::unique_ptr<SessionAuthority>> SessionAuthority::Create(const std::vector<std::string>& hosts) {
  std::unique_ptr<SessionAuthority> authority(new SessionAuthority());
  authority->key_.reset(NewKey());
  authority->leaf_key_.reset(NewKey());
  if (authority->key_ == nullptr || authority->leaf_key_ == nullptr) return absl::InternalError("a key for the session's certificates could not be made");
  authority->certificate_ = MakeCertificate("Cellblock: this session's egress proxy", authority->key_.get());
  X509* certificate = authority->certificate_.get();
  std::string permitted = "critical";
  for (const std::string& host : hosts) absl::StrAppend(&permitted, ",permitted;DNS:", absl::StartsWith(host, "*.") ? host.substr(2) : host);
  const bool fine = certificate != nullptr && X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1 &&
                    Extend(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    Extend(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") && Extend(certificate, certificate, NID_subject_key_identifier, "hash") &&
                    Extend(certificate, certificate, NID_name_constraints, permitted) && X509_sign(certificate, authority->key_.get(), EVP_sha256()) > 0;
  std::unique_ptr<BIO, Freer<BIO_free>> memory(BIO_new(BIO_s_mem()));
  if (!fine || memory == nullptr || PEM_write_bio_X509(memory.get(), certificate) != 1) return absl::InternalError("the session's certificate authority could not be made");
  char* text = nullptr;
  const long length = BIO_get_mem_data(memory.get(), &text);
  authority->pem_.assign(text, static_cast<size_t>(length));
  return authority;
}

absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> SessionAuthority::ContextFor(const std::string& host) {
  if (auto found = contexts_.find(host); found != contexts_.end()) return found->second;
  Certificate leaf = MakeCertificate(host.size() <= 64 ? host : "host", leaf_key_.get());  // a common name has at most 64 characters
  const bool fine = leaf != nullptr && X509_set_issuer_name(leaf.get(), X509_get_subject_name(certificate_.get())) == 1 &&
                    Extend(leaf.get(), certificate_.get(), NID_basic_constraints, "critical,CA:FALSE") &&
                    Extend(leaf.get(), certificate_.get(), NID_key_usage, "critical,digitalSignature") &&
                    Extend(leaf.get(), certificate_.get(), NID_ext_key_usage, "serverAuth") && Extend(leaf.get(), certificate_.get(), NID_subject_key_identifier, "hash") &&
                    Extend(leaf.get(), certificate_.get(), NID_authority_key_identifier, "keyid:always") &&
                    Extend(leaf.get(), certificate_.get(), NID_subject_alt_name, absl::StrCat("DNS:", host)) && X509_sign(leaf.get(), key_.get(), EVP_sha256()) > 0;
  if (!fine) return absl::InternalError(absl::StrCat("a certificate for ", host, " could not be made"));
  auto context = std::make_shared<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_alpn_select_cb(native, ChooseProtocol, nullptr);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);  // else some 20,000 a host are kept
  SSL_CTX_set_num_tickets(native, 0);
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  if (SSL_CTX_use_certificate(native, leaf.get()) != 1 || SSL_CTX_use_PrivateKey(native, leaf_key_.get()) != 1) return absl::InternalError("the session's certificate could not be used");
  if (contexts_.size() >= kLeavesMax) contexts_.erase(contexts_.begin());
  return contexts_.emplace(host, std::move(context)).first->second;
}

}  // namespace cellblock::egress
