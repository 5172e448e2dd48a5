// The Spec's checks and its form on the wire, and what a Report says in words. Encoded by the supervisor, decoded by the zygote and
// cellblock-init, which trust the sender but check every bound all the same.
#include <sys/resource.h>

#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "confine/confine.h"
#include "confine/jail_proof.h"
#include "confine/proof.h"
#include "wire/fields.h"

namespace cellblock::confine {
namespace {

// Tags are part of the wire format between executables of one build; every one appears exactly once, but for lists.
enum Tag : uint16_t {
  kUid = 1,
  kGid,
  kOpenFiles,
  kFileBytes,
  kProcesses,
  kDataBytes,
  kStackBytes,
  kAllowInet,
  kLandlock,
  kSeccomp,
  kCapabilities,
  kNoNewPrivileges,
  kCpus,  // all numbers in one field, 4 bytes each; absent: none
  kReadOnlyPath,
  kWritablePath,
  kListablePath,
};
constexpr uint64_t kRequirementMax = static_cast<uint64_t>(Requirement::kOff);
constexpr uint64_t kIdMax = UINT32_MAX - 1;  // UINT32_MAX means "unchanged" to setresuid(2)

absl::Status CheckPaths(absl::string_view field, const std::vector<std::string>& paths) {
  if (paths.size() > kPathsMax) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": ", paths.size(), " paths; at most ", kPathsMax));
  }
  for (const std::string& path : paths) {
    if (path.empty() || path[0] != '/' || path.size() > kPathBytesMax || path.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat(field, ": \"", absl::CHexEscape(path.substr(0, 200)),
                                                     "\" is not an absolute path of at most ", kPathBytesMax,
                                                     " bytes without zero bytes"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNotRoot(absl::string_view field, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.find_first_not_of('/') == std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat(field, ": a rule for the root folder would leave Landlock on in name only; "
                                                            "name the folders below it"));
    }
  }
  return absl::OkStatus();
}

// Single-valued fields: tag, largest value, where it goes.
struct NumberField {
  Tag tag;
  uint64_t max;
  void (*set)(Spec&, uint64_t);
  uint64_t (*get)(const Spec&);
};
#define CELLBLOCK_NUMBER_FIELD(tag, max, member)                                            \
  {tag, max, [](Spec& s, uint64_t v) { s.member = static_cast<decltype(s.member)>(v); },    \
   [](const Spec& s) { return static_cast<uint64_t>(s.member); }}
constexpr std::array<NumberField, 12> kNumberFields = {{
    CELLBLOCK_NUMBER_FIELD(kUid, kIdMax, uid),
    CELLBLOCK_NUMBER_FIELD(kGid, kIdMax, gid),
    CELLBLOCK_NUMBER_FIELD(kOpenFiles, UINT64_MAX, open_files),
    CELLBLOCK_NUMBER_FIELD(kFileBytes, UINT64_MAX, file_bytes),
    CELLBLOCK_NUMBER_FIELD(kProcesses, UINT64_MAX, processes),
    CELLBLOCK_NUMBER_FIELD(kDataBytes, UINT64_MAX, data_bytes),
    CELLBLOCK_NUMBER_FIELD(kStackBytes, UINT64_MAX, stack_bytes),
    CELLBLOCK_NUMBER_FIELD(kAllowInet, 1, allow_inet),
    CELLBLOCK_NUMBER_FIELD(kLandlock, kRequirementMax, landlock),
    CELLBLOCK_NUMBER_FIELD(kSeccomp, kRequirementMax, seccomp),
    CELLBLOCK_NUMBER_FIELD(kCapabilities, kRequirementMax, capabilities),
    CELLBLOCK_NUMBER_FIELD(kNoNewPrivileges, kRequirementMax, no_new_privileges),
}};
#undef CELLBLOCK_NUMBER_FIELD

absl::Status DecodeCpus(absl::string_view value, std::vector<int32_t>* cpus) {
  if (value.empty() || value.size() % sizeof(int32_t) != 0 || value.size() / sizeof(int32_t) > kCpusMax || !cpus->empty()) {
    return absl::InvalidArgumentError(absl::StrCat("confinement spec: cpus must come once, as 1 to ", kCpusMax, " numbers"));
  }
  cpus->resize(value.size() / sizeof(int32_t));
  std::memcpy(cpus->data(), value.data(), value.size());
  return absl::OkStatus();
}

absl::Status DecodeField(uint16_t tag, absl::string_view value, Spec* spec, uint32_t* seen) {
  for (const NumberField& field : kNumberFields) {
    if (field.tag != tag) continue;
    uint64_t number;
    if (!wire::ParseU64(value, &number) || number > field.max || (*seen & (1U << tag)) != 0) {
      return absl::InvalidArgumentError(absl::StrCat("confinement spec: field ", tag, " must come once, as a number up to ", field.max));
    }
    *seen |= 1U << tag;
    field.set(*spec, number);
    return absl::OkStatus();
  }
  std::vector<std::string>* paths = tag == kReadOnlyPath   ? &spec->read_only_paths
                                    : tag == kWritablePath ? &spec->writable_paths
                                    : tag == kListablePath ? &spec->listable_paths
                                                           : nullptr;
  if (paths != nullptr) {
    if (paths->size() == kPathsMax) return absl::InvalidArgumentError(absl::StrCat("confinement spec: more than ", kPathsMax, " paths"));
    paths->emplace_back(value.data(), value.size());
    return absl::OkStatus();
  }
  if (tag == kCpus) return DecodeCpus(value, &spec->cpus);
  return absl::InvalidArgumentError(absl::StrCat("confinement spec: unknown field ", tag));
}

