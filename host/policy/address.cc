// See address.h.
#include "policy/address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "policy/text.h"

namespace cellblock::policy {
namespace {

struct Special {
  Address base;
  int bits;
  absl::string_view use;
  bool is_never_allowed;
};

constexpr Special Four(uint8_t a, uint8_t b, uint8_t c, uint8_t d, int bits, absl::string_view use, bool is_never_allowed = false) {
  return {{true, {a, b, c, d}}, bits, use, is_never_allowed};
}
// By the eight groups of an IPv6 address, those at its end left out where they are 0.
constexpr Special Six(std::array<uint16_t, 8> groups, int bits, absl::string_view use, bool is_never_allowed = false) {
  Special special = {{false, {}}, bits, use, is_never_allowed};
  for (size_t i = 0; i < groups.size(); ++i) {
    special.base.bytes[2 * i] = static_cast<uint8_t>(groups[i] >> 8);
    special.base.bytes[2 * i + 1] = static_cast<uint8_t>(groups[i] & 0xFF);
  }
  return special;
}
constexpr bool kNever = true;

// The first row that holds an address says what it is, so narrower ones stand above wider ones.
constexpr Special kSpecials[] = {
    // Metadata services of clouds beside 169.254.169.254: Azure's lies in public space, Alibaba's in the shared, Oracle's old one in the
    // reserved, and those by IPv6 in the unique-local.
    Four(168, 63, 129, 16, 32, "cloud metadata", kNever),
    Four(100, 100, 100, 200, 32, "cloud metadata", kNever),
    Four(192, 0, 0, 192, 32, "cloud metadata", kNever),
    Six({0xFD00, 0x0EC2, 0, 0, 0, 0, 0, 0x0254}, 128, "cloud metadata", kNever),
    Six({0xFD20, 0x00CE, 0, 0, 0, 0, 0, 0x0254}, 128, "cloud metadata", kNever),
    Four(0, 0, 0, 0, 8, "unspecified", kNever),  // Linux takes 0.0.0.0 for itself; the rest is "this network"
    Four(10, 0, 0, 0, 8, "private"),
    Four(100, 64, 0, 0, 10, "shared (CGNAT)"),
    Four(127, 0, 0, 0, 8, "loopback"),
    Four(169, 254, 0, 0, 16, "link-local", kNever),
    Four(172, 16, 0, 0, 12, "private"),
    Four(192, 0, 0, 0, 24, "reserved"),
    Four(192, 0, 2, 0, 24, "documentation"),
    Four(192, 88, 99, 0, 24, "6to4", kNever),  // the relays' shared address
    Four(192, 168, 0, 0, 16, "private"),
    Four(198, 18, 0, 0, 15, "benchmark", kNever),
    Four(198, 51, 100, 0, 24, "documentation"),
    Four(203, 0, 113, 0, 24, "documentation"),
    Four(224, 0, 0, 0, 4, "multicast", kNever),
    Four(255, 255, 255, 255, 32, "broadcast", kNever),
    Four(240, 0, 0, 0, 4, "reserved"),
    Six({0}, 128, "unspecified", kNever),
    Six({0, 0, 0, 0, 0, 0, 0, 1}, 128, "loopback"),
    Six({0, 0, 0, 0, 0, 0xFFFF}, 96, "v4-mapped", kNever),
    Six({0}, 96, "v4-compatible", kNever),
    Six({0, 0, 0, 0, 0xFFFF}, 96, "v4-translated", kNever),  // RFC 7915
    Six({0x0064, 0xFF9B}, 96, "NAT64", kNever),
    Six({0x0064, 0xFF9B, 1}, 48, "NAT64", kNever),
    Six({0x2001}, 32, "Teredo", kNever),
    Six({0x2001, 0x0002}, 48, "benchmark"),
    Six({0x2001, 0x0010}, 28, "ORCHID"),
    Six({0x2001, 0x0020}, 28, "ORCHID"),
    Six({0x2001}, 23, "reserved"),
    Six({0x2001, 0x0DB8}, 32, "documentation"),
    Six({0x2002}, 16, "6to4", kNever),
    Six({0x3FFF}, 20, "documentation"),
    Six({0xFC00}, 7, "unique-local"),
    Six({0xFE80}, 10, "link-local", kNever),
    Six({0xFEC0}, 10, "site-local"),
    Six({0xFF00}, 8, "multicast", kNever),
};
constexpr Special kPublicSix = Six({0x2000}, 3, "");
constexpr Special kOtherSix = Six({0}, 0, "reserved");

// Whether the first `bits` bits of two addresses of one kind are the same.
bool SharePrefix(const Address& a, const Address& b, int bits) {
  if (a.is_v4 != b.is_v4) return false;
  size_t whole = static_cast<size_t>(bits / 8);
  if (!std::equal(a.bytes.begin(), a.bytes.begin() + static_cast<std::ptrdiff_t>(whole), b.bytes.begin())) return false;
  int rest = bits % 8;
  return rest == 0 || (a.bytes[whole] ^ b.bytes[whole]) >> (8 - rest) == 0;
}

// The row that says what an address is; null for a public one.
const Special* FindSpecial(const Address& address) {
  for (const Special& special : kSpecials) {
    if (SharePrefix(address, special.base, special.bits)) return &special;
  }
  return address.is_v4 || SharePrefix(address, kPublicSix.base, kPublicSix.bits) ? nullptr : &kOtherSix;
}

// With the bits beyond the prefix cleared.
Address FirstOf(Address address, int bits) {
  for (int i = bits; i < address.bits(); ++i) address.bytes[static_cast<size_t>(i / 8)] &= static_cast<uint8_t>(~(0x80 >> i % 8));
  return address;
}

// The row of a never allowed range that this one touches, if any. Rows of one address alone don't count for a wider range: within it
// they stay closed (Contains).
const Special* FindClosed(const AddressRange& range) {
  if (range.is_single()) {
    const Special* special = FindSpecial(range.base);
    return special != nullptr && special->is_never_allowed ? special : nullptr;
  }
  for (const Special& special : kSpecials) {
    if (!special.is_never_allowed || special.bits == special.base.bits()) continue;
    if (SharePrefix(range.base, special.base, std::min(range.bits, special.bits))) return &special;
  }
  return nullptr;
}

absl::Status Refuse(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(Shown(text), " ", why));
}

}  // namespace

