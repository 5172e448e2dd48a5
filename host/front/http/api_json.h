// What the API's requests and answers look like as JSON, where it is not the record. Supervisor; pure.
#ifndef CELLBLOCK_FRONT_HTTP_API_JSON_H_
#define CELLBLOCK_FRONT_HTTP_API_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cellblock/policy.h"
#include "front/http/json_body.h"
#include "front/http/message.h"
#include "render/json_writer.h"
#include "service/service.h"

namespace cellblock::front {

void WriteSession(render::JsonWriter& json, const service::SessionInfo& session);
void WriteFile(render::JsonWriter& json, const service::FileInfo& file);
void WriteSharedFile(render::JsonWriter& json, const store::SharedFile& file);
void WriteArtifact(render::JsonWriter& json, const store::ArtifactEntry& artifact);
void WritePolicy(render::JsonWriter& json, const std::string& name, const Policy& policy);
std::string SessionJson(const service::SessionInfo& session);

// Fields of a body.
void ReadNewSession(JsonBody& body, service::NewSession* session);
void ReadCode(JsonBody& body, service::NewCall* call);     // code, language, timeout_seconds
void ReadNewCall(JsonBody& body, service::NewCall* call);  // these and env

// One page of a list: ?limit= (1 – 1000, else 100) and ?cursor= (what the page before said; else 0). kInvalidArgument.
struct Page {
  int64_t count = 100;
  int64_t cursor = 0;
};
absl::Status ReadNumber(const HttpRequest& request, absl::string_view name, int64_t lowest, int64_t highest, int64_t* value);  // as it is when missing
absl::StatusOr<Page> ReadPage(const HttpRequest& request);
void WriteNextCursor(render::JsonWriter& json, const Page& page, size_t found, int64_t last);

service::Request AskedBy(const HttpRequest& request);

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_API_JSON_H_
