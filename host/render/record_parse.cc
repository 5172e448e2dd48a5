// See record_parse.h.
#include "capture/json_text.h"
#include "render/record_parse.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "capture/utf8.h"
#include "render/json_members.h"
#include "render/json_reader.h"
#include "render/json_writer.h"

namespace cellblock::render {
namespace {

// A guest's JSON stands in the record, an event or result, and a bundle.
constexpr size_t kDepthMax = capture::kJsonDepthMax + 8;
constexpr size_t kIdShownMax = 64;

constexpr CallStatus kStatuses[] = {CallStatus::kOk,       CallStatus::kError,       CallStatus::kExited, CallStatus::kInterrupted, CallStatus::kTimeout,
                                    CallStatus::kCpuLimit, CallStatus::kOutOfMemory, CallStatus::kKilled, CallStatus::kRejected,    CallStatus::kLost};
constexpr SessionState kStates[] = {SessionState::kKept, SessionState::kRestarted, SessionState::kGone};
constexpr Event::Type kTypes[] = {Event::Type::kStdout, Event::Type::kStderr, Event::Type::kDisplay, Event::Type::kUpdate,
                                  Event::Type::kClear,  Event::Type::kResult, Event::Type::kError,   Event::Type::kEgress};

bool IsJsonType(absl::string_view type) { return type == "application/json" || absl::EndsWith(type, "+json") || absl::EndsWith(type, ".json"); }

// As python_env/cellblock_guest/values.py has it: every other type is bytes.
bool IsTextType(absl::string_view type) {
  if (absl::StartsWith(type, "text/") || absl::EndsWith(type, "+xml")) return true;
  for (absl::string_view known : {"application/javascript", "application/x-latex", "application/xml", "application/xhtml+xml", "application/x-sh"}) {
    if (type == known) return true;
  }
  return false;
}

// Whether text has this spelling when JsonWriter writes it: others are a guest's own JSON.
bool IsOurSpelling(absl::string_view string, const std::string& text) {
  std::string spelled;
  JsonWriter(&spelled).String(text);
  return spelled == string;
}

MimeData ParseMime(absl::string_view key, absl::string_view value) {
  MimeData data;
  data.type = Unescaped(key);
  data.is_json = true;
  if (IsJsonString(value) && !IsJsonType(data.type)) {
    const absl::string_view inner = value.substr(1, value.size() - 2);
    std::string bytes;
    if (!IsTextType(data.type) && absl::Base64Unescape(inner, &bytes) && absl::Base64Escape(bytes) == inner) {
      data.is_json = data.is_text = false;
      data.data = std::move(bytes);
      return data;
    }
    data.data = Unescaped(inner);
    data.is_json = !IsOurSpelling(value, data.data);
  }
  if (data.is_json) data.data = std::string(value);
  return data;
}

// Finds the result that an event shows, by the JSON of its bundle.
class ResultFinder {
 public:
  explicit ResultFinder(const std::vector<Result>* results) : results_(results) {}

  // `mime` and `metadata` are pieces of the document.
  void Add(absl::string_view mime, absl::string_view metadata, size_t index) {
    const Result& result = (*results_)[index];
    by_bundle_[Key(mime, metadata, Match::kAny, "")].push_back(index);
    by_bundle_[Key(mime, metadata, Match::kDisplay, result.display_id)].push_back(index);
    if (result.is_value) by_bundle_[Key(mime, metadata, Match::kValue, "")].push_back(index);
  }

  // The next one in order, as events and results come in the same order; before it only if there is none. kNoResult without any.
  size_t Find(absl::string_view mime, absl::string_view metadata, Event::Type type, absl::string_view display_id) {
    const bool is_result = type == Event::Type::kResult;
    auto found = by_bundle_.find(Key(mime, metadata, is_result ? Match::kValue : Match::kDisplay, is_result ? "" : display_id));
    if (found == by_bundle_.end() && is_result) found = by_bundle_.find(Key(mime, metadata, Match::kAny, ""));
    if (found == by_bundle_.end()) return kNoResult;
    const std::vector<size_t>& indexes = found->second;
    auto next = std::lower_bound(indexes.begin(), indexes.end(), next_);
    const size_t index = next != indexes.end() ? *next : indexes.front();
    next_ = index + 1;
    return index;
  }

