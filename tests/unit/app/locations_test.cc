// Where things are looked for.
#include "app/locations.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/captured_stream.h"
#include "tests/support/status_matchers.h"

namespace cellblock::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class LocationsTest : public ::testing::Test {
 protected:
  Surroundings Around(const std::string& executable_directory) {
    Surroundings surroundings;
    surroundings.executable_directory = root_ / executable_directory;
    surroundings.environment = [this](const char*) { return variable_; };
    return surroundings;
  }
  TemporaryFolder root_;
  std::optional<std::string> variable_;
};

TEST_F(LocationsTest, InstalledProgramLooksBesideItself) {
  root_.Write("usr/share/cellblock/policies/default.yaml", "");
  root_.Write("usr/share/cellblock/python_env/full/manifest.json", "{}");
  const Surroundings around = Around("usr/bin");
  EXPECT_EQ(FindLocations(around).policy_directory, root_ / "usr/share/cellblock/policies");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string environment, FindPythonEnvironment(around, "", "full"));
  EXPECT_EQ(environment, root_ / "usr/share/cellblock/python_env/full");
}

TEST_F(LocationsTest, BuiltProgramLooksIntoItsClone) {
  root_.Write("clone/policies/default.yaml", "");
  root_.Write("clone/build/python_env/full/manifest.json", "{}");
  const Surroundings around = Around("clone/build/release/bin");
  EXPECT_EQ(FindLocations(around).policy_directory, root_ / "clone/policies");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string environment, FindPythonEnvironment(around, "", "full"));
  EXPECT_EQ(environment, root_ / "clone/build/python_env/full");
}

TEST_F(LocationsTest, ABuildFolderElsewhereKnowsItsClone) {
  root_.Write("clone/policies/default.yaml", "");
  root_.Write("clone/build/python_env/full/manifest.json", "{}");
  Surroundings around = Around("elsewhere/b/bin");
  around.source_directory = root_ / "clone";
  EXPECT_EQ(FindLocations(around).policy_directory, root_ / "clone/policies");
  EXPECT_THAT(FindPythonEnvironment(around, "", "full"), IsOk());
}

TEST_F(LocationsTest, OptionThenVariableThenDefault) {
  root_.Write("clone/policies/default.yaml", "");
  for (const char* name : {"by-option", "by-variable", "clone/build/python_env/full"})
    root_.Write(absl::StrCat(name, "/manifest.json"), "{}");
  const Surroundings around = Around("clone/build/dev/bin");
  variable_ = root_ / "by-variable";
  EXPECT_EQ(FindPythonEnvironment(around, root_ / "by-option", "full").value_or(""), root_ / "by-option");
  EXPECT_EQ(FindPythonEnvironment(around, "", "full").value_or(""), root_ / "by-variable");
  variable_ = "";
  EXPECT_EQ(FindPythonEnvironment(around, "", "full").value_or(""), root_ / "clone/build/python_env/full");
}

TEST_F(LocationsTest, GivesTheCommandThatBuildsAMissingEnvironment) {
  root_.Write("clone/policies/default.yaml", "");
  root_.Write("clone/tools/setup/build-python-env", "");
  Surroundings around = Around("clone/build/dev/bin");
  around.source_directory = root_ / "clone";
  EXPECT_THAT(FindPythonEnvironment(around, "", "core"),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr(root_ / "clone/build/python_env/core does not exist"),
                                                          ::testing::EndsWith(root_ / "clone/tools/setup/build-python-env --set core"))));
  EXPECT_THAT(FindPythonEnvironment(around, "/nowhere/env", "full"),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("(--python-env)"), HasSubstr("--set full --dest /nowhere/env"))));
}

TEST_F(LocationsTest, InstalledProgramSaysWhereTheBuilderIs) {
  root_.Write("usr/share/cellblock/policies/default.yaml", "");
  EXPECT_THAT(FindPythonEnvironment(Around("usr/bin"), "", "full"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("--dest " + (root_ / "usr/share/cellblock/python_env/full")), HasSubstr("from a clone"))));
}

TEST_F(LocationsTest, AnUnfinishedEnvironmentIsNone) {
  root_.Write("env/site-packages/x.py", "");
  variable_ = root_ / "env";
  EXPECT_THAT(FindPythonEnvironment(Around("bin"), "", "full"),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("(CELLBLOCK_PYTHON_ENV)"), HasSubstr("no manifest.json"))));
}

TEST_F(LocationsTest, CurrentSurroundingsKnowThisProgram) {
  EXPECT_TRUE(std::filesystem::exists(CurrentSurroundings().executable_directory + "/app_test"));
  EXPECT_EQ(CurrentSurroundings().environment("CELLBLOCK_NO_SUCH_VARIABLE"), std::nullopt);
}

}  // namespace
}  // namespace cellblock::app
