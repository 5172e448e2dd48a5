// multipart/form-data (RFC 7578) as it arrives, piece by piece: nothing is held but a part's headers and a boundary that is not yet
// complete. Supervisor; every byte is a client's.
#ifndef CELLBLOCK_FRONT_HTTP_MULTIPART_H_
#define CELLBLOCK_FRONT_HTTP_MULTIPART_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::front {

inline constexpr size_t kPartHeaderBytesMax = 8 * 1024;
inline constexpr size_t kPartsMax = 1000;

struct Part {
  std::string name;
  std::string file_name;       // as sent: a hostile text, perhaps a path
  bool is_file = false;        // it has a file name, be it empty
  std::string content_type;
};

// "" when `content_type` is no multipart/form-data, kInvalidArgument when its boundary is missing or none.
absl::StatusOr<std::string> BoundaryOf(absl::string_view content_type);

class MultipartReader {
 public:
  struct Sink {
    std::function<absl::Status(const Part&)> begin;
    std::function<absl::Status(absl::string_view)> data;
    std::function<absl::Status()> end;
  };
  MultipartReader(absl::string_view boundary, Sink sink);

  // kInvalidArgument: not multipart, a part without a name, headers too long, too many parts; or what the sink said.
  absl::Status Read(absl::string_view piece);
  absl::Status Finish();       // at the body's end: kInvalidArgument when it was cut short

 private:
  enum class State { kPreamble, kAfterBoundary, kHeaders, kData, kEpilogue };
  absl::StatusOr<bool> Step();           // false: more bytes are needed
  absl::StatusOr<bool> StepData();
  absl::Status BeginPart(absl::string_view headers);

  const std::string delimiter_;          // CRLF, two dashes, the boundary
  const Sink sink_;
  State state_ = State::kPreamble;
  std::string held_;
  size_t skip_ = 0;                      // bytes of held_ before a part's data: the CRLF that ended its headers
  size_t parts_ = 0;
};

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_MULTIPART_H_