 private:
  enum class Match { kAny, kDisplay, kValue };
  using Key = std::tuple<absl::string_view, absl::string_view, Match, absl::string_view>;

  const std::vector<Result>* results_;  // complete before the first Add: keys point into it
  absl::flat_hash_map<Key, std::vector<size_t>> by_bundle_;
  size_t next_ = 0;
};

class Parser {
 public:
  absl::StatusOr<Record> Run(absl::string_view json) {
    JsonMembers members(json, {}, kRecordMembersMax, &problem_);
    members.Text("id", &record_.id);
    Scalars(members);
    if (!members.IsNull("error")) Error(members.Get("error"));
    Results(members);
    if (members.Has("egress")) {
      members.Items("egress", kRecordItemsMax, [&](absl::string_view item, size_t index) { AddEgress(item, index); });
      members.Int("egress_left_out", &record_.egress_left_out);
    }
    members.Items("events", kRecordItemsMax, [&](absl::string_view item, size_t index) { AddEvent(item, index); });
    members.Items("artifacts", kRecordItemsMax, [&](absl::string_view item, size_t index) { AddArtifact(item, index); });
    members.Items("denials", kRecordItemsMax, [&](absl::string_view item, size_t index) { AddDenial(item, index); });
    ReceiptMembers(members.Get("receipt"));
    JsonMembers truncation = Object(members.Get("truncation"), {"truncation"});
    Truncation(truncation, "stdout", &record_.stdout_truncation);
    Truncation(truncation, "stderr", &record_.stderr_truncation);
    if (!problem_.found()) return std::move(record_);
    const std::string id = capture::ToValidUtf8(absl::string_view(record_.id).substr(0, kIdShownMax));
    return absl::DataLossError(absl::StrCat("record", id.empty() ? "" : " ", absl::Utf8SafeCHexEscape(id), ": ", problem_.what()));
  }

 private:
  JsonMembers Object(absl::string_view text, JsonPlace place) { return JsonMembers(text, place, kRecordMembersMax, &problem_); }

  void Scalars(JsonMembers& members) {
    members.Text("session_id", &record_.session_id);
    members.Int("call", &record_.call);
    members.Word("status", kStatuses, CallStatusName, &record_.status);
    members.TextOrNull("reason", &record_.reason);
    ShortInt(members, "exit_code", &record_.exit_code);
    ShortInt(members, "signal", &record_.signal);
    members.Word("session_state", kStates, SessionStateName, &record_.session_state);
    members.Time("started_at", &record_.started_at);
    members.Text("stdout", &record_.stdout_text);
    members.Text("stderr", &record_.stderr_text);
  }

  void ShortInt(JsonMembers& members, absl::string_view name, std::optional<int>* value) {
    std::optional<int64_t> number;
    members.IntOrNull(name, &number);
    if (!number.has_value()) return;
    if (*number < std::numeric_limits<int>::min() || *number > std::numeric_limits<int>::max()) return members.Wrong(name, "a whole number of 32 bits");
    *value = static_cast<int>(*number);
  }

  void Error(absl::string_view text) {
    JsonMembers members = Object(text, {"error"});
    ErrorInfo& error = record_.error.emplace();
    members.Text("name", &error.name);
    members.Text("value", &error.value);
    members.Text("traceback", &error.traceback);
    std::optional<int64_t> line, column;
    members.IntOrNull("line", &line);
    members.IntOrNull("column", &column);
    error.line = line.value_or(0);
    error.column = column.value_or(0);
    members.TextOrNull("hint", &error.hint);
  }

  void Results(JsonMembers& members) {
    std::vector<std::pair<absl::string_view, absl::string_view>> bundles;
    members.Items("results", kRecordItemsMax, [&](absl::string_view item, size_t index) {
      JsonMembers result = Object(item, {"results", index});
      Result& added = record_.results.emplace_back();
      Bundle(result, &added);
      result.Bool("is_value", &added.is_value);
      if (result.Has("display_id")) result.Text("display_id", &added.display_id);
      bundles.emplace_back(result.Find("mime"), result.Find("metadata"));
    });
    for (size_t i = 0; i < bundles.size(); ++i) finder_.Add(bundles[i].first, bundles[i].second, i);
  }

