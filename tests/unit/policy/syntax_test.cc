// What YAML itself can do wrong or too much of: all refused with position and advice, before anything large is built.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/load/load.h"
#include "policy/validate.h"
#include "tests/support/status_matchers.h"

namespace cellblock::policy {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kAlias[] =
    "aliases and anchors (*name, &name) are refused, since few bytes can stand for gigabytes; repeat the value, or quote a text that "
    "starts with * or &";
constexpr char kTag[] = "tags (!name) are refused; remove it, or put a text that starts with ! in quotes";
constexpr char kColon[] = "a colon where no key can stand; check the indentation, or put a text with a colon in quotes";

void ExpectRefused(absl::string_view text, absl::string_view message) {
  EXPECT_THAT(LoadPolicyText(text, "p.yaml", ""), StatusIs(absl::StatusCode::kInvalidArgument, std::string(message))) << text;
}

std::string Repeat(absl::string_view unit, size_t bytes) {
  std::string text;
  while (text.size() + unit.size() <= bytes) absl::StrAppend(&text, unit);
  return text;
}

TEST(SyntaxTest, RefusesAliasesAndAnchors) {
  ExpectRefused("a: &x [1]\nb: *x\n", absl::StrCat("p.yaml:1:4: ", kAlias));
  ExpectRefused("name: &x a\n", absl::StrCat("p.yaml:1:7: ", kAlias));
  ExpectRefused("redact:\n  - *x\n", absl::StrCat("p.yaml:2:5: ", kAlias));
  ExpectRefused("artifacts: {include: [*.csv]}\n", absl::StrCat("p.yaml:1:23: ", kAlias));
  ExpectRefused("name: & a\n", absl::StrCat("p.yaml:1:8: ", kAlias));
}

TEST(SyntaxTest, RefusesAYamlBomb) {
  std::string bomb = "a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (char c = 'b'; c < 'j'; ++c) {
    absl::StrAppend(&bomb, std::string(1, c), ": &", std::string(1, c), " [");
    for (int i = 0; i < 9; ++i) absl::StrAppend(&bomb, i > 0 ? ", *" : "*", std::string(1, static_cast<char>(c - 1)));
    absl::StrAppend(&bomb, "]\n");
  }
  ExpectRefused(bomb, absl::StrCat("p.yaml:1:4: ", kAlias));
}

TEST(SyntaxTest, RefusesTagsAndMergeKeys) {
  ExpectRefused("name: !!python/object:os.system x\n", absl::StrCat("p.yaml:1:7: ", kTag));
  ExpectRefused("limits: !!map {}\n", absl::StrCat("p.yaml:1:9: ", kTag));
  ExpectRefused("redact: !!python/tuple [word]\n", absl::StrCat("p.yaml:1:9: ", kTag));
  ExpectRefused("name: !<tag:yaml.org,2002:str> x\n", absl::StrCat("p.yaml:1:7: ", kTag));
  ExpectRefused("name: ! x\n", absl::StrCat("p.yaml:1:7: ", kTag));
  ExpectRefused("name: !x\n", absl::StrCat("p.yaml:1:7: ", kTag));
  ExpectRefused("!x name: y\n", absl::StrCat("p.yaml:1:1: ", kTag));
  ExpectRefused("limits:\n  <<: {memory: 1GiB}\n",
                "p.yaml:2:3: merge keys (<<) are refused; use `extends:` for a whole file, or repeat the keys");
}

TEST(SyntaxTest, RefusesDuplicateKeys) {
  ExpectRefused("limits: {memory: 1GiB, memory: 2GiB}\n", "p.yaml:1:24: the key \"memory\" stands here twice, first in line 1; remove one");
  ExpectRefused("limits:\n  wall: 1s\nnetwork: off\nlimits:\n  cpus: 2\n",
                "p.yaml:4:1: the key \"limits\" stands here twice, first in line 1; remove one");
  ExpectRefused("environment:\n  A: 1\n  \"A\": 2\n", "p.yaml:3:3: the key \"A\" stands here twice, first in line 2; remove one");
}

TEST(SyntaxTest, RefusesOtherDocuments) {
  ExpectRefused("---\nname: a\n---\nname: b\n", "p.yaml:3:1: a second YAML document starts here; a policy file holds one");
  ExpectRefused("name: a\n...\nname: b\n", "p.yaml:3:1: a second YAML document starts here; a policy file holds one");
  EXPECT_THAT(LoadPolicyText("---\nname: a\n...\n", "p.yaml", ""), IsOk());
}

