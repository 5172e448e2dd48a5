// What a notebook's reader sees below each cell: a record's events replayed, with what was cleared left out and what was updated in its
// last state. Pure functions, run in the supervisor; the number and order of events are a guest's, the work is linear in them.
#ifndef CELLBLOCK_RENDER_OUTPUTS_H_
#define CELLBLOCK_RENDER_OUTPUTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "cellblock/record.h"

namespace cellblock::render {

struct Output {
  enum class Kind { kStream, kDisplay, kResult, kError };  // kError: the record's error, or how it ended where there is none
  Kind kind;
  std::string text;                // kStream
  bool is_stderr = false;          // kStream
  bool late = false;               // kStream: see Event
  const Result* result = nullptr;  // kDisplay, kResult
  size_t shown = 0;                // kDisplay, kResult: when, counted over all records
};

// The outputs of each record in turn; none for a null. They point into the records. A display that a later record updated shows that
// record's state.
std::vector<std::vector<Output>> ReplayOutputs(const std::vector<const Record*>& records);

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_OUTPUTS_H_