  void Bundle(JsonMembers& members, Result* result) {
    const bool is_object = ForEachMember(members.Get("mime"), [&](absl::string_view key, absl::string_view value) {
      if (result->mime.size() == kRecordItemsMax) return false;
      result->mime.push_back(ParseMime(key, value));
      return true;
    });
    if (!is_object) members.Wrong("mime", absl::StrCat("an object of at most ", kRecordItemsMax, " members"));
    const absl::string_view metadata = members.Get("metadata");
    if (!absl::StartsWith(metadata, "{")) members.Wrong("metadata", "an object");
    result->metadata_json = std::string(metadata);
  }

  void AddEvent(absl::string_view item, size_t index) {
    JsonMembers members = Object(item, {"events", index});
    Event& event = record_.events.emplace_back();
    members.Word("type", kTypes, EventTypeName, &event.type);
    members.Seconds("t_seconds", &event.time);
    switch (event.type) {
      case Event::Type::kStdout:
      case Event::Type::kStderr:
        members.Text("text", &event.text);
        if (members.Has("late")) members.Bool("late", &event.late);
        break;
      case Event::Type::kDisplay:
      case Event::Type::kUpdate:
      case Event::Type::kResult:
        event.result = FindResult(members, event.type);
        break;
      case Event::Type::kClear:
        members.Bool("wait", &event.wait);
        break;
      case Event::Type::kError:  // the same error as the record's; without one the event is bare
        if (members.Has("name") != record_.error.has_value()) problem_.Note(absl::StrCat("events[", index, "] and \"error\" contradict each other"));
        break;
      case Event::Type::kEgress:
        event.result = EgressIndex(members);
        break;
    }
  }

  size_t EgressIndex(JsonMembers& members) {
    if (!members.Has("index")) return kNoResult;
    int64_t index = -1;
    members.Int("index", &index);
    if (index >= 0 && static_cast<size_t>(index) < record_.egress.size()) return static_cast<size_t>(index);
    members.Wrong("index", "that of any item of \"egress\"");
    return kNoResult;
  }

  void AddEgress(absl::string_view item, size_t index) {
    JsonMembers members = Object(item, {"egress", index});
    Egress& egress = record_.egress.emplace_back();
    members.Text("protocol", &egress.protocol);
    members.Text("host", &egress.host);
    if (members.Has("port")) members.Int("port", &egress.port);
    if (members.Has("method")) members.Text("method", &egress.method);
    if (members.Has("path")) members.Text("path", &egress.path);
    members.Bool("allowed", &egress.allowed);
    members.Text("rule", &egress.rule);
    if (members.Has("reason")) members.Text("reason", &egress.reason);
    if (members.Has("status")) members.Int("status", &egress.status);
    members.Int("sent_bytes", &egress.sent_bytes);
    members.Int("received_bytes", &egress.received_bytes);
    members.Seconds("t_seconds", &egress.time);
    if (!members.IsNull("wall_seconds")) members.Seconds("wall_seconds", &egress.wall.emplace());
    if (!members.Has("secrets")) return;
    members.Items("secrets", kRecordItemsMax, [&](absl::string_view name, size_t) {
      if (!IsJsonString(name)) return members.Wrong("secrets", "a list of strings");
      egress.secrets.push_back(Unescaped(name.substr(1, name.size() - 2)));
    });
  }

  size_t FindResult(JsonMembers& members, Event::Type type) {
    if (!members.Has("mime")) return kNoResult;
    std::string display_id;
    if (members.Has("display_id")) members.Text("display_id", &display_id);
    const size_t index = finder_.Find(members.Find("mime"), members.Get("metadata"), type, display_id);
    if (index == kNoResult) members.Wrong("mime", "that of any result");
    return index;
  }

