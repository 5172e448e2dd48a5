// See schema.h. The reasons for the defaults stand in policies/reference.yaml, beside each key.
#include "policy/schema.h"

#include <algorithm>
#include <iterator>

#include "policy/rules.h"

namespace cellblock::policy {
namespace {

constexpr int64_t KiB(int64_t n) { return n << 10; }
constexpr int64_t MiB(int64_t n) { return n << 20; }
constexpr int64_t GiB(int64_t n) { return n << 30; }
constexpr int64_t TiB(int64_t n) { return n << 40; }

// Accessor of one member of Policy.
#define CELLBLOCK_FIELD(member) [](Policy& policy) -> decltype((policy.member)) { return policy.member; }

constexpr Key kSchema[] = {
    {"name", TextKey{CELLBLOCK_FIELD(name), NameProblem, false}},
    {"extends", ExtendsKey{}},

    {"limits.wall", DurationKey{CELLBLOCK_FIELD(limits.wall), absl::Milliseconds(100), absl::Hours(24)}},
    {"limits.wall_grace", DurationKey{CELLBLOCK_FIELD(limits.wall_grace), absl::ZeroDuration(), absl::Seconds(60)}},
    {"limits.cpu", OptionalDurationKey{CELLBLOCK_FIELD(limits.cpu), absl::Milliseconds(100), absl::Hours(24)}},
    {"limits.cpus", CountKey<int>{CELLBLOCK_FIELD(limits.cpus), 1, 1024}},
    {"limits.cpu_weight", CountKey<int>{CELLBLOCK_FIELD(limits.cpu_weight), 1, 10'000}},
    {"limits.memory", SizeKey{CELLBLOCK_FIELD(limits.memory_bytes), MiB(64), TiB(16)}},
    {"limits.processes", CountKey<int64_t>{CELLBLOCK_FIELD(limits.processes), 1, 32'768}},
    {"limits.open_files", CountKey<int64_t>{CELLBLOCK_FIELD(limits.open_files), 16, 1'048'576}},
    {"limits.workspace", SizeKey{CELLBLOCK_FIELD(limits.workspace_bytes), MiB(1), TiB(16)}},
    {"limits.workspace_files", CountKey<int64_t>{CELLBLOCK_FIELD(limits.workspace_files), 16, 10'000'000}},
    {"limits.tmp", SizeKey{CELLBLOCK_FIELD(limits.tmp_bytes), MiB(1), TiB(16)}},
    {"limits.shm", SizeKey{CELLBLOCK_FIELD(limits.shm_bytes), MiB(1), TiB(16)}},
    {"limits.file_size", SizeKey{CELLBLOCK_FIELD(limits.file_bytes), KiB(4), TiB(16)}},
    {"limits.output", SizeKey{CELLBLOCK_FIELD(limits.output_bytes), KiB(1), GiB(1)}},
    {"limits.result_size", SizeKey{CELLBLOCK_FIELD(limits.result_bytes), KiB(64), GiB(1)}},
    {"limits.results", CountKey<int64_t>{CELLBLOCK_FIELD(limits.results), 1, 10'000}},
    {"limits.code_size", SizeKey{CELLBLOCK_FIELD(limits.code_bytes), KiB(1), MiB(64)}},

    {"session.idle", DurationKey{CELLBLOCK_FIELD(session.idle), absl::Seconds(1), absl::Hours(720)}},
    {"session.life", DurationKey{CELLBLOCK_FIELD(session.life), absl::Seconds(1), absl::Hours(720)}},
    {"session.queue", CountKey<int64_t>{CELLBLOCK_FIELD(session.queue), 0, 1000}},

    {"artifacts.include", TextListKey{CELLBLOCK_FIELD(artifacts.include), GlobProblem, 64, false}},
    {"artifacts.exclude", TextListKey{CELLBLOCK_FIELD(artifacts.exclude), GlobProblem, 64, false}},
    {"artifacts.size", SizeKey{CELLBLOCK_FIELD(artifacts.bytes), 0, TiB(1)}},
    {"artifacts.file_size", SizeKey{CELLBLOCK_FIELD(artifacts.file_bytes), 0, TiB(1)}},
    {"artifacts.full_output", SizeKey{CELLBLOCK_FIELD(artifacts.full_output_bytes), 0, TiB(1)}},
    {"artifacts.files", CountKey<int64_t>{CELLBLOCK_FIELD(artifacts.files), 0, 100'000}},
    {"artifacts.depth", CountKey<int>{CELLBLOCK_FIELD(artifacts.depth), 1, 64}},

    {"files.root", TextKey{CELLBLOCK_FIELD(files.directory), RootProblem, true}},
    {"files.mounts", MountsKey{CELLBLOCK_FIELD(files.mounts), 32}},

    {"languages.python", FlagKey{CELLBLOCK_FIELD(languages.python)}},
    {"languages.bash", FlagKey{CELLBLOCK_FIELD(languages.bash)}},
    {"languages.subprocesses", FlagKey{CELLBLOCK_FIELD(languages.subprocesses)}},

    {"python.environment", TextKey{CELLBLOCK_FIELD(python.environment), NameProblem, false}},
    {"python.preload", TextListKey{CELLBLOCK_FIELD(python.preload), ModuleProblem, 64, false}},
    {"python.table_width", CountKey<int>{CELLBLOCK_FIELD(python.table_width), 80, 10'000}},
    {"python.table_columns", CountKey<int>{CELLBLOCK_FIELD(python.table_columns), 5, 1000}},
    {"python.figure_dpi", CountKey<int>{CELLBLOCK_FIELD(python.figure_dpi), 30, 600}},
    {"python.figure_svg", FlagKey{CELLBLOCK_FIELD(python.figure_svg)}},

    {"determinism.seed", SeedKey{CELLBLOCK_FIELD(determinism.seed)}},
    {"determinism.fixed_hash_seed", FlagKey{CELLBLOCK_FIELD(determinism.fixed_hash_seed)}},
    {"determinism.time_zone", TextKey{CELLBLOCK_FIELD(determinism.time_zone), TimeZoneProblem, false}},
    {"determinism.locale", TextKey{CELLBLOCK_FIELD(determinism.locale), LocaleProblem, false}},

    {"isolation.user_namespace", RequirementKey{CELLBLOCK_FIELD(isolation.user_namespace)}},
    {"isolation.pid_namespace", RequirementKey{CELLBLOCK_FIELD(isolation.pid_namespace)}},
    {"isolation.mount_namespace", RequirementKey{CELLBLOCK_FIELD(isolation.mount_namespace)}},
    {"isolation.network_namespace", RequirementKey{CELLBLOCK_FIELD(isolation.network_namespace)}},
    {"isolation.ipc_namespace", RequirementKey{CELLBLOCK_FIELD(isolation.ipc_namespace)}},
    {"isolation.uts_namespace", RequirementKey{CELLBLOCK_FIELD(isolation.uts_namespace)}},
    {"isolation.capabilities_dropped", RequirementKey{CELLBLOCK_FIELD(isolation.capabilities_dropped)}},
    {"isolation.no_new_privileges", RequirementKey{CELLBLOCK_FIELD(isolation.no_new_privileges)}},
    {"isolation.landlock", RequirementKey{CELLBLOCK_FIELD(isolation.landlock)}},
    {"isolation.seccomp", RequirementKey{CELLBLOCK_FIELD(isolation.seccomp)}},
    {"isolation.cgroup", RequirementKey{CELLBLOCK_FIELD(isolation.cgroup)}},
    {"isolation.memory", MemoryKey{CELLBLOCK_FIELD(isolation.memory)}},
    {"isolation.extra_syscalls", TextListKey{CELLBLOCK_FIELD(isolation.extra_syscalls), SyscallProblem, 64, true}},

    {"environment", VariablesKey{CELLBLOCK_FIELD(environment), 128, KiB(64)}},
    {"redact", TextListKey{CELLBLOCK_FIELD(redact), RedactProblem, 64, true}},

    {"network.allow", NetworkRulesKey{CELLBLOCK_FIELD(network.allow), 64}},
    {"network.secrets", NetworkSecretsKey{CELLBLOCK_FIELD(network.secrets), 16}},
    {"network.packages", PackageIndexKey{CELLBLOCK_FIELD(network.packages)}},
    {"network.call_bytes", SizeKey{CELLBLOCK_FIELD(network.call_bytes), KiB(1), TiB(1)}},
    {"network.rate", OptionalSizeKey{CELLBLOCK_FIELD(network.rate_bytes), KiB(1), GiB(16)}},
    {"network.connections", CountKey<int64_t>{CELLBLOCK_FIELD(network.connections), 1, 1024}},
    {"network.requests", CountKey<int64_t>{CELLBLOCK_FIELD(network.requests), 1, 1'000'000}},
    {"network.idle", DurationKey{CELLBLOCK_FIELD(network.idle), absl::Seconds(1), absl::Hours(1)}},

    {"keep_processes", FlagKey{CELLBLOCK_FIELD(keep_processes)}},
};

#undef CELLBLOCK_FIELD

constexpr GroupWord kGroupWords[] = {
    {"network", "off", [](const Policy& policy) { return policy.network == Network{}; }, [](Policy& policy) { policy.network = Network{}; },
     "{allow: [api.example.com]}"},
};

}  // namespace

absl::Span<const Key> Schema() { return kSchema; }

const Key* FindKey(absl::string_view path) {
  const Key* found = std::find_if(std::begin(kSchema), std::end(kSchema), [&](const Key& key) { return key.path == path; });
  return found == std::end(kSchema) ? nullptr : found;
}

absl::string_view GroupOf(absl::string_view path) {
  size_t dot = path.find('.');
  return dot == absl::string_view::npos ? absl::string_view() : path.substr(0, dot);
}

absl::string_view LastPartOf(absl::string_view path) { return path.substr(path.find('.') + 1); }

bool IsGroup(absl::string_view name) {
  return !name.empty() && std::any_of(std::begin(kSchema), std::end(kSchema), [&](const Key& key) { return GroupOf(key.path) == name; });
}

const GroupWord* FindGroupWord(absl::string_view group) {
  const GroupWord* found = std::find_if(std::begin(kGroupWords), std::end(kGroupWords), [&](const GroupWord& word) { return word.group == group; });
  return found == std::end(kGroupWords) ? nullptr : found;
}

}  // namespace cellblock::policy
