// See json_body.h.
#include "front/http/json_body.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/parse_options.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/stream_parser.hpp>
#include <boost/json/value.hpp>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cellblock::front {
namespace {

namespace json = boost::json;

constexpr double kSecondsMax = 30.0 * 24 * 3600;

// Its beginning, cut between characters.
std::string Shown(absl::string_view name) {
  size_t end = std::min<size_t>(name.size(), 100);
  while (end < name.size() && end > 0 && (static_cast<uint8_t>(name[end]) & 0xc0) == 0x80) --end;
  return absl::Utf8SafeCHexEscape(name.substr(0, end));
}

}  // namespace

struct JsonBody::State {
  json::object own;                        // of the outermost
  const json::object* object = nullptr;
  std::string where;                       // "cells[2]."
  std::set<std::string, std::less<>> read;
  absl::Status problem;

  void Wrong(absl::string_view name, absl::string_view what) {
    if (problem.ok()) problem = absl::InvalidArgumentError(absl::StrCat(where, name, ": ", what));
  }
  // Null when there is none.
  const json::value* Find(absl::string_view name) {
    read.insert(std::string(name));
    const json::value* value = object->if_contains(json::string_view(name.data(), name.size()));
    return value == nullptr || value->is_null() ? nullptr : value;
  }
};

JsonBody::JsonBody(std::unique_ptr<State> state) : state_(std::move(state)) {}
JsonBody::JsonBody(JsonBody&&) noexcept = default;
JsonBody::~JsonBody() = default;

absl::StatusOr<JsonBody> JsonBody::Parse(absl::string_view text) {
  auto state = std::make_unique<State>();
  if (!text.empty()) {
    json::parse_options options;
    options.max_depth = kJsonNestingMax;
    json::stream_parser parser({}, options);
    json::error_code error;
    const size_t read = parser.write_some(text.data(), text.size(), error);
    if (!error && read < text.size()) error = json::error::extra_data;
    if (!error) parser.finish(error);
    if (error) return absl::InvalidArgumentError(absl::StrCat("the body is no JSON: ", error.message(), " near byte ", read));
    json::value value = parser.release();
    if (!value.is_object()) return absl::InvalidArgumentError("the body is JSON, but not an object: {…}");
    state->own = std::move(value.get_object());
  }
  state->object = &state->own;
  return JsonBody(std::move(state));
}

bool JsonBody::Text(absl::string_view name, std::string* value) {
  const json::value* found = state_->Find(name);
  if (found == nullptr) return false;
  if (found->is_string()) {
    value->assign(found->get_string().data(), found->get_string().size());
  } else {
    state_->Wrong(name, "a text is wanted here");
  }
  return true;
}

bool JsonBody::Flag(absl::string_view name, bool* value) {
  const json::value* found = state_->Find(name);
  if (found == nullptr) return false;
  if (found->is_bool()) {
    *value = found->get_bool();
  } else {
    state_->Wrong(name, "true or false is wanted here");
  }
  return true;
}

bool JsonBody::Number(absl::string_view name, std::optional<uint64_t>* value) {
  const json::value* found = state_->Find(name);
  if (found == nullptr) return false;
  if (found->is_uint64()) {
    *value = found->get_uint64();
  } else if (found->is_int64() && found->get_int64() >= 0) {
    *value = static_cast<uint64_t>(found->get_int64());
  } else {
    state_->Wrong(name, "a whole number from 0 to 18446744073709551615 is wanted here");
  }
  return true;
}

bool JsonBody::Seconds(absl::string_view name, std::optional<absl::Duration>* value) {
  const json::value* found = state_->Find(name);
  if (found == nullptr) return false;
  const double seconds = found->is_double() ? found->get_double() : found->is_int64() ? static_cast<double>(found->get_int64()) : found->is_uint64() ? kSecondsMax + 1 : -1;
  const absl::Duration duration = absl::Seconds(seconds);  // zero for less than a quarter of a nanosecond
  if (seconds <= kSecondsMax && duration > absl::ZeroDuration()) {
    *value = duration;
  } else {
    state_->Wrong(name, "a number of seconds above 0 and at most 2592000 (30 days) is wanted here");
  }
  return true;
}

bool JsonBody::Texts(absl::string_view name, std::vector<std::pair<std::string, std::string>>* value) {
  const json::value* found = state_->Find(name);
  if (found == nullptr) return false;
  if (!found->is_object()) {
    state_->Wrong(name, "an object of texts is wanted here: {\"NAME\": \"value\"}");
    return true;
  }
  for (const auto& [key, text] : found->get_object()) {
    if (!text.is_string()) state_->Wrong(absl::StrCat(name, ".", Shown({key.data(), key.size()})), "a text is wanted here");
    if (text.is_string()) value->emplace_back(std::string(key), std::string(text.get_string()));
  }
  return true;
}

bool JsonBody::OneOf(absl::string_view name, const std::vector<std::string>& allowed, std::string* value) {
  std::string text;
  if (!Text(name, &text)) return false;
  if (std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
    state_->Wrong(name, absl::StrCat("\"", Shown(text), "\" is not known here; it takes ", absl::StrJoin(allowed, " or ")));
  }
  *value = text;
  return true;
}

bool JsonBody::Object(absl::string_view name, std::string* text) {
  const json::value* found = state_->Find(name);
  if (found == nullptr) return false;
  if (found->is_object()) {
    *text = json::serialize(*found);
  } else {
    state_->Wrong(name, "an object is wanted here");
  }
  return true;
}

bool JsonBody::List(absl::string_view name, size_t count_max, absl::FunctionRef<void(JsonBody&)> each) {
  const json::value* found = state_->Find(name);
  if (found == nullptr) return false;
  if (!found->is_array() || found->get_array().size() > count_max) {
    state_->Wrong(name, absl::StrCat("a list of at most ", count_max, " objects is wanted here"));
    return true;
  }
  size_t index = 0;
  for (const json::value& item : found->get_array()) {
    const std::string place = absl::StrCat(name, "[", index++, "]");
    if (!item.is_object()) {
      state_->Wrong(place, "an object is wanted here");
      break;
    }
    auto state = std::make_unique<State>();
    state->object = &item.get_object();
    state->where = absl::StrCat(state_->where, place, ".");
    JsonBody body(std::move(state));
    each(body);
    if (absl::Status status = body.Finish(); !status.ok()) {
      if (state_->problem.ok()) state_->problem = status;
      break;
    }
  }
  return true;
}

void JsonBody::Require(absl::string_view name, bool present) {
  if (!present) state_->Wrong(name, "is missing");
}

absl::Status JsonBody::Finish() {
  for (const auto& [key, value] : *state_->object) {
    if (state_->read.contains(std::string_view(key.data(), key.size()))) continue;
    state_->Wrong(Shown({key.data(), key.size()}), absl::StrCat("no such field here; there are: ", absl::StrJoin(state_->read, ", ")));
  }
  return state_->problem;
}

}  // namespace cellblock::front
