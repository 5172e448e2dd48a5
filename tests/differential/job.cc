// See job.h.
#include "tests/differential/job.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cellblock::differential {
namespace {

namespace json = boost::json;

absl::Status Wrong(absl::string_view key, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("job: ", key, ": must be ", wanted));
}

std::string Text(const json::string& text) { return std::string(text.data(), text.size()); }

absl::Status ReadText(const json::object& object, const char* key, std::string& to) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_string()) return Wrong(key, "a string");
  to = Text(*value->if_string());
  return absl::OkStatus();
}

absl::Status ReadTexts(const json::object& object, const char* key, std::vector<std::string>& to) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_array()) return Wrong(key, "a list of strings");
  for (const json::value& item : *value->if_array()) {
    if (!item.is_string()) return Wrong(key, "a list of strings");
    to.push_back(Text(*item.if_string()));
  }
  return absl::OkStatus();
}

absl::Status ReadPairs(const json::object& object, const char* key, std::vector<std::pair<std::string, std::string>>& to) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_array()) return Wrong(key, "a list of pairs of strings");
  for (const json::value& item : *value->if_array()) {
    const json::array* pair = item.if_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string()) return Wrong(key, "a list of pairs of strings");
    to.emplace_back(Text(*(*pair)[0].if_string()), Text(*(*pair)[1].if_string()));
  }
  return absl::OkStatus();
}

struct LimitKey {
  const char* name;
  int64_t Limits::* field;
};
constexpr LimitKey kLimitKeys[] = {
    {"memory_bytes", &Limits::memory_bytes},       {"processes", &Limits::processes},   {"open_files", &Limits::open_files},
    {"workspace_bytes", &Limits::workspace_bytes}, {"tmp_bytes", &Limits::tmp_bytes},   {"workspace_files", &Limits::workspace_files},
    {"shm_bytes", &Limits::shm_bytes},             {"file_bytes", &Limits::file_bytes}, {"output_bytes", &Limits::output_bytes},
};

absl::Status ReadLimits(const json::object& object, Limits& limits) {
  const json::value* value = object.if_contains("limits");
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_object()) return Wrong("limits", "an object");
  for (const json::key_value_pair& item : *value->if_object()) {
    absl::string_view name(item.key().data(), item.key().size());
    if (!item.value().is_int64()) return Wrong(absl::StrCat("limits.", name), "a whole number");
    int64_t number = *item.value().if_int64();
    bool known = name == "cpus";
    if (known) limits.cpus = static_cast<int>(number);
    for (const LimitKey& key : kLimitKeys) {
      if (name != key.name) continue;
      limits.*(key.field) = number;
      known = true;
    }
    if (!known) return Wrong(absl::StrCat("limits.", name), "a known limit");
  }
  return absl::OkStatus();
}

constexpr const char* kKeys[] = {"id",   "files",           "mounts",   "environment", "limits",    "seed",
                                 "cells", "timeout_seconds", "language", "file_name",   "arguments", "collect"};

absl::Status CheckKeys(const json::object& object) {
  for (const json::key_value_pair& item : object) {
    absl::string_view name(item.key().data(), item.key().size());
    if (std::find(std::begin(kKeys), std::end(kKeys), name) == std::end(kKeys)) return Wrong(name, "a known key");
  }
  return absl::OkStatus();
}

absl::Status ReadRest(const json::object& object, Job& job) {
  if (const json::value* value = object.if_contains("timeout_seconds")) {
    if (!value->is_int64()) return Wrong("timeout_seconds", "a whole number");
    job.timeout = job.policy.limits.wall = absl::Seconds(*value->if_int64());
  }
  if (const json::value* value = object.if_contains("seed")) {
    if (!value->is_int64() || *value->if_int64() < 0) return Wrong("seed", "a whole number from 0");
    job.session.seed = static_cast<uint64_t>(*value->if_int64());
  }
  std::string language = "python";
  CELLBLOCK_RETURN_IF_ERROR(ReadText(object, "language", language));
  if (language != "python" && language != "bash") return Wrong("language", "python or bash");
  job.language = language == "bash" ? Language::kBash : Language::kPython;
  return absl::OkStatus();
}

json::value TextOf(const Result& result) {
  for (const MimeData& data : result.mime) {
    if (data.type == "text/plain") return json::value(data.data);
  }
  return nullptr;
}