// What `detail` of a failure stands for, in words.
std::string DescribeDetail(const StepFailure& failure, const Spec& spec) {
  if (failure.detail < 0) return "";
  const absl::string_view step = StepName(failure.step);
  if (step == "landlock") {
    auto index = static_cast<size_t>(failure.detail);
    for (const auto* list : {&spec.read_only_paths, &spec.writable_paths, &spec.listable_paths}) {
      if (index < list->size()) return absl::StrCat(" on \"", absl::CHexEscape((*list)[index]), "\"");
      index -= list->size();
    }
    return "";
  }
  if (step == "single_thread") return absl::StrCat(" with ", failure.detail, " threads");
  if (step == "descriptors_proof") return absl::StrCat(" on open descriptor ", failure.detail);
  if (step == "namespaces_proof") return absl::StrCat(" on the ", NamespaceName(failure.detail));
  if (step == "root_proof") return absl::StrCat(" on line ", failure.detail, " of /proc/self/mountinfo");
  if (step == "rlimits" || step == "rlimits_proof") return absl::StrCat(" on resource ", failure.detail);
  return absl::StrCat(" on capability ", failure.detail);
}

}  // namespace

absl::Status ValidateSpec(const Spec& spec) {
  if (spec.uid > kIdMax || spec.gid > kIdMax) return absl::InvalidArgumentError("uid, gid: 4294967295 stands for no id");
  if (spec.cpus.size() > kCpusMax) return absl::InvalidArgumentError(absl::StrCat("cpus: more than ", kCpusMax, " entries"));
  for (int32_t cpu : spec.cpus) {
    if (cpu < 0 || cpu >= static_cast<int32_t>(kCpusMax)) return absl::InvalidArgumentError(absl::StrCat("cpus: ", cpu, " is not in 0 – ", kCpusMax - 1));
  }
  CELLBLOCK_RETURN_IF_ERROR(CheckPaths("read_only_paths", spec.read_only_paths));
  CELLBLOCK_RETURN_IF_ERROR(CheckPaths("writable_paths", spec.writable_paths));
  CELLBLOCK_RETURN_IF_ERROR(CheckPaths("listable_paths", spec.listable_paths));
  CELLBLOCK_RETURN_IF_ERROR(CheckNotRoot("read_only_paths", spec.read_only_paths));
  CELLBLOCK_RETURN_IF_ERROR(CheckNotRoot("writable_paths", spec.writable_paths));
  if (size_t bytes = EncodeSpec(spec).size(); bytes > kSpecBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("paths: ", bytes, " bytes together when encoded; at most ", kSpecBytesMax));
  }
  return absl::OkStatus();
}

std::string EncodeSpec(const Spec& spec) {
  wire::FieldWriter writer;
  for (const NumberField& field : kNumberFields) writer.U64(field.tag, field.get(spec));
  if (!spec.cpus.empty()) {
    writer.Bytes(kCpus, absl::string_view(reinterpret_cast<const char*>(spec.cpus.data()), spec.cpus.size() * sizeof(int32_t)));
  }
  for (const std::string& path : spec.read_only_paths) writer.Bytes(kReadOnlyPath, path);
  for (const std::string& path : spec.writable_paths) writer.Bytes(kWritablePath, path);
  for (const std::string& path : spec.listable_paths) writer.Bytes(kListablePath, path);
  return writer.Take();
}

absl::StatusOr<Spec> DecodeSpec(absl::string_view bytes) {
  if (bytes.size() > kSpecBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("confinement spec: ", bytes.size(), " bytes; at most ", kSpecBytesMax));
  }
  Spec spec;
  uint32_t seen = 0;
  wire::FieldReader reader(bytes);
  uint16_t tag;
  absl::string_view value;
  while (reader.Next(&tag, &value)) CELLBLOCK_RETURN_IF_ERROR(DecodeField(tag, value, &spec, &seen));
  CELLBLOCK_RETURN_IF_ERROR(reader.status());
  for (const NumberField& field : kNumberFields) {
    // A default here could loosen what the sender meant.
    if ((seen & (1U << field.tag)) == 0) return absl::InvalidArgumentError(absl::StrCat("confinement spec: field ", field.tag, " is missing"));
  }
  CELLBLOCK_RETURN_IF_ERROR(ValidateSpec(spec));
  return spec;
}

absl::Status ReportStatus(const Report& report, const Spec& spec) {
  const StepFailure& failure = report.failure;
  if (failure.step < 0) return absl::OkStatus();
  std::string what = absl::StrCat("confinement step \"", StepName(failure.step), "\" failed", DescribeDetail(failure, spec), " (",
                                  StepReason(failure.step), ")");
  if (failure.error == kNotProven) return absl::FailedPreconditionError(absl::StrCat(what, ": the kernel shows that it does not hold"));
  return absl::ErrnoToStatus(failure.error, what);
}

}  // namespace cellblock::confine
