// See messages.h.
#include "wire/messages.h"

namespace cellblock::wire {
namespace {

constexpr size_t kFieldsMax = 16 * kListEntriesMax;  // of one message

}  // namespace

namespace internal {

absl::StatusOr<Decoder> Decoder::Parse(absl::string_view bytes, uint64_t expected_type, bool has_type) {
  Decoder decoder;
  FieldReader reader(bytes);
  uint16_t tag;
  absl::string_view value;
  if (has_type) {
    uint64_t type;
    if (!reader.Next(&tag, &value) || tag != kTypeTag || !ParseU64(value, &type) || type != expected_type) {
      return absl::InvalidArgumentError(absl::StrCat("not a message of type ", expected_type));
    }
  }
  while (reader.Next(&tag, &value)) {
    if (decoder.fields_.size() >= kFieldsMax) return absl::InvalidArgumentError("too many fields in a message");
    decoder.fields_.emplace_back(tag, value);
  }
  if (!reader.status().ok()) return reader.status();
  return decoder;
}

const absl::string_view* Decoder::Single(uint16_t tag) {
  const absl::string_view* found = nullptr;
  for (const auto& [field_tag, value] : fields_) {
    if (field_tag != tag) continue;
    if (found != nullptr) {
      status_ = absl::InvalidArgumentError(absl::StrCat("field ", tag, " stands twice"));
      return nullptr;
    }
    found = &value;
  }
  if (found == nullptr) {
    status_ = absl::InvalidArgumentError(absl::StrCat("field ", tag, " is missing"));
  } else {
    ++used_;
  }
  return found;
}

void Decoder::operator()(uint16_t tag, uint64_t& value) {
  const absl::string_view* bytes = Single(tag);
  if (bytes != nullptr && !ParseU64(*bytes, &value)) status_ = absl::InvalidArgumentError(absl::StrCat("field ", tag, " is no number"));
}

void Decoder::operator()(uint16_t tag, std::string& value) {
  const absl::string_view* bytes = Single(tag);
  if (bytes != nullptr) value.assign(bytes->data(), bytes->size());
}

void Decoder::operator()(uint16_t tag, std::vector<std::string>& values) {
  for (const auto& [field_tag, value] : fields_) {
    if (field_tag != tag) continue;
    if (values.size() >= kListEntriesMax) {
      status_ = absl::InvalidArgumentError(absl::StrCat("field ", tag, " has more than ", kListEntriesMax, " entries"));
      return;
    }
    values.emplace_back(value.data(), value.size());
    ++used_;
  }
}

absl::Status Decoder::Finish() const {
  if (!status_.ok()) return status_;
  if (used_ != fields_.size()) return absl::InvalidArgumentError("unknown field in a message");
  return absl::OkStatus();
}

}  // namespace internal

uint64_t MessageType(absl::string_view bytes) {
  FieldReader reader(bytes);
  uint16_t tag;
  absl::string_view value;
  uint64_t type = 0;
  return reader.Next(&tag, &value) && tag == kTypeTag && ParseU64(value, &type) ? type : 0;
}

Reply ReplyFor(const absl::Status& status, uint64_t value) {
  Reply reply;
  reply.code = static_cast<uint64_t>(status.code());
  reply.message = std::string(status.message().substr(0, 4096));
  reply.value = value;
  return reply;
}

absl::Status StatusOf(const Reply& reply) {
  if (reply.code == 0) return absl::OkStatus();
  absl::StatusCode code = reply.code <= static_cast<uint64_t>(absl::StatusCode::kUnauthenticated) ? static_cast<absl::StatusCode>(reply.code) : absl::StatusCode::kUnknown;
  return absl::Status(code, reply.message);
}

}  // namespace cellblock::wire