TEST(SyntaxTest, RefusesWhatIsNoMap) {
  // An empty file is refused, since a file that was cut short must not become a policy of defaults.
  for (const char* empty : {"", "\n", "# only a comment\n", "---\n", "null\n", "~"}) {
    EXPECT_THAT(LoadPolicyText(empty, "p.yaml", ""),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the file has no keys; write at least `extends: default`")));
  }
  ExpectRefused("- a\n", "p.yaml:1:1: a policy file holds keys, such as `name: analysis`, not a list");
  ExpectRefused("hello\n", "p.yaml:1:1: a policy file holds keys, not one text; write `key: value`");
  ExpectRefused("name:x\n", "p.yaml:1:1: a policy file holds keys, not one text; write a space after the colon: `key: value`");
}

TEST(SyntaxTest, RefusesOddKeys) {
  ExpectRefused("? [a]\n: b\n", "p.yaml:1:3: a list or map cannot be a key; write `key: value`, or close the bracket that opens here");
  ExpectRefused("{{a: b}: c}\n", "p.yaml:1:2: a list or map cannot be a key; write `key: value`, or close the bracket that opens here");
  ExpectRefused("~: x\n", "p.yaml:1:1: a key is missing before the colon, or is null; write `key: value`");
  ExpectRefused(": x\n", "p.yaml:1:1: a key is missing before the colon, or is null; write `key: value`");
}

TEST(SyntaxTest, SaysWhatToDoAboutBrokenYaml) {
  ExpectRefused("limits: {memory: 2GiB\n", "p.yaml:1:9: this { is never closed; write } after its last key");
  ExpectRefused("redact: [a,\n  b\n", "p.yaml:1:9: this [ is never closed; write ] after its last item");
  ExpectRefused("redact:\n  [a,\n  b\n",
                "p.yaml:2:3: a list or map cannot be a key; write `key: value`, or close the bracket that opens here");
  ExpectRefused("name: a\nredact: ]\n", "p.yaml:2:9: a closing bracket that nothing opened; remove it");
  for (const char* open : {"name: \"abc\nlimits: {}\n", "name: 'abc\n", "name: 'it''s\n", "name: \"a\\\"\n"}) {
    ExpectRefused(open, "p.yaml:1:7: this quote is never closed; write another at the end of the text");
  }
  ExpectRefused("limits: {}\nname: \"abc",
                "p.yaml:2:11: the file ends within a quoted text, which starts after line 2, column 1; close its quote");
  ExpectRefused("name: \"a\\qb\"\n", "p.yaml:1:9: no such escape: \\q; write \\\\ for a backslash, or use single quotes");
  ExpectRefused("name: \"\\é\"\n", "p.yaml:1:8: no such escape: \\…; write \\\\ for a backslash, or use single quotes");
  ExpectRefused("name: a: b\n", absl::StrCat("p.yaml:1:8: ", kColon));
  ExpectRefused("limits:\n  memory: 2GiB\n  processes\n  cpus: 2\n", absl::StrCat("p.yaml:4:7: ", kColon));
  ExpectRefused("limits:\n   memory: 2GiB\n  cpus: 2\n", "p.yaml:3:3: this line fits to no key before it; check the indentation");
  ExpectRefused("name: @x\n", "p.yaml:1:7: no value can start with this character; put the text in quotes");
  ExpectRefused("name: %x\n", "p.yaml:1:7: no value can start with this character; put the text in quotes");
  ExpectRefused("limits: - a\n", "p.yaml:1:9: a list item where none can stand; check the indentation");
  ExpectRefused("%YAML 3.0\n---\nname: x\n", "p.yaml:1:1: not valid YAML: YAML major version too large");
}

TEST(SyntaxTest, RefusesBytesThatNoPolicyHas) {
  ExpectRefused("limits:\n\tmemory: 1GiB\n", "p.yaml:2:1: a tab; indent with spaces, and write \\t in double quotes for a tab in a text");
  ExpectRefused("name: é\xFF\n", "p.yaml:1:8: a byte that is not UTF-8; save the file as UTF-8");
  ExpectRefused("name: \xED\xA0\x80\n", "p.yaml:1:7: a byte that is not UTF-8; save the file as UTF-8");
  ExpectRefused("name: \xC3", "p.yaml:1:7: a byte that is not UTF-8; save the file as UTF-8");
  ExpectRefused(absl::string_view("name: a\0b\n", 10), "p.yaml:1:8: a NUL byte; is this UTF-16, or no text at all? save the file as UTF-8");
  ExpectRefused(absl::string_view("\xFF\xFEn\0a\0", 6), "p.yaml:1:1: a byte that is not UTF-8; save the file as UTF-8");
  ExpectRefused("name: a\rlimits: {}\n", "p.yaml:1:8: a carriage return without newline; end lines with a newline");
  ExpectRefused("name: a # \u202e\n", "p.yaml:1:11: the invisible character U+202E; remove it, or write it as \\u202E in double quotes");
  ExpectRefused("name: a\x1b[0m\n", "p.yaml:1:8: the invisible character U+001B; remove it, or write it as \\u001B in double quotes");
  ExpectRefused("name: a\x7f\n", "p.yaml:1:8: the invisible character U+007F; remove it, or write it as \\u007F in double quotes");
}

TEST(SyntaxTest, AcceptsAByteOrderMarkAndWindowsLines) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy loaded, LoadPolicyText("\xEF\xBB\xBFname: a\r\nlimits:\r\n  cpus: 2\r\n", "p.yaml", ""));
  EXPECT_EQ(loaded.policy.limits.cpus, 2);
  ExpectRefused("\xEF\xBB\xBFname: a\r\nlimits:\r\n  cpus: 0\r\n",
                "p.yaml:3:9: limits.cpus: 0 is below the least, 1; the range is 1 – 1024");
}