absl::StatusOr<Address> Address::Parse(absl::string_view text) {
  Address address;
  std::string terminated(text);
  bool has_nul = terminated.find('\0') != std::string::npos;
  address.is_v4 = terminated.find(':') == std::string::npos;
  if (has_nul || inet_pton(address.is_v4 ? AF_INET : AF_INET6, terminated.c_str(), address.bytes.data()) != 1) {
    return Refuse(text, "is not an IP address such as 10.0.0.7 or fd00::7");
  }
  return address;
}

Address Address::V4(uint32_t number) {
  Address address;
  for (size_t i = 0; i < 4; ++i) address.bytes[i] = static_cast<uint8_t>(number >> (24 - 8 * i));
  return address;
}

std::string Address::ToString() const {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(is_v4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

absl::StatusOr<AddressRange> AddressRange::Parse(absl::string_view text) {
  size_t slash = text.find('/');
  absl::StatusOr<Address> base = Address::Parse(text.substr(0, slash));
  if (!base.ok()) return Refuse(text, "is not an IP address such as 10.0.0.7, nor a range such as 10.0.0.0/8");
  AddressRange range{*base, base->bits()};
  if (slash != absl::string_view::npos) {
    absl::string_view digits = text.substr(slash + 1);
    bool is_number = !digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == absl::string_view::npos &&
                     (digits[0] != '0' || digits.size() == 1);
    if (!is_number || !absl::SimpleAtoi(digits, &range.bits) || range.bits > base->bits()) {
      return Refuse(text, absl::StrCat("has a prefix that is not a number of 0 – ", base->bits()));
    }
  }
  if (AddressRange whole{FirstOf(range.base, range.bits), range.bits}; !(whole == range)) {
    return Refuse(text, absl::StrCat("has bits set beyond its prefix; write ", whole.ToString(), ", or the one address without a prefix"));
  }
  if (const Special* closed = FindClosed(range); closed != nullptr) {
    return Refuse(text, absl::StrCat("touches ", AddressRange{closed->base, closed->bits}.ToString(), " (", closed->use,
                                     "), which no policy can open"));
  }
  return range;
}

bool AddressRange::Contains(const Address& address) const { return SharePrefix(base, address, bits) && !NeverAllowed(address); }

std::string AddressRange::ToString() const { return is_single() ? base.ToString() : absl::StrCat(base.ToString(), "/", bits); }

absl::string_view SpecialUse(const Address& address) {
  const Special* special = FindSpecial(address);
  return special == nullptr ? absl::string_view() : special->use;
}

bool NeverAllowed(const Address& address) {
  const Special* special = FindSpecial(address);
  return special != nullptr && special->is_never_allowed;
}

}  // namespace cellblock::policy
