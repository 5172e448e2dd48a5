// See receipt.h.
#include "session/receipt.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "capture/utf8.h"

namespace cellblock::session {
namespace {

void Hit(Record& record, const char* name, std::string detail) {
  for (const LimitHit& hit : record.receipt.limits_hit) {
    if (hit.name == name) return;
  }
  record.receipt.limits_hit.push_back({name, std::move(detail)});
}

bool ErrorHolds(const Record& record, absl::string_view text) {
  if (record.error.has_value() && absl::StrContains(record.error->value, text)) return true;
  return absl::StrContains(record.stderr_text, text);
}

// What a message of CPython names at its end, "[Errno 30] Read-only file system: '/etc/x'"; else the message, cut.
std::string SubjectOf(absl::string_view value) {
  constexpr size_t kSubjectBytesMax = 200;
  size_t at = value.rfind(": '");
  if (at != absl::string_view::npos && absl::EndsWith(value, "'") && value.size() > at + 4) value = value.substr(at + 3, value.size() - at - 4);
  return std::string(value.substr(0, capture::FloorToCharacter(value, kSubjectBytesMax)));
}

void AddDisksFull(const Limits& limits, const supervise::DiskUse& before, const supervise::DiskUse& after, Record& record) {
  struct Full {
    bool before, after;
    const char* name;
    std::string detail;
  };
  const Full all[] = {
      {before.workspace_full, after.workspace_full, "workspace", absl::StrCat("the workspace is full: limits.workspace is ", limits.workspace_bytes, " bytes")},
      {before.inodes_full, after.inodes_full, "workspace_files",
       absl::StrCat("the workspace holds as many files as it may: limits.workspace_files is ", limits.workspace_files)},
      {before.tmp_full, after.tmp_full, "tmp", absl::StrCat("/tmp is full: limits.tmp is ", limits.tmp_bytes, " bytes")},
      {before.shm_full, after.shm_full, "shm", absl::StrCat("/dev/shm is full: limits.shm is ", limits.shm_bytes, " bytes")},
  };
  const size_t hits = record.receipt.limits_hit.size();
  auto add = [&](bool full_before) {
    for (const Full& each : all) {
      if (each.after && each.before == full_before) Hit(record, each.name, each.detail);
    }
    return record.receipt.limits_hit.size() > hits;
  };
  if (add(/*full_before=*/false) || !ErrorHolds(record, "No space left on device") || add(/*full_before=*/true)) return;
  // What had filled it is gone again.
  Hit(record, "workspace", absl::StrCat("a file system was full: limits.workspace is ", limits.workspace_bytes, " bytes, limits.tmp ", limits.tmp_bytes, ", limits.shm ", limits.shm_bytes));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> DescribeLimits(const Policy& policy, std::optional<absl::Duration> timeout) {
  const Limits& limits = policy.limits;
  std::vector<std::pair<std::string, std::string>> list = {
      {"wall", absl::FormatDuration(std::min(timeout.value_or(limits.wall), limits.wall))},
      {"wall_grace", absl::FormatDuration(limits.wall_grace)},
      {"cpus", absl::StrCat(limits.cpus)},
      {"memory", absl::StrCat(limits.memory_bytes, " bytes")},
      {"processes", absl::StrCat(limits.processes)},
      {"open_files", absl::StrCat(limits.open_files)},
      {"workspace", absl::StrCat(limits.workspace_bytes, " bytes")},
      {"workspace_files", absl::StrCat(limits.workspace_files)},
      {"tmp", absl::StrCat(limits.tmp_bytes, " bytes")},
      {"shm", absl::StrCat(limits.shm_bytes, " bytes")},
      {"file_size", absl::StrCat(limits.file_bytes, " bytes")},
      {"output", absl::StrCat(limits.output_bytes, " bytes")},
      {"result_size", absl::StrCat(limits.result_bytes, " bytes")},
      {"results", absl::StrCat(limits.results)},
      {"artifacts", absl::StrCat(policy.artifacts.bytes, " bytes in ", policy.artifacts.files, " files")},
  };
  if (limits.cpu.has_value()) list.insert(list.begin() + 1, {"cpu", absl::FormatDuration(*limits.cpu)});
  return list;
}

void AddLimitsHit(const Policy& policy, const supervise::DiskUse& before, const supervise::DiskUse& after, Record& record) {
  const Limits& limits = policy.limits;
  if (record.error.has_value() && (record.error->name == "MemoryError" || absl::EndsWith(record.error->name, "MemoryError") || absl::StrContains(record.error->value, "Cannot allocate memory"))) {
    Hit(record, "memory", absl::StrCat("an allocation was refused: limits.memory is ", limits.memory_bytes, " bytes"));
  }
  AddDisksFull(limits, before, after, record);
  if (ErrorHolds(record, "File too large")) Hit(record, "file_size", absl::StrCat("a file would have grown beyond limits.file_size (", limits.file_bytes, " bytes)"));
  if (ErrorHolds(record, "can't start new thread") || ErrorHolds(record, "Resource temporarily unavailable")) {
    Hit(record, "processes", absl::StrCat("a process or thread was refused: limits.processes is ", limits.processes));
  }
  if (ErrorHolds(record, "Too many open files") && !ErrorHolds(record, "Too many open files in system")) Hit(record, "open_files", absl::StrCat("a file could not be opened: limits.open_files is ", limits.open_files));
}

void AddDenials(const Policy& policy, Record& record) {
  if (!record.error.has_value()) return;
  const std::string& value = record.error->value;
  const std::string subject = SubjectOf(value);
  const char* const kSyscallRule = absl::StrContains(record.error->hint, "languages.subprocesses") ? "languages.subprocesses"
                                                                                                    : "isolation.seccomp: the system call is not on the allowed list";
  if (absl::StrContains(value, "Read-only file system")) {
    record.denials.push_back({"file", subject, "only /workspace, /tmp and /dev/shm can be written", 1});
  } else if (record.error->name == "PermissionError" && absl::StrContains(value, "Operation not permitted")) {
    record.denials.push_back({"syscall", subject, kSyscallRule, 1});
  } else if (absl::StrContains(value, "Function not implemented")) {
    record.denials.push_back({"syscall", subject, kSyscallRule, 1});
  } else if (record.error->name == "PermissionError" && absl::StrContains(record.error->hint, "network")) {  // no address family: the hint saw whose call it was
    record.denials.push_back({"network", subject, "network: off", 1});
  } else if (record.error->name == "PermissionError") {
    record.denials.push_back({"file", subject, "isolation.landlock and file permissions", 1});
  } else if (policy.network.is_on()) {  // the proxy has told of what it refused; an address that it never saw is told of here
    if (!absl::StrContains(value, "Network is unreachable")) return;
    record.denials.push_back({"network", subject, "network.allow: hosts are reached by their names, never by an address", 1});
    record.error->hint = "with a network of rules, hosts are reached by their names alone: no address but those that allowed names resolve to can be reached";
  } else if (absl::StrContains(value, "Address family not supported") || absl::StrContains(value, "name resolution") || absl::StrContains(value, "Name or service not known") ||
             absl::StrContains(value, "Network is unreachable")) {
    record.denials.push_back({"network", subject, "network: off", 1});
  }
}

}  // namespace cellblock::session
