// The confinement spec's wire form and its bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "confine/confine.h"
#include "confine/proof.h"
#include "tests/support/status_matchers.h"
#include "wire/fields.h"

namespace cellblock::confine {
namespace {

using ::testing::HasSubstr;

Spec FullSpec() {
  return Spec{.uid = 7,
              .gid = 8,
              .open_files = 16,
              .file_bytes = 4096,
              .processes = 3,
              .data_bytes = uint64_t{1} << 40,
              .stack_bytes = 1 << 20,
              .cpus = {0, 1023},
              .read_only_paths = {"/usr", "/etc/hosts"},
              .writable_paths = {"/workspace"},
              .listable_paths = {"/"},
              .allow_inet = true,
              .landlock = Requirement::kRequired,
              .seccomp = Requirement::kPreferred,
              .capabilities = Requirement::kOff,
              .no_new_privileges = Requirement::kPreferred};
}

std::string Path(size_t bytes) {
  std::string path(bytes, 'p');
  path[0] = '/';
  return path;
}

TEST(ConfineSpecTest, ComesBackFromTheWireAsItWas) {
  for (const Spec& spec : {Spec{}, FullSpec()}) {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(Spec back, DecodeSpec(EncodeSpec(spec)));
    EXPECT_EQ(back.uid, spec.uid);
    EXPECT_EQ(back.gid, spec.gid);
    EXPECT_EQ(back.open_files, spec.open_files);
    EXPECT_EQ(back.file_bytes, spec.file_bytes);
    EXPECT_EQ(back.processes, spec.processes);
    EXPECT_EQ(back.data_bytes, spec.data_bytes);
    EXPECT_EQ(back.stack_bytes, spec.stack_bytes);
    EXPECT_EQ(back.cpus, spec.cpus);
    EXPECT_EQ(back.read_only_paths, spec.read_only_paths);
    EXPECT_EQ(back.writable_paths, spec.writable_paths);
    EXPECT_EQ(back.listable_paths, spec.listable_paths);
    EXPECT_EQ(back.allow_inet, spec.allow_inet);
    EXPECT_EQ(back.landlock, spec.landlock);
    EXPECT_EQ(back.seccomp, spec.seccomp);
    EXPECT_EQ(back.capabilities, spec.capabilities);
    EXPECT_EQ(back.no_new_privileges, spec.no_new_privileges);
  }
}

TEST(ConfineSpecTest, RefusesEveryTruncation) {
  const std::string bytes = EncodeSpec(FullSpec());
  for (size_t length = 0; length < bytes.size(); ++length) {
    absl::StatusOr<Spec> spec = DecodeSpec(absl::string_view(bytes).substr(0, length));
    // A cut between fields can only lose the lists at the end; whatever decodes must then encode to what was read.
    if (spec.ok()) {
      EXPECT_EQ(EncodeSpec(*spec), bytes.substr(0, length));
    }
  }
  EXPECT_THAT(DecodeSpec(""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("field 1 is missing")));
  EXPECT_THAT(DecodeSpec(absl::string_view(bytes).substr(0, 5)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("header")));
  EXPECT_THAT(DecodeSpec(absl::string_view(bytes).substr(0, 9)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("inside a field")));
}

TEST(ConfineSpecTest, RefusesEverySingleValuedFieldThatIsMissing) {
  const std::string bytes = EncodeSpec(Spec{});
  constexpr size_t kFieldBytes = 2 + 4 + 8;
  ASSERT_EQ(bytes.size() % kFieldBytes, 0U);
  for (size_t at = 0; at < bytes.size(); at += kFieldBytes) {
    std::string less = bytes;
    less.erase(at, kFieldBytes);
    EXPECT_THAT(DecodeSpec(less), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("missing")));
  }
}

TEST(ConfineSpecTest, RefusesUnknownRepeatedAndMisshapenFields) {
  const std::string good = EncodeSpec(FullSpec());
  auto with = [&](auto add) {
    wire::FieldWriter more;
    add(more);
    return DecodeSpec(good + more.data());
  };
  EXPECT_THAT(with([](auto& w) { w.U64(99, 1); }), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("unknown field 99")));
  EXPECT_THAT(with([](auto& w) { w.U64(0, 1); }), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("unknown field 0")));
  EXPECT_THAT(with([](auto& w) { w.U64(1, 7); }), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("once")));
  EXPECT_THAT(with([](auto& w) { w.Bytes(13, std::string(4, '\0')); }), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cpus")));
  wire::FieldWriter narrow;
  narrow.Bytes(1, "1234");
  EXPECT_THAT(DecodeSpec(narrow.data()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("field 1")));
  wire::FieldWriter odd_cpus;
  odd_cpus.Bytes(13, "12345");
  EXPECT_THAT(DecodeSpec(odd_cpus.data()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cpus")));
}

TEST(ConfineSpecTest, RefusesNumbersOutOfTheirRange) {
  auto field = [](uint16_t tag, uint64_t value) {
    wire::FieldWriter writer;
    writer.U64(tag, value);
    return DecodeSpec(writer.data());
  };
  EXPECT_THAT(field(1, UINT32_MAX), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("up to 4294967294")));
  EXPECT_THAT(field(2, uint64_t{1} << 32), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("field 2")));
  EXPECT_THAT(field(8, 2), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("up to 1")));
  for (uint16_t requirement = 9; requirement <= 12; ++requirement) {
    EXPECT_THAT(field(requirement, 2), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("missing")));
    EXPECT_THAT(field(requirement, 3), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("up to 2")));
  }
}

