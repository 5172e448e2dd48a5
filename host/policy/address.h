// IP addresses, compared as numbers, and which of them lead somewhere that code must not reach. Supervisor and egress proxy; texts come
// from policies and from the session's code, and are trusted with nothing. Pure.
#ifndef CELLBLOCK_POLICY_ADDRESS_H_
#define CELLBLOCK_POLICY_ADDRESS_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::policy {

// IPv4 addresses are kept as such; an IPv6 address that only carries one (v4-mapped) is not the same address.
struct Address {
  bool is_v4 = true;
  std::array<uint8_t, 16> bytes = {};   // IPv4: the first four, the others 0

  // inet_pton(3) spellings alone: no "010.1", no "0x7f.1", no zone. kInvalidArgument starts with the text.
  static absl::StatusOr<Address> Parse(absl::string_view text);
  static Address V4(uint32_t number);   // host byte order
  std::string ToString() const;
  int bits() const { return is_v4 ? 32 : 128; }
  friend bool operator==(const Address&, const Address&) = default;
};

// "10.0.0.0/8", "fd00::/8"; an address alone is one with all its bits.
struct AddressRange {
  Address base;
  int bits = 32;

  // Refuses a base with bits set beyond the prefix ("10.0.0.1/8"), and a range that touches one of those of NeverAllowed(), but for the
  // single addresses of metadata services: these stay closed within a wider range.
  static absl::StatusOr<AddressRange> Parse(absl::string_view text);
  // False for what NeverAllowed() names, whatever the range.
  bool Contains(const Address& address) const;
  bool is_single() const { return bits == base.bits(); }
  // "10.0.0.0/8"; of a single address the address.
  std::string ToString() const;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

// What kind of special address this is: "loopback", "private", "link-local", "shared (CGNAT)", "multicast", "unspecified", "broadcast",
// "reserved", "documentation", "benchmark", "unique-local", "site-local", "v4-mapped", "v4-compatible", "v4-translated", "NAT64", "6to4",
// "Teredo", "ORCHID", "cloud metadata"; empty for an address of the public Internet. By the IANA special-purpose registries (RFC 6890 and
// its updates) and the clouds' own pages; of IPv6 only 2000::/3 is public.
absl::string_view SpecialUse(const Address& address);

// Special addresses that no policy can open: link-local (cloud metadata) and the other addresses of clouds' metadata services, multicast,
// broadcast, unspecified, 198.18.0.0/15 (the session's own names), and IPv6 forms that carry an IPv4 address.
bool NeverAllowed(const Address& address);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_ADDRESS_H_