bool IsChart(const Result& result) {
  for (const MimeData& data : result.mime) {
    if (data.type == "image/png") return true;
  }
  return false;
}

json::object RecordToJson(const Record& record) {
  json::object out;
  out["status"] = std::string(CallStatusName(record.status));
  out["reason"] = record.reason;
  out["exit_code"] = record.exit_code.has_value() ? json::value(*record.exit_code) : json::value(nullptr);
  out["stdout"] = record.stdout_text;
  out["stderr"] = record.stderr_text;
  out["stdout_dropped"] = record.stdout_truncation.has_value() ? record.stdout_truncation->dropped_bytes : 0;
  out["value"] = nullptr;
  int charts = 0;
  json::array displays;
  for (const Result& result : record.results) {
    if (IsChart(result)) ++charts;
    if (result.is_value) {
      out["value"] = TextOf(result);
    } else if (!IsChart(result)) {
      displays.push_back(TextOf(result));
    }
  }
  out["displays"] = displays;
  out["charts"] = charts;
  out["error"] = nullptr;
  if (record.error.has_value()) {
    out["error"] = json::object{{"name", record.error->name}, {"value", record.error->value}, {"traceback", record.error->traceback}, {"line", record.error->line}};
  }
  json::array limits;
  for (const LimitHit& hit : record.receipt.limits_hit) limits.emplace_back(absl::StrCat(hit.name, ": ", hit.detail));
  out["limits_hit"] = limits;
  json::array denials;
  for (const Denial& denial : record.denials) denials.emplace_back(absl::StrCat(denial.kind, " ", denial.subject, ": ", denial.rule, " (", denial.count, ")"));
  out["denials"] = denials;
  out["memory_peak_bytes"] = record.receipt.memory_peak_bytes;
  out["wall_seconds"] = absl::ToDoubleSeconds(record.receipt.wall);
  return out;
}

}  // namespace

absl::StatusOr<Job> ParseJob(absl::string_view line) {
  json::error_code error;
  json::value value = json::parse(json::string_view(line.data(), line.size()), error);
  if (error || !value.is_object()) return absl::InvalidArgumentError("job: the line is no JSON object");
  const json::object& object = *value.if_object();
  Job job;
  std::vector<std::pair<std::string, std::string>> mounts;
  CELLBLOCK_RETURN_IF_ERROR(CheckKeys(object));
  CELLBLOCK_RETURN_IF_ERROR(ReadText(object, "id", job.id));
  CELLBLOCK_RETURN_IF_ERROR(ReadText(object, "file_name", job.file_name));
  CELLBLOCK_RETURN_IF_ERROR(ReadTexts(object, "cells", job.cells));
  CELLBLOCK_RETURN_IF_ERROR(ReadTexts(object, "arguments", job.arguments));
  CELLBLOCK_RETURN_IF_ERROR(ReadPairs(object, "files", job.files));
  CELLBLOCK_RETURN_IF_ERROR(ReadPairs(object, "collect", job.collect));
  CELLBLOCK_RETURN_IF_ERROR(ReadPairs(object, "environment", job.session.environment));
  CELLBLOCK_RETURN_IF_ERROR(ReadPairs(object, "mounts", mounts));
  CELLBLOCK_RETURN_IF_ERROR(ReadLimits(object, job.policy.limits));
  CELLBLOCK_RETURN_IF_ERROR(ReadRest(object, job));
  for (auto& [source, target] : mounts) job.policy.files.mounts.push_back({std::move(source), std::move(target)});
  return job;
}

std::string OutcomeToJson(const Outcome& outcome) {
  json::object out;
  out["id"] = outcome.id;
  out["host_error"] = outcome.host_status.ok() ? "" : std::string(outcome.host_status.message());
  out["seconds"] = outcome.seconds;
  json::array records;
  for (const Record& record : outcome.records) records.push_back(RecordToJson(record));
  out["cells"] = records;
  json::array collected;
  for (const std::string& name : outcome.collected) collected.emplace_back(name);
  out["collected"] = collected;
  json::array files;
  for (const FileEntry& file : outcome.files) files.push_back(json::array{file.path, file.size_bytes});
  out["files"] = files;
  return json::serialize(out);
}

}  // namespace cellblock::differential