TEST(ConfineSpecTest, HoldsListsToTheirMaximum) {
  Spec spec;
  for (auto* list : {&spec.read_only_paths, &spec.writable_paths, &spec.listable_paths}) {
    list->assign(kPathsMax, "/p");
    EXPECT_THAT(DecodeSpec(EncodeSpec(spec)), IsOk());
    list->push_back("/p");
    EXPECT_THAT(DecodeSpec(EncodeSpec(spec)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("64 paths")));
    EXPECT_THAT(ValidateSpec(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 64")));
    list->clear();
  }
  spec.cpus.assign(kCpusMax, 1);
  EXPECT_THAT(DecodeSpec(EncodeSpec(spec)), IsOk());
  spec.cpus.push_back(1);
  EXPECT_THAT(DecodeSpec(EncodeSpec(spec)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cpus")));
  for (int32_t cpu : {-1, 1024}) {
    spec.cpus = {cpu};
    EXPECT_THAT(DecodeSpec(EncodeSpec(spec)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cpus")));
  }
}

TEST(ConfineSpecTest, HoldsPathsToTheirForm) {
  Spec spec;
  spec.read_only_paths = {Path(kPathBytesMax)};
  EXPECT_THAT(DecodeSpec(EncodeSpec(spec)), IsOk());
  for (const std::string& bad : {Path(kPathBytesMax + 1), std::string(), std::string("relative"), std::string("/zero\0byte", 10)}) {
    spec.read_only_paths = {bad};
    EXPECT_THAT(DecodeSpec(EncodeSpec(spec)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("read_only_paths")));
  }
}

TEST(ConfineSpecTest, RefusesTheRootButForListing) {
  for (const char* root : {"/", "//"}) {
    Spec spec;
    spec.read_only_paths = {root};
    EXPECT_THAT(ValidateSpec(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("in name only")));
    spec = Spec{};
    spec.writable_paths = {root};
    EXPECT_THAT(ValidateSpec(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("in name only")));
    spec = Spec{};
    spec.listable_paths = {root};
    EXPECT_THAT(ValidateSpec(spec), IsOk());
  }
}

TEST(ConfineSpecTest, HoldsTheWholeTo64KiB) {
  constexpr size_t kHeaderBytes = 6;
  Spec spec;
  spec.read_only_paths.assign(15, Path(kPathBytesMax));
  const size_t rest = kSpecBytesMax - EncodeSpec(spec).size() - kHeaderBytes;
  spec.read_only_paths.push_back(Path(rest));
  ASSERT_EQ(EncodeSpec(spec).size(), kSpecBytesMax);
  EXPECT_THAT(DecodeSpec(EncodeSpec(spec)), IsOk());
  spec.read_only_paths.back() += "p";
  EXPECT_THAT(ValidateSpec(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 65536")));
  EXPECT_THAT(DecodeSpec(EncodeSpec(spec)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 65536")));
}

int StepIndex(absl::string_view name) {
  for (int step = 0; step < StepCount(); ++step) {
    if (name == StepName(step)) return step;
  }
  ADD_FAILURE() << "no step named " << name;
  return -1;
}

TEST(ConfineReportTest, NamesTheStepAndWhatItFailedOn) {
  const Spec spec = FullSpec();
  Report report;
  EXPECT_THAT(ReportStatus(report, spec), IsOk());
  report.failure = {.step = StepIndex("landlock"), .error = ENOENT, .detail = 2};
  EXPECT_THAT(ReportStatus(report, spec), StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"landlock\" failed on \"/workspace\"")));
  report.failure.detail = 4;  // beyond the lists: no path to name, but no crash
  EXPECT_THAT(ReportStatus(report, spec), StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"landlock\" failed (")));
  report.failure = {.step = StepIndex("descriptors_proof"), .error = kNotProven, .detail = 9};
  EXPECT_THAT(ReportStatus(report, spec), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("open descriptor 9")));
  report.failure = {.step = StepIndex("uid"), .error = EPERM, .detail = -1};
  EXPECT_THAT(ReportStatus(report, spec), StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("\"uid\" failed (")));
}

TEST(ConfineReportTest, EveryStepHasANameAndAReasonAndOthersNone) {
  ASSERT_GT(StepCount(), 0);
  for (int step = 0; step < StepCount(); ++step) {
    EXPECT_NE(std::string(StepName(step)), "none");
    EXPECT_GT(std::string(StepReason(step)).size(), 10U) << StepName(step);
  }
  for (int step : {-1, StepCount()}) {
    EXPECT_EQ(std::string(StepName(step)), "none");
    EXPECT_EQ(std::string(StepReason(step)), "");
  }
}

}  // namespace
}  // namespace cellblock::confine
