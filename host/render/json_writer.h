// Writes strict JSON straight into a string: made for records with output and images of megabytes, which a JSON library's tree would
// copy twice and write several times slower. Runs in the supervisor; strings may be a guest's.
#ifndef CELLBLOCK_RENDER_JSON_WRITER_H_
#define CELLBLOCK_RENDER_JSON_WRITER_H_

#include <concepts>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cellblock::render {

// The caller keeps the order of calls right (a Key before each member of an object); everything else is valid JSON on one line by
// construction.
class JsonWriter {
 public:
  explicit JsonWriter(std::string* out) : out_(out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(absl::string_view name);

  void String(absl::string_view text);       // bytes that are no UTF-8 become U+FFFD
  void Base64(absl::string_view bytes);
  void Int(int64_t value);
  void Bool(bool value);
  void Null();
  void Seconds(absl::Duration value);        // to the microsecond; null when infinite
  void Time(absl::Time value);               // RFC 3339 in UTC; null when infinite
  // The guest's JSON text as JSON where it is valid, otherwise as a string.
  void JsonOrString(absl::string_view text);
  // The guest's JSON text where it is an object, otherwise {}.
  void JsonObject(absl::string_view text);

  // Members of an object.
  void Member(absl::string_view name, absl::string_view text);
  void Member(absl::string_view name, int64_t value);
  void Member(absl::string_view name, absl::Duration value);
  template <std::same_as<bool> Flag>  // a template, so that no pointer to text becomes a bool
  void Member(absl::string_view name, Flag value) {
    Key(name);
    Bool(value);
  }

 private:
  void Separate();
  void Open(char bracket);
  void Close(char bracket);
  void Escape(absl::string_view text);

  std::string* out_;
  bool comma_ = false;  // a value stands before, at this level
};

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_JSON_WRITER_H_
