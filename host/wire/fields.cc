// See fields.h.
#include "wire/fields.h"

#include <cstring>

#include "base/log.h"

namespace cellblock::wire {
namespace {

constexpr size_t kHeaderBytes = sizeof(uint16_t) + sizeof(uint32_t);

}  // namespace

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "fields are written in host order");

void FieldWriter::Bytes(uint16_t tag, absl::string_view value) {
  CELLBLOCK_CHECK(value.size() <= UINT32_MAX);
  uint32_t length = static_cast<uint32_t>(value.size());
  data_.append(reinterpret_cast<const char*>(&tag), sizeof(tag));
  data_.append(reinterpret_cast<const char*>(&length), sizeof(length));
  data_.append(value.data(), value.size());
}

void FieldWriter::U64(uint16_t tag, uint64_t value) {
  Bytes(tag, absl::string_view(reinterpret_cast<const char*>(&value), sizeof(value)));
}

bool FieldReader::Next(uint16_t* tag, absl::string_view* value) {
  if (rest_.empty() || !status_.ok()) return false;
  uint32_t length;
  if (rest_.size() < kHeaderBytes) {
    status_ = absl::InvalidArgumentError("message ends inside a field header");
    return false;
  }
  std::memcpy(tag, rest_.data(), sizeof(*tag));
  std::memcpy(&length, rest_.data() + sizeof(*tag), sizeof(length));
  rest_.remove_prefix(kHeaderBytes);
  if (length > rest_.size()) {
    status_ = absl::InvalidArgumentError("message ends inside a field");
    return false;
  }
  *value = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return true;
}

bool ParseU64(absl::string_view value, uint64_t* out) {
  if (value.size() != sizeof(*out)) return false;
  std::memcpy(out, value.data(), sizeof(*out));
  return true;
}

}  // namespace cellblock::wire
