// `cellblock policy`.
#include "app/policy_command.h"

#include "app/exit_codes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/captured_stream.h"

namespace cellblock::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PolicyCommandTest : public ::testing::Test {
 protected:
  PolicyCommandTest() {
    context_.surroundings.executable_directory = root_ / "usr/bin";
    context_.surroundings.environment = [](const char*) { return std::nullopt; };
    context_.console.stdout_fd = out_.fd();
    context_.console.stderr_fd = err_.fd();
    root_.Write("usr/share/cellblock/policies/default.yaml", "name: default\n");
    root_.Write("usr/share/cellblock/policies/small.yaml", "name: small\nlimits:\n  memory: 512MiB\n");
  }
  int Run(PolicyAction action, const std::vector<std::string>& policies) { return PolicyCommand({action, policies}, context_); }

  TemporaryFolder root_;
  CapturedStream out_, err_;
  Context context_;
};

TEST_F(PolicyCommandTest, CheckAcceptsNamesAndFiles) {
  EXPECT_EQ(Run(PolicyAction::kCheck, {"default", root_.Write("mine.yaml", "extends: default\n")}), kExitOk);
  EXPECT_EQ(out_.text(), "default: ok\n" + (root_ / "mine.yaml") + ": ok\n");
}

TEST_F(PolicyCommandTest, CheckNamesEveryBadFile) {
  const std::string bad = root_.Write("bad.yaml", "limits:\n  memroy: 2GiB\n"), worse = root_.Write("worse.yaml", "limits: [\n");
  EXPECT_EQ(Run(PolicyAction::kCheck, {bad, "default", worse, "nosuch"}), kExitUserError);
  EXPECT_EQ(out_.text(), "default: ok\n");
  EXPECT_THAT(err_.text(), AllOf(HasSubstr(bad + ":2:3"), HasSubstr("memory"), HasSubstr(worse), HasSubstr("nosuch")));
}

TEST_F(PolicyCommandTest, PrintShowsEveryKey) {
  EXPECT_EQ(Run(PolicyAction::kPrint, {"small"}), kExitOk);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr("memory: 512MiB"), HasSubstr("wall:"), HasSubstr("seccomp:")));
}

TEST_F(PolicyCommandTest, PrintOfABadPolicyIsAUsageError) {
  EXPECT_EQ(Run(PolicyAction::kPrint, {"nosuch"}), kExitUsage);
  EXPECT_EQ(out_.text(), "");
  EXPECT_THAT(err_.text(), HasSubstr("nosuch"));
}

TEST_F(PolicyCommandTest, DiffTellsBySayingAndByExitCode) {
  EXPECT_EQ(Run(PolicyAction::kDiff, {"default", "default"}), kExitOk);
  EXPECT_EQ(out_.text(), "");
  EXPECT_EQ(Run(PolicyAction::kDiff, {"default", "small"}), kExitUserError);
  EXPECT_THAT(out_.text(), HasSubstr("limits.memory: 2GiB → 512MiB"));
  EXPECT_EQ(Run(PolicyAction::kDiff, {"default", "nosuch"}), kExitUsage);
}

}  // namespace
}  // namespace cellblock::app
