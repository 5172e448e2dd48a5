// The members of an object that we wrote ourselves, by name: each getter says what is missing or of the wrong kind. For record_parse.cc.
// Runs in the supervisor; expects text that IsStrictJson has accepted, and trusts nothing else.
#ifndef CELLBLOCK_RENDER_JSON_MEMBERS_H_
#define CELLBLOCK_RENDER_JSON_MEMBERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cellblock::render {

// The first thing that is wrong with a document; later ones are not noted.
class Problem {
 public:
  bool found() const { return !what_.empty(); }
  const std::string& what() const { return what_; }
  void Note(std::string what) {
    if (!found()) what_ = std::move(what);
  }

 private:
  std::string what_;
};

// Where an object stands, for messages: "receipt", or "events[3]" with an index.
struct JsonPlace {
  absl::string_view name;
  std::optional<size_t> index;
};

class JsonMembers {
 public:
  // `object` must outlive this. Notes a value that is no object, a name that comes twice, and more than `members_max`.
  JsonMembers(absl::string_view object, JsonPlace place, size_t members_max, Problem* problem);

  // The value as it is spelled; empty when there is none, which is no problem.
  absl::string_view Find(absl::string_view name) const;
  bool Has(absl::string_view name) const { return !Find(name).empty(); }
  bool IsNull(absl::string_view name) const { return Find(name) == "null"; }

  // Every one of these notes a problem and leaves its target as it is when there is no such member, or it is of another kind.
  absl::string_view Get(absl::string_view name);
  void Text(absl::string_view name, std::string* text);
  void TextOrNull(absl::string_view name, std::string* text);  // null: as it is
  void Int(absl::string_view name, int64_t* value);
  void IntOrNull(absl::string_view name, std::optional<int64_t>* value);
  void Bool(absl::string_view name, bool* value);
  void Seconds(absl::string_view name, absl::Duration* value);  // null: infinite
  void Time(absl::string_view name, absl::Time* value);         // null: infinite future
  // One of the words that `name_of` gives for `values`.
  template <typename Value, typename Values, typename NameOf>
  void Word(absl::string_view name, const Values& values, NameOf name_of, Value* result) {
    std::string word;
    Text(name, &word);
    for (Value value : values) {
      if (name_of(value) == word) {
        *result = value;
        return;
      }
    }
    Wrong(name, "a word that is known there");
  }
  // Calls `read` with each item and its index; `items_max` at most.
  void Items(absl::string_view name, size_t items_max, absl::FunctionRef<void(absl::string_view item, size_t index)> read);

  // Notes that the member is not what it should be.
  void Wrong(absl::string_view name, absl::string_view expected);

 private:
  std::string Where() const;  // "events[3]: "

  JsonPlace place_;
  Problem* problem_;
  std::vector<std::pair<absl::string_view, absl::string_view>> members_;
};

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_JSON_MEMBERS_H_
