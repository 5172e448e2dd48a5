// See doctor_command.h.
#include "app/doctor_command.h"

#include <algorithm>
#include <boost/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "app/console.h"
#include "app/exit_codes.h"
#include "app/locations.h"
#include "app/session_setup.h"
#include "app/start_bench.h"

namespace cellblock::app {
namespace {

// Layer names as reports and people write them, in the form of the policy's keys.
std::string KeyName(const std::string& name) { return absl::StrReplaceAll(absl::AsciiStrToLower(name), {{" ", "_"}, {"-", "_"}}); }

const LayerReport* FindReport(const std::vector<LayerReport>& reports, const std::string& key) {
  const auto found = std::find_if(reports.begin(), reports.end(), [&](const LayerReport& report) { return KeyName(report.name) == key; });
  return found == reports.end() ? nullptr : &*found;
}

struct RequiredLayer {
  const char* key;
  Requirement Isolation::*requirement;
  bool in_every_kernel = false;  // needs nothing of the machine: no report of it is no sign against it
};
constexpr RequiredLayer kLayers[] = {
    {"user_namespace", &Isolation::user_namespace},
    {"pid_namespace", &Isolation::pid_namespace},
    {"mount_namespace", &Isolation::mount_namespace},
    {"network_namespace", &Isolation::network_namespace},
    {"ipc_namespace", &Isolation::ipc_namespace},
    {"uts_namespace", &Isolation::uts_namespace},
    {"capabilities_dropped", &Isolation::capabilities_dropped, true},
    {"no_new_privileges", &Isolation::no_new_privileges, true},
    {"landlock", &Isolation::landlock},
    {"seccomp", &Isolation::seccomp},
    {"cgroup", &Isolation::cgroup},
};

// The Python environment as one more row: without it nothing runs either.
LayerReport EnvironmentRow(const DoctorOptions& options, const Policy& policy, const Context& context) {
  const absl::StatusOr<std::string> folder =
      FindPythonEnvironment(context.surroundings, options.python_environment, policy.python.environment);
  LayerReport row;
  row.name = "python environment";
  row.available = folder.ok();
  if (folder.ok()) {
    row.detail = *folder;
  } else {
    // "what is wrong; build it with: …"
    const std::string message(folder.status().message());
    const size_t split = message.find("; ");
    row.detail = message.substr(0, split);
    if (split != std::string::npos) row.advice = message.substr(split + 2);
  }
  return row;
}

// What --strict found out by starting a session.
struct Trial {
  bool answered = false;
  std::vector<Layer> layers;
};

// Layers that work one by one may not work together: profiles of AppArmor allow a user namespace and take its capabilities, filters of
// containers refuse a mount. Only a session that answers shows that the policy is kept.
Trial TrySession(const DoctorOptions& options, const Policy& policy, const Context& context, Console& console, std::vector<MissingLayer>& missing) {
  SessionChoices choices;
  choices.python_environment = options.python_environment;
  Trial trial;
  LiveSession live;
  if (std::optional<Failure> failure = StartSession(choices, policy, {}, context, console, &live)) {
    missing.push_back({"session", absl::StrCat("none could be started: ", failure->status.message()), ""});
    return trial;
  }
  ExecuteOptions call;
  call.language = policy.languages.python ? Language::kPython : Language::kBash;
  const absl::StatusOr<Record> record = live.session->Execute(call.language == Language::kPython ? "pass" : ":", call);
  trial.answered = record.ok() && record->status == CallStatus::kOk;
  trial.layers = live.session->layers();
  if (!trial.answered) missing.push_back({"session", absl::StrCat("its first call did not end well: ", record.ok() ? record->reason : std::string(record.status().message())), ""});
  for (const RequiredLayer& layer : kLayers) {
    if (policy.isolation.*layer.requirement != Requirement::kRequired) continue;
    for (const Layer& found : trial.layers) {
      if (found.name == layer.key && found.state == "off") missing.push_back({absl::StrCat("isolation.", layer.key), absl::StrCat("off in a session: ", found.detail), ""});
    }
  }
  return trial;
}

std::string TrialText(const Trial& trial, const std::string& policy) {
  if (!trial.answered) return "";
  std::vector<std::string> on, off;
  for (const Layer& layer : trial.layers) {
    (layer.state == "enforced" ? on : off).push_back(layer.state == "enforced" ? layer.name : absl::StrCat("  ", layer.name, " is ", layer.state, layer.detail.empty() ? "" : ": ", layer.detail, "\n"));
  }
  return absl::StrCat("A session under '", policy, "' was started and has answered. Enforced in it: ", absl::StrJoin(on, ", "), ".\n",
                      off.empty() ? "" : "What the policy does without:\n", absl::StrJoin(off, ""), "\n");
}

std::string Table(const std::vector<LayerReport>& rows, const std::vector<MissingLayer>& missing, const Trial& trial, const std::string& policy) {
  size_t width = 0;
  for (const LayerReport& row : rows) width = std::max(width, row.name.size());
  std::string text;
  for (const LayerReport& row : rows) {
    absl::StrAppendFormat(&text, "%-*s  %-3s  %s\n", static_cast<int>(width), row.name, row.available ? "on" : "OFF", row.detail);
    if (!row.available && !row.advice.empty()) absl::StrAppendFormat(&text, "%*s       → %s\n", static_cast<int>(width), "", row.advice);
  }
  absl::StrAppend(&text, "\n", TrialText(trial, policy));
  if (missing.empty()) {
    absl::StrAppend(&text, "The policy '", policy, "' can be kept on this machine.\n");
    return text;
  }
  absl::StrAppend(&text, "The policy '", policy, "' cannot be kept on this machine:\n");
  for (const MissingLayer& layer : missing) {
    absl::StrAppend(&text, "  ", layer.key, ": ", layer.reason, "\n", layer.advice.empty() ? "" : absl::StrCat("    → ", layer.advice, "\n"));
  }
  return text;
}

std::vector<BenchRow> Measure(const DoctorOptions& options, const Policy& policy, const Context& context, std::vector<MissingLayer>& missing) {
  HostOptions host;
  host.python_environment = FindPythonEnvironment(context.surroundings, options.python_environment, policy.python.environment).value_or("");
  absl::StatusOr<std::vector<BenchRow>> measured = MeasureSessions(policy, host, context);
  if (measured.ok()) return *std::move(measured);
  missing.push_back({"bench", std::string(measured.status().message()), ""});
  return {};
}

boost::json::array BenchJson(const std::vector<BenchRow>& rows) {
  boost::json::array list;
  for (const BenchRow& row : rows) {
    list.push_back({{"name", row.name}, {"median_ms", absl::ToDoubleMilliseconds(row.median)}, {"least_ms", absl::ToDoubleMilliseconds(row.least)}, {"is_part", row.is_part}});
  }
  return list;
}

std::string Json(const std::vector<LayerReport>& rows, const std::vector<MissingLayer>& missing, const Trial& trial, bool tried, const std::vector<BenchRow>& bench, const std::string& policy) {
  boost::json::array layers;
  for (const LayerReport& row : rows) {
    layers.push_back({{"name", row.name}, {"available", row.available}, {"detail", row.detail}, {"advice", row.advice}});
  }
  boost::json::array lacks;
  for (const MissingLayer& layer : missing) lacks.push_back({{"key", layer.key}, {"reason", layer.reason}, {"advice", layer.advice}});
  boost::json::object object{{"policy", policy}, {"satisfied", missing.empty()}, {"layers", layers}, {"missing", lacks}};
  if (tried) {
    boost::json::array found;
    for (const Layer& layer : trial.layers) found.push_back({{"name", layer.name}, {"state", layer.state}, {"detail", layer.detail}});
    object["session"] = {{"answered", trial.answered}, {"layers", found}};
  }
  if (!bench.empty()) object["bench"] = BenchJson(bench);
  return absl::StrCat(boost::json::serialize(object), "\n");
}

}  // namespace

std::vector<MissingLayer> FindMissingLayers(const Policy& policy, const std::vector<LayerReport>& reports) {
  std::vector<MissingLayer> missing;
  const auto reason_of = [](const LayerReport& report) { return report.detail.empty() ? "not available" : report.detail; };
  for (const RequiredLayer& layer : kLayers) {
    if (policy.isolation.*layer.requirement != Requirement::kRequired) continue;
    const LayerReport* report = FindReport(reports, layer.key);
    if (report != nullptr ? report->available : layer.in_every_kernel) continue;
    // A layer nobody looked at is not a layer one has.
    missing.push_back({absl::StrCat("isolation.", layer.key), report == nullptr ? "not known on this machine" : reason_of(*report), report == nullptr ? "" : report->advice});
  }
  // The kernel keeps a memory limit only through a cgroup.
  const LayerReport* cgroup = FindReport(reports, "cgroup");
  if (policy.isolation.memory == MemoryRequirement::kEnforced && (cgroup == nullptr || !cgroup->available)) {
    missing.push_back({"isolation.memory", cgroup == nullptr ? "not known on this machine" : reason_of(*cgroup), cgroup == nullptr ? "" : cgroup->advice});
  }
  // Every session needs it, whatever its policy says.
  const LayerReport* nest = FindReport(reports, "nest");
  if (nest != nullptr && !nest->available) missing.push_back({"nest", reason_of(*nest), nest->advice});
  return missing;
}

int DoctorCommand(const DoctorOptions& options, const Context& context) {
  Console console(context.console);
  const absl::StatusOr<Policy> policy = LoadPolicy(options.policy, FindLocations(context.surroundings).policy_directory);
  if (!policy.ok()) {
    console.Problem(policy.status().message());
    return kExitUsage;
  }
  std::vector<LayerReport> rows = context.inspect_machine();
  std::vector<MissingLayer> missing = FindMissingLayers(*policy, rows);
  rows.push_back(EnvironmentRow(options, *policy, context));
  if (!rows.back().available) missing.push_back({"python.environment", rows.back().detail, rows.back().advice});
  Trial trial;
  const bool try_session = options.strict && missing.empty();  // else it is known what fails, and why
  if (try_session) trial = TrySession(options, *policy, context, console, missing);
  std::vector<BenchRow> bench;
  if (options.bench && missing.empty()) bench = Measure(options, *policy, context, missing);
  const std::string table = bench.empty() ? "" : BenchTable(bench, policy->name);
  console.Write(options.json ? Json(rows, missing, trial, try_session, bench, policy->name) : absl::StrCat(table, Table(rows, missing, trial, policy->name)));
  if (console.stdout_closed()) return ExitCodeOfLostOutput(console);
  return missing.empty() ? kExitOk : kExitHost;
}

}  // namespace cellblock::app
