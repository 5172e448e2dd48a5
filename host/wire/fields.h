// The body of every message between our processes: a flat list of fields {tag u16, length u32, bytes}, little endian. Nothing is
// nested, nothing is allocated before its length is known to lie inside the message. All processes; what a reader gets is
// untrusted.
#ifndef CELLBLOCK_WIRE_FIELDS_H_
#define CELLBLOCK_WIRE_FIELDS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cellblock::wire {

class FieldWriter {
 public:
  void Bytes(uint16_t tag, absl::string_view value);
  void U64(uint16_t tag, uint64_t value);
  const std::string& data() const { return data_; }
  std::string Take() { return std::move(data_); }

 private:
  std::string data_;
};

// Views into `data`, which must outlive the reader.
class FieldReader {
 public:
  explicit FieldReader(absl::string_view data) : rest_(data) {}
  // The next field; false at the end or at a malformed field (then status() is not ok).
  bool Next(uint16_t* tag, absl::string_view* value);
  const absl::Status& status() const { return status_; }

 private:
  absl::string_view rest_;
  absl::Status status_;
};

// A U64 field's value; false unless it has exactly 8 bytes.
bool ParseU64(absl::string_view value, uint64_t* out);
inline bool ParseI64(absl::string_view value, int64_t* out) { return ParseU64(value, reinterpret_cast<uint64_t*>(out)); }

}  // namespace cellblock::wire

#endif  // CELLBLOCK_WIRE_FIELDS_H_
