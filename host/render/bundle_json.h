// A MIME bundle as the object that Jupyter, the HTTP API and notebooks share: type → text, base64, or JSON as JSON. Runs in the
// supervisor; the bundle is a guest's.
#ifndef CELLBLOCK_RENDER_BUNDLE_JSON_H_
#define CELLBLOCK_RENDER_BUNDLE_JSON_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "capture/utf8.h"
#include "cellblock/record.h"
#include "render/json_writer.h"

namespace cellblock::render {

// Of a type that is given twice the first one counts: strict readers refuse a member that comes twice. Types are compared as they will
// be written. `as_json` decides which data stands as JSON, if it is JSON; otherwise it is a string.
template <typename AsJson>
void WriteBundle(JsonWriter& json, const std::vector<MimeData>& bundle, AsJson as_json) {
  absl::flat_hash_set<std::string> types;
  json.BeginObject();
  for (const MimeData& data : bundle) {
    if (!types.insert(capture::ToValidUtf8(data.type)).second) continue;
    json.Key(data.type);
    if (as_json(data)) {
      json.JsonOrString(data.data);
    } else if (data.is_text) {
      json.String(data.data);
    } else {
      json.Base64(data.data);
    }
  }
  json.EndObject();
}

inline void WriteBundle(JsonWriter& json, const std::vector<MimeData>& bundle) {
  WriteBundle(json, bundle, [](const MimeData& data) { return data.is_json; });
}

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_BUNDLE_JSON_H_
