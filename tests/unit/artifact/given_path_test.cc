// Names that callers give: whatever a person would write, and nothing that leads out of the workspace or that no list could show.
#include "artifact/given_path.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::artifact {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Deep(int folders) {
  std::string path = "f";
  for (int i = 1; i < folders; ++i) path = absl::StrCat("d/", path);
  return path;
}

TEST(GivenPathTest, NamesThatPeopleUseAreTaken) {
  const std::string longest(kGivenPartBytesMax, 'x');
  for (const std::string& path : {std::string("a.csv"), std::string("d/e/f.csv"), std::string("Données – été (1).csv"), std::string("数据/表.xlsx"), std::string("📈 'q' \"q\" #1?.csv"),
                                  std::string("..."), std::string("-rf"), std::string(" a "), std::string("a\\b"), longest, Deep(kGivenPartsMax)}) {
    EXPECT_THAT(CheckGivenPath(path), IsOk()) << path;
  }
}

TEST(GivenPathTest, WhatLeadsElsewhereOrCannotBeShownIsRefusedWithTheReason) {
  const std::pair<std::string, const char*> refused[] = {
      {"", "it is empty"},
      {"/etc/passwd", "it is absolute"},
      {"..", "\"..\" part"},
      {"a/../b", "\"..\" part"},
      {"./a", "\"..\" part"},
      {"a//b", "an empty"},
      {"a/", "an empty"},
      {std::string("a\0b", 3), "a control character"},
      {"a\nb", "a control character"},
      {"\x7f", "a control character"},
      {"caf\xe9.csv", "it is not UTF-8"},
      {"\xed\xa0\x80", "it is not UTF-8"},
      {"\xc0\xae\xc0\xae/a", "it is not UTF-8"},
      {std::string(kGivenPartBytesMax + 1, 'x'), "a part of it is longer than 255 bytes"},
      {std::string(kGivenPathBytesMax + 1, 'x'), "it is longer than 1024 bytes"},
      {Deep(kGivenPartsMax + 1), "it is deeper than 32 folders"},
  };
  for (const auto& [path, why] : refused) EXPECT_THAT(CheckGivenPath(path), StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(why), Not(HasSubstr("\n"))))) << why;
}

}  // namespace
}  // namespace cellblock::artifact
