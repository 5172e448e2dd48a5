// Reads the server name from the first bytes of a TLS connection, without ending it (RFC 8446, 4.1.2; RFC 6066, 3). Egress proxy; the
// bytes come from the session's code and are hostile. Pure.
#ifndef CELLBLOCK_EGRESS_CLIENT_HELLO_H_
#define CELLBLOCK_EGRESS_CLIENT_HELLO_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::egress {

inline constexpr size_t kClientHelloBytesMax = 16 * 1024;  // with record headers; those of today's clients have 200 to 2,000

struct ClientHello {
  std::string server_name;         // canonical; empty when the client gave none
  bool has_encrypted_hello = false;  // an encrypted ClientHello: the name in the clear need not be the one that counts (RFC 9849)
};

// Whether `bytes` can be the beginning of a TLS connection at all (true for none).
bool MayBeTls(absl::string_view bytes);

// nullopt: more bytes are needed. kInvalidArgument: no ClientHello, or one that is broken, has two names, a name that is no host name,
// or more than kClientHelloBytesMax. A hello may be spread over several records.
absl::StatusOr<std::optional<ClientHello>> ReadClientHello(absl::string_view bytes);

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_CLIENT_HELLO_H_
