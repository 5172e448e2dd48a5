// Fuzzes the first bytes of TLS connections: more bytes never change an answer, records of other sizes neither, and a name that is given
// is the name of a host.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "egress/client_hello.h"
#include "policy/host_name.h"

namespace {

using namespace cellblock::egress;  // NOLINT: one file

bool Same(const absl::StatusOr<std::optional<ClientHello>>& a, const absl::StatusOr<std::optional<ClientHello>>& b) {
  if (a.ok() != b.ok() || !a.ok()) return a.ok() == b.ok();
  if (a->has_value() != b->has_value() || !a->has_value()) return a->has_value() == b->has_value();
  return (*a)->server_name == (*b)->server_name && (*a)->has_encrypted_hello == (*b)->has_encrypted_hello;
}

// A hello in one record, as records of `piece` bytes.
std::string Fragmented(absl::string_view bytes, size_t piece) {
  std::string records;
  for (absl::string_view rest = bytes.substr(5); !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
    const absl::string_view part = rest.substr(0, piece);
    absl::StrAppend(&records, "\x16\x03\x01", std::string(1, static_cast<char>(part.size() >> 8)), std::string(1, static_cast<char>(part.size() & 0xff)), part);
  }
  return records;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<std::optional<ClientHello>> hello = ReadClientHello(bytes);
  if (!MayBeTls(bytes)) CELLBLOCK_CHECK(!hello.ok());
  if (!hello.ok()) {
    CELLBLOCK_CHECK(absl::IsInvalidArgument(hello.status()) && hello.status().message().size() < 1000);
    return 0;
  }
  CELLBLOCK_CHECK(hello->has_value() || size < kClientHelloBytesMax + 5);   // it cannot ask for more for ever
  // No beginning of what is taken is refused.
  for (size_t length = 0; length < size; length += 1 + size / 16) CELLBLOCK_CHECK(ReadClientHello(bytes.substr(0, length)).ok());
  if (!hello->has_value()) return 0;
  CELLBLOCK_CHECK(Same(hello, ReadClientHello(absl::StrCat(bytes, "x"))));
  const std::string& name = (*hello)->server_name;
  if (!name.empty()) CELLBLOCK_CHECK(*cellblock::policy::CanonicalHost(name) == name);
  const size_t length = static_cast<size_t>(data[3]) << 8 | data[4];
  if (length + 5 == size && size < 4096) CELLBLOCK_CHECK(Same(hello, ReadClientHello(Fragmented(bytes, 100))));
  return 0;
}
