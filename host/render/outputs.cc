// See outputs.h.
#include "render/outputs.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace cellblock::render {
namespace {

class Replay {
 public:
  // Replays events as a notebook front end does.
  std::vector<Output> Run(const Record& record) {
    std::vector<Output> outputs;
    bool clear_before_next = false;
    for (const Event& event : record.events) {
      if (event.type == Event::Type::kClear) {
        clear_before_next = event.wait;
        if (!event.wait) outputs.clear();
        continue;
      }
      if (event.type == Event::Type::kUpdate) {
        NoteUpdate(record, event);
        continue;
      }
      if (clear_before_next) outputs.clear();
      clear_before_next = false;
      Add(record, event, &outputs);
    }
    const bool has_error = std::any_of(outputs.begin(), outputs.end(), [](const Output& output) { return output.kind == Output::Kind::kError; });
    const bool ended_badly = record.status != CallStatus::kOk && record.status != CallStatus::kExited;
    if (!has_error && (record.error.has_value() || ended_badly)) outputs.push_back({.kind = Output::Kind::kError});
    return outputs;
  }

  // Puts the last state into each display that was updated after it was shown.
  void ApplyUpdates(std::vector<Output>* outputs) const {
    for (Output& output : *outputs) {
      if (output.result == nullptr || output.result->display_id.empty()) continue;
      auto update = last_updates_.find(output.result->display_id);
      if (update != last_updates_.end() && update->second.when > output.shown) output.result = update->second.result;
    }
  }

 private:
  struct LastUpdate {
    size_t when;
    const Result* result;
  };

  static const Result* ResultOf(const Record& record, const Event& event) {
    return event.result < record.results.size() ? &record.results[event.result] : nullptr;
  }

  void NoteUpdate(const Record& record, const Event& event) {
    const Result* result = ResultOf(record, event);
    if (result != nullptr && !result->display_id.empty()) last_updates_.insert_or_assign(result->display_id, LastUpdate{++now_, result});
  }

  void Add(const Record& record, const Event& event, std::vector<Output>* outputs) {
    switch (event.type) {
      case Event::Type::kStdout:
      case Event::Type::kStderr: {
        const bool is_stderr = event.type == Event::Type::kStderr;
        const bool joins = !outputs->empty() && outputs->back().kind == Output::Kind::kStream && outputs->back().is_stderr == is_stderr && outputs->back().late == event.late;
        if (!joins) outputs->push_back({.kind = Output::Kind::kStream, .is_stderr = is_stderr, .late = event.late});
        outputs->back().text += event.text;
        break;
      }
      case Event::Type::kDisplay:
      case Event::Type::kResult:
        if (const Result* result = ResultOf(record, event); result != nullptr) {
          outputs->push_back({.kind = event.type == Event::Type::kResult ? Output::Kind::kResult : Output::Kind::kDisplay, .result = result, .shown = ++now_});
        }
        break;
      case Event::Type::kError:
        if (record.error.has_value()) outputs->push_back({.kind = Output::Kind::kError});
        break;
      case Event::Type::kUpdate:
      case Event::Type::kClear:
      case Event::Type::kEgress:
        break;
    }
  }

  size_t now_ = 0;
  absl::flat_hash_map<absl::string_view, LastUpdate> last_updates_;  // by display id; the keys are the records'
};

}  // namespace

std::vector<std::vector<Output>> ReplayOutputs(const std::vector<const Record*>& records) {
  std::vector<std::vector<Output>> outputs(records.size());
  Replay replay;
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i] != nullptr) outputs[i] = replay.Run(*records[i]);
  }
  for (std::vector<Output>& of_record : outputs) replay.ApplyUpdates(&of_record);
  return outputs;
}

}  // namespace cellblock::render
