// See client_hello.h.
#include "egress/client_hello.h"

#include <bitset>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "policy/host_name.h"

namespace cellblock::egress {
namespace {

constexpr size_t kRecordHeaderBytes = 5;
constexpr size_t kRecordBytesMax = 1 << 14;   // RFC 8446, 5.1
constexpr size_t kHandshakeHeaderBytes = 4;
constexpr uint8_t kHandshakeRecord = 22, kClientHelloMessage = 1;
constexpr size_t kRandomBytes = 32, kSessionIdBytesMax = 32;
constexpr uint16_t kServerName = 0;
// Encrypted ClientHello, its drafts since 08, and ESNI before them.
constexpr uint16_t kEncryptedHelloFirst = 0xfe08, kEncryptedHelloLast = 0xfe0d, kEncryptedServerName = 0xffce;

absl::Status Bad(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("TLS ClientHello: ", what)); }

// Takes numbers and counted bytes off the front. After something that is not there it is broken and gives zeros and empty texts.
class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}

  uint32_t Number(size_t width) {
    uint32_t number = 0;
    for (char c : Bytes(width)) number = number << 8 | static_cast<uint8_t>(c);
    return number;
  }
  absl::string_view Bytes(size_t count) {
    if (count > bytes_.size()) ok_ = false;
    if (!ok_) return {};
    absl::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  absl::string_view Counted(size_t width) { return Bytes(Number(width)); }
  bool ok() const { return ok_; }
  bool done() const { return !ok_ || bytes_.empty(); }

 private:
  absl::string_view bytes_;
  bool ok_ = true;
};

// The extension's content: one name of a host, and nothing else (RFC 6066, 3).
absl::Status ReadServerName(absl::string_view content, ClientHello& hello) {
  Reader outer(content);
  Reader list(outer.Counted(2));
  const uint32_t type = list.Number(1);
  const absl::string_view name = list.Counted(2);
  if (!outer.ok() || !list.ok()) return Bad("the server name is cut off");
  if (type != 0) return Bad("the server name is none of a host");
  if (!list.done() || !outer.done()) return Bad("more than one server name");
  absl::StatusOr<std::string> canonical = policy::CanonicalHost(name);
  if (!canonical.ok()) return Bad(absl::StrCat("server name: ", canonical.status().message()));
  hello.server_name = *std::move(canonical);
  return absl::OkStatus();
}

absl::Status ReadExtensions(absl::string_view content, ClientHello& hello) {
  std::bitset<65536> seen;
  for (Reader extensions(content); !extensions.done();) {
    const uint16_t type = static_cast<uint16_t>(extensions.Number(2));
    const absl::string_view data = extensions.Counted(2);
    if (!extensions.ok()) return Bad("an extension is cut off");
    if (seen.test(type)) return Bad(absl::StrCat("two extensions of type ", type));   // servers differ in which one they take
    seen.set(type);
    if (type == kServerName) CELLBLOCK_RETURN_IF_ERROR(ReadServerName(data, hello));
    if ((type >= kEncryptedHelloFirst && type <= kEncryptedHelloLast) || type == kEncryptedServerName) hello.has_encrypted_hello = true;
  }
  return absl::OkStatus();
}

absl::StatusOr<ClientHello> ReadMessage(absl::string_view message) {
  ClientHello hello;
  Reader reader(message);
  reader.Number(2);   // a version that all clients give as TLS 1.2
  reader.Bytes(kRandomBytes);
  const absl::string_view session_id = reader.Counted(1);
  const absl::string_view ciphers = reader.Counted(2);
  const absl::string_view compressions = reader.Counted(1);
  if (!reader.ok() || session_id.size() > kSessionIdBytesMax || ciphers.empty() || ciphers.size() % 2 != 0 || compressions.empty()) return Bad("broken");
  if (reader.done()) return hello;   // before TLS 1.3 extensions may be missing
  const absl::string_view extensions = reader.Counted(2);
  if (!reader.ok() || !reader.done()) return Bad("the extensions have another length than they say");
  CELLBLOCK_RETURN_IF_ERROR(ReadExtensions(extensions, hello));
  return hello;
}

}  // namespace

bool MayBeTls(absl::string_view bytes) {
  const auto at = [bytes](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  if (bytes.size() > 0 && at(0) != kHandshakeRecord) return false;
  if (bytes.size() > 1 && at(1) != 3) return false;
  if (bytes.size() > 2 && at(2) > 4) return false;
  if (bytes.size() > 4) {
    const size_t length = static_cast<size_t>(at(3)) << 8 | at(4);
    if (length == 0 || length > kRecordBytesMax) return false;
  }
  return bytes.size() <= kRecordHeaderBytes || at(kRecordHeaderBytes) == kClientHelloMessage;
}

absl::StatusOr<std::optional<ClientHello>> ReadClientHello(absl::string_view bytes) {
  if (!MayBeTls(bytes)) return Bad("the connection does not begin with one");
  std::string message;   // what the records carry
  absl::string_view rest = bytes;
  while (true) {
    if (message.size() >= kHandshakeHeaderBytes) {
      Reader header(message);
      header.Number(1);
      const size_t whole = kHandshakeHeaderBytes + header.Number(3);
      if (whole > kClientHelloBytesMax) return Bad(absl::StrCat("more than ", kClientHelloBytesMax, " bytes"));
      if (message.size() > whole) return Bad("bytes behind it in its record");
      if (message.size() == whole) {
        CELLBLOCK_ASSIGN_OR_RETURN(ClientHello hello, ReadMessage(absl::string_view(message).substr(kHandshakeHeaderBytes)));
        return hello;
      }
    }
    const size_t before = bytes.size() - rest.size();
    if (rest.size() < kRecordHeaderBytes) break;
    Reader record(rest);
    const uint32_t type = record.Number(1), version = record.Number(2);
    const size_t length = record.Number(2);
    if (type != kHandshakeRecord || version >> 8 != 3 || length == 0 || length > kRecordBytesMax) return Bad("another record before its end");
    if (before + kRecordHeaderBytes + length > kClientHelloBytesMax) return Bad(absl::StrCat("more than ", kClientHelloBytesMax, " bytes"));
    if (rest.size() < kRecordHeaderBytes + length) break;
    message.append(rest.data() + kRecordHeaderBytes, length);
    rest.remove_prefix(kRecordHeaderBytes + length);
  }
  return std::nullopt;
}

}  // namespace cellblock::egress