TEST(SyntaxTest, StopsAtSixteenLevels) {
  auto nested = [](size_t levels) { return absl::StrCat("redact: ", std::string(levels - 1, '['), std::string(levels - 1, ']'), "\n"); };
  EXPECT_THAT(LoadPolicyText(nested(16), "p.yaml", ""),
              StatusIs(absl::StatusCode::kInvalidArgument, "p.yaml:1:10: redact: each item is one text, not a list"));
  EXPECT_THAT(
      LoadPolicyText(nested(17), "p.yaml", ""),
      StatusIs(absl::StatusCode::kResourceExhausted, "p.yaml:1:24: lists and maps more than 16 deep; no policy key needs more than three"));
}

TEST(SyntaxTest, StopsAtTenThousandNodes) {
  // The root, the key `redact`, the list, and its items.
  auto items = [](size_t nodes) { return absl::StrCat("redact: [", Repeat("x,", 2 * (nodes - 3)), "]\n"); };
  EXPECT_THAT(LoadPolicyText(items(10'000), "p.yaml", ""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("fewer than 4 bytes")));
  EXPECT_THAT(LoadPolicyText(items(10'001), "p.yaml", ""),
              StatusIs(absl::StatusCode::kResourceExhausted, "p.yaml:1:20004: more than 10000 keys and values; is it a policy?"));
}

TEST(SyntaxTest, StopsAtTheSizeOfAFile) {
  std::string text = "name: a\n#";
  text.resize(kPolicyFileBytesMax, 'x');
  EXPECT_THAT(LoadPolicyText(text, "p.yaml", ""), IsOk());
  text.push_back('x');
  EXPECT_THAT(LoadPolicyText(text, "p.yaml", ""),
              StatusIs(absl::StatusCode::kResourceExhausted, "p.yaml:1:1: the policy has 262145 bytes, more than 262144"));
}

class HostileInputTest : public ::testing::TestWithParam<const char*> {};

// Inputs of full size that have made YAML parsers recurse, or look at all of what came before for each byte.
TEST_P(HostileInputTest, IsRefusedAtFullSize) {
  for (const char* unit :
       {"[",    "{",   "- ",   "? ",  "a: ", "&a ",    "!a ", "*a ", "#",  "%a\n", "---\n", "...\n",  "\"",    "'",     "''",      "\\",
        "a,",   "[a,", "{a: ", "- [", "|\n", "- |\n ", ">\n", ",",   "]",  "}",    ":",     " :",     "-",     "- -\n", "\"a\": ", "a\n",
        "- ? ", "~,",  "!!",   "&&",  "**",  "\n",     " ",   "{}",  "[]", "é",    "? -\n", "a: b\n", "? a\n", ": "}) {
    std::string text = absl::StrCat(GetParam(), Repeat(unit, kPolicyFileBytesMax - 16));
    absl::StatusOr<LoadedPolicy> loaded = LoadPolicyText(text, "p.yaml", "");
    // Only comments and empty lines could be fine, and then there are no keys.
    ASSERT_FALSE(loaded.ok()) << unit;
    EXPECT_THAT(std::string(loaded.status().message()), StartsWith("p.yaml:")) << unit;
    EXPECT_LT(loaded.status().message().size(), 1000u) << unit;
  }
}

INSTANTIATE_TEST_SUITE_P(Starts, HostileInputTest, ::testing::Values("", "[", "a: ", "\""));

}  // namespace
}  // namespace cellblock::policy
