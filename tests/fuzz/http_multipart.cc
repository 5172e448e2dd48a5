// Fuzzes multipart bodies. The input is a Content-Type up to the first line's end, then the body. However the body is cut, the same
// parts come out of it, or it is refused; no more than a part's headers and a boundary is ever held back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "front/http/multipart.h"

namespace {

using namespace cellblock;         // NOLINT: one file
using namespace cellblock::front;  // NOLINT: one file

struct Got {
  Part part;
  std::string data;
  bool ended = false;
  bool operator==(const Got& other) const {
    return part.name == other.part.name && part.file_name == other.part.file_name && part.is_file == other.part.is_file && part.content_type == other.part.content_type &&
           data == other.data && ended == other.ended;
  }
};

// False: refused.
bool Read(absl::string_view boundary, absl::string_view body, size_t piece, std::vector<Got>* got) {
  auto begin = [&](const Part& part) {
    CELLBLOCK_CHECK(got->empty() || got->back().ended);
    CELLBLOCK_CHECK(!part.name.empty() && part.name.size() + part.file_name.size() <= kPartHeaderBytesMax);
    got->push_back({part, "", false});
    return absl::OkStatus();
  };
  auto data = [&](absl::string_view text) {
    CELLBLOCK_CHECK(!got->empty() && !got->back().ended && !text.empty());
    absl::StrAppend(&got->back().data, text);
    return absl::OkStatus();
  };
  auto end = [&] {
    CELLBLOCK_CHECK(!got->empty() && !got->back().ended);
    got->back().ended = true;
    return absl::OkStatus();
  };
  MultipartReader reader(boundary, {begin, data, end});
  for (size_t at = 0; at < body.size(); at += piece) {
    if (!reader.Read(body.substr(at, piece)).ok()) return false;
  }
  if (!reader.Finish().ok()) return false;
  CELLBLOCK_CHECK(got->size() <= kPartsMax);
  CELLBLOCK_CHECK(got->empty() || got->back().ended);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(input.find('\n'), size);
  const absl::StatusOr<std::string> boundary = BoundaryOf(input.substr(0, line));
  if (!boundary.ok() || boundary->empty()) return 0;
  const absl::string_view body = input.substr(std::min(line + 1, size));
  std::vector<Got> whole;
  const bool taken = Read(*boundary, body, std::max<size_t>(body.size(), 1), &whole);
  for (size_t piece : {size_t{1}, size_t{3}, size_t{61}}) {
    std::vector<Got> cut;
    CELLBLOCK_CHECK(Read(*boundary, body, piece, &cut) == taken);
    CELLBLOCK_CHECK(!taken || cut == whole);
  }
  return 0;
}
