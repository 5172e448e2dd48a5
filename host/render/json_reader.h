// Takes JSON text apart without building a tree: values are pieces of the text, spelled as they stand there, so that what a guest wrote
// comes back byte for byte (Boost.JSON's trees and events keep neither the spelling of numbers and escapes nor keys given twice). Runs in
// the supervisor. Every function expects text that IsStrictJson has accepted, or a piece that came from here.
#ifndef CELLBLOCK_RENDER_JSON_READER_H_
#define CELLBLOCK_RENDER_JSON_READER_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace cellblock::render {

// Calls `member` with each key (as it is spelled, without its quotes) and value, in order, until it returns false. False then, and for a
// value that is no object.
bool ForEachMember(absl::string_view object, absl::FunctionRef<bool(absl::string_view key, absl::string_view value)> member);

// The same for the items of an array.
bool ForEachItem(absl::string_view array, absl::FunctionRef<bool(absl::string_view item)> item);

bool IsJsonString(absl::string_view value);

// What stands between a string's quotes (or in a key), its escapes resolved.
std::string Unescaped(absl::string_view inner);

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_JSON_READER_H_
