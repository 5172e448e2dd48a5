// A request and its answer as the handlers see them: no socket, no parser. Supervisor; what stands in a request is a client's.
#ifndef CELLBLOCK_FRONT_HTTP_MESSAGE_H_
#define CELLBLOCK_FRONT_HTTP_MESSAGE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/unique_fd.h"
#include "service/access.h"

namespace cellblock::front {

class EventStream;

// A file that came with a request, on disk and without a name there.
struct ReceivedFile {
  std::string path;                  // as the client calls it
  UniqueFd content;                  // at its beginning
  std::string sha256;
  int64_t size_bytes = 0;
};

// Tells the connection that a call runs for this request: when the client goes away, the call is taken back.
using CallBegan = std::function<void(const std::string& execution_id)>;

struct HttpRequest {
  std::string method;
  std::string path;                  // as sent, without the query
  std::vector<std::string> captured; // the parts of the path that its route leaves open, decoded
  std::map<std::string, std::string, std::less<>> query;
  std::string accept, if_none_match, if_range, range, idempotency_key, content_type;
  std::string body;                  // of JSON routes; of multipart, its field "request"
  std::vector<ReceivedFile> files;
  const service::Token* token = nullptr;
  std::string id;
  CallBegan call_began;
};

struct HttpReply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string content_type = "application/json";
  std::string body;
  // Instead of the body: a part of a file …
  UniqueFd file;
  int64_t file_offset = 0, file_bytes = 0;
  // … or what comes in time.
  std::shared_ptr<EventStream> events;
};

// A body of more than kSpooledFrom bytes goes into a nameless file in `folder`, so that clients that read slowly hold disk, not memory. A
// file that cannot be written leaves the body where it is.
inline constexpr size_t kSpooledFrom = 256 * 1024;
void Spool(const std::string& folder, HttpReply* reply);

// RFC 9457: status, stable code, what happened and what to do.
HttpReply ProblemReply(const absl::Status& status, absl::string_view request_id);
HttpReply ProblemReply(int http_status, absl::string_view code, absl::string_view detail, absl::string_view request_id);
int HttpStatusOf(const absl::Status& status);
absl::string_view ReasonPhrase(int http_status);

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_MESSAGE_H_
