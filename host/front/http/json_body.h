// A request's JSON object, read field by field: types, ranges and unknown names are checked as they are read, and the first thing that
// is wrong is told. The one adapter to the JSON parser. Supervisor; the text is a client's.
#ifndef CELLBLOCK_FRONT_HTTP_JSON_BODY_H_
#define CELLBLOCK_FRONT_HTTP_JSON_BODY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cellblock::front {

inline constexpr size_t kJsonNestingMax = 32;

class JsonBody {
 public:
  // kInvalidArgument: no JSON (where), no object, nested deeper than kJsonNestingMax. An empty body is an empty object.
  static absl::StatusOr<JsonBody> Parse(absl::string_view text);
  JsonBody(JsonBody&&) noexcept;
  ~JsonBody();

  // Each leaves its target as it is when the field is missing or null. True: the field was there (and may have been wrong).
  bool Text(absl::string_view name, std::string* value);
  bool Flag(absl::string_view name, bool* value);
  bool Number(absl::string_view name, std::optional<uint64_t>* value);
  bool Seconds(absl::string_view name, std::optional<absl::Duration>* value);                     // above 0, at most 30 days
  bool Texts(absl::string_view name, std::vector<std::pair<std::string, std::string>>* value);   // an object of texts
  bool OneOf(absl::string_view name, const std::vector<std::string>& allowed, std::string* value);
  bool Object(absl::string_view name, std::string* json);                                         // as JSON text
  // `each` reads one object of a list of at most `count_max`.
  bool List(absl::string_view name, size_t count_max, absl::FunctionRef<void(JsonBody&)> each);
  void Require(absl::string_view name, bool present);

  // What was wrong; also a field that nobody read.
  absl::Status Finish();

 private:
  struct State;
  explicit JsonBody(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_JSON_BODY_H_