  void AddArtifact(absl::string_view item, size_t index) {
    JsonMembers members = Object(item, {"artifacts", index});
    Artifact& artifact = record_.artifacts.emplace_back();
    members.Text("id", &artifact.id);
    members.Text("path", &artifact.path);
    members.Int("size_bytes", &artifact.size_bytes);
    members.Text("mime", &artifact.mime);
    members.Text("sha256", &artifact.sha256);
    members.Word("change", std::initializer_list<bool>{false, true}, [](bool created) { return absl::string_view(created ? "created" : "modified"); }, &artifact.created);
    members.Int("call", &artifact.call);
    if (!members.Has("width") && !members.Has("height")) return;
    auto& size = artifact.image_size.emplace();
    members.Int("width", &size.first);
    members.Int("height", &size.second);
  }

  void AddDenial(absl::string_view item, size_t index) {
    JsonMembers members = Object(item, {"denials", index});
    Denial& denial = record_.denials.emplace_back();
    members.Text("kind", &denial.kind);
    members.Text("subject", &denial.subject);
    members.Text("rule", &denial.rule);
    members.Int("count", &denial.count);
  }

  void ReceiptMembers(absl::string_view text) {
    JsonMembers members = Object(text, {"receipt"});
    Receipt& receipt = record_.receipt;
    members.Seconds("wall_seconds", &receipt.wall);
    members.Seconds("cpu_seconds", &receipt.cpu);
    members.Int("memory_peak_bytes", &receipt.memory_peak_bytes);
    members.Int("written_bytes", &receipt.written_bytes);
    members.Int("output_bytes", &receipt.output_bytes);
    members.Int("egress_bytes", &receipt.egress_bytes);
    members.Int("processes_peak", &receipt.processes_peak);
    members.Int("processes_killed", &receipt.processes_killed);
    members.Int("threads_kept", &receipt.threads_kept);
    const bool is_object = ForEachMember(members.Get("limits"), [&](absl::string_view key, absl::string_view value) {
      if (!IsJsonString(value) || receipt.limits.size() == kRecordItemsMax) return false;
      receipt.limits.emplace_back(Unescaped(key), Unescaped(value.substr(1, value.size() - 2)));
      return true;
    });
    if (!is_object) members.Wrong("limits", absl::StrCat("an object of at most ", kRecordItemsMax, " strings"));
    members.Items("limits_hit", kRecordItemsMax, [&](absl::string_view item, size_t index) {
      JsonMembers hit = Object(item, {"limits_hit", index});
      LimitHit& added = receipt.limits_hit.emplace_back();
      hit.Text("name", &added.name);
      hit.Text("detail", &added.detail);
    });
    members.Items("layers", kRecordItemsMax, [&](absl::string_view item, size_t index) {
      JsonMembers layer = Object(item, {"layers", index});
      Layer& added = receipt.layers.emplace_back();
      layer.Text("name", &added.name);
      layer.Text("state", &added.state);
      if (layer.Has("detail")) layer.Text("detail", &added.detail);
    });
  }

  void Truncation(JsonMembers& members, absl::string_view name, std::optional<StreamTruncation>* truncation) {
    if (members.IsNull(name)) return;
    JsonMembers stream = Object(members.Get(name), {name});
    StreamTruncation& added = truncation->emplace();
    stream.Int("head_bytes", &added.head_bytes);
    stream.Int("tail_bytes", &added.tail_bytes);
    stream.Int("dropped_bytes", &added.dropped_bytes);
    if (stream.Has("artifact_id")) stream.Text("artifact_id", &added.artifact_id);
  }

  Problem problem_;
  Record record_;
  ResultFinder finder_{&record_.results};
};

}  // namespace

absl::StatusOr<Record> ParseRecordJson(absl::string_view json) {
  if (json.size() > kRecordJsonBytesMax) {
    return absl::ResourceExhaustedError(absl::StrCat("the record has ", json.size(), " bytes; at most ", kRecordJsonBytesMax, " are taken"));
  }
  if (!capture::IsStrictJson(json, kDepthMax)) return absl::DataLossError("the record is not JSON");
  return Parser().Run(json);
}

}  // namespace cellblock::render
