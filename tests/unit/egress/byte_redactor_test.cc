// Secrets in bytes that go back to the session: found in every spelling that is promised, wherever the bytes are cut.
#include "egress/byte_redactor.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::egress {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

struct Redacted {
  std::string text;
  uint64_t count = 0;
};

Redacted Redact(const std::vector<std::string>& needles, absl::string_view bytes, size_t first, size_t second) {
  ByteRedactor redactor(needles);
  Redacted redacted;
  for (absl::string_view piece : {bytes.substr(0, first), bytes.substr(first, second - first), bytes.substr(second)}) redacted.text += redactor.Feed(piece);
  redacted.text += redactor.Finish();
  redacted.count = redactor.replaced();
  return redacted;
}

struct Case {
  std::vector<std::string> needles;
  absl::string_view bytes, text;
  uint64_t count;
};

TEST(ByteRedactorTest, ReplacesEveryOccurrenceWhereverTheBytesAreCut) {
  const Case cases[] = {
      {{"secret"}, "a secret, secrets; secre", "a ***, ***s; secre", 2},
      {{"secret"}, "secretsecret", "******", 2},
      {{"secret"}, "secrsecret", "secr***", 1},
      {{"secret"}, "secret", "***", 1},
      {{"secret"}, "", "", 0},
      {{}, "secret", "secret", 0},
      {{"abab"}, "xabababx", "x***x", 1},                 // overlaps itself
      {{"abcd", "cdef"}, "abcdefg", "***g", 1},           // overlap each other
      {{"cdef", "abcd"}, "abcdefg", "***g", 1},
      {{"bcde", "abcdefgh"}, "abcdefgh bcde", "*** ***", 2},   // one within the other
      {{"abcd", "abcdefgh"}, "abcdefg abcdefgh", "***efg ***", 2},
      {{"abcd", "bcdefghi"}, "abcdefgh", "***efgh", 1},
      {{"aaaa"}, "aaaaaaaaab", "***b", 1},
      {{"abc", "secret"}, "abc secret", "abc ***", 1},    // too short to be a secret
      {{"\xff\xfe\xfd\xfc"}, "x\xff\xff\xfe\xfd\xfcy", "x\xff***y", 1},
      {{"a\r\nb"}, "a\r\na\r\nb", "a\r\n***", 1},
  };
  for (const Case& one : cases) {
    for (size_t first = 0; first <= one.bytes.size(); ++first) {
      for (size_t second = first; second <= one.bytes.size(); ++second) {
        const Redacted redacted = Redact(one.needles, one.bytes, first, second);
        ASSERT_EQ(redacted.text, one.text) << one.bytes << " cut at " << first << " and " << second;
        ASSERT_EQ(redacted.count, one.count) << one.bytes;
      }
    }
  }
}

// Code that has a server repeat its own guesses must not see by what is late that one begins a secret.
TEST(ByteRedactorTest, HoldsBackAsManyBytesWhateverTheyAre) {
  for (absl::string_view text : {"nothing like it at all, here", "longer secre longer secre se", "secresecresecrelonger longer"}) {
    ByteRedactor redactor({"secret", "longer secret"});
    size_t in = 0, out = 0;
    for (char c : text) {
      out += redactor.Feed(absl::string_view(&c, 1)).size();
      ++in;
      EXPECT_EQ(out, in - std::min(in, redactor.held_back())) << text;
    }
    EXPECT_EQ(out + redactor.Finish().size(), text.size());
    EXPECT_EQ(redactor.replaced(), 0u);
  }
  ByteRedactor none({});
  EXPECT_EQ(none.Feed("at once"), "at once");
}

TEST(ByteRedactorTest, MayGoOnAfterItFinished) {
  ByteRedactor redactor({"secret"});
  EXPECT_EQ(redactor.Feed("secr"), "");
  EXPECT_EQ(redactor.Finish(), "secr");
  const std::string begin = redactor.Feed("et secret secre");
  EXPECT_EQ(begin + redactor.Finish(), "et *** secre") << "the two halves had an end between them";
}

TEST(SpellingsTest, AnOrdinaryTokenHasFew) {
  const std::string value = "sk-live_0123456789";
  const std::vector<std::string> spellings = SpellingsOf(value);
  EXPECT_EQ(spellings.front(), value);
  EXPECT_LE(spellings.size(), 11u) << "itself, every byte percent-encoded twice, base64, others by number";
}

TEST(SpellingsTest, HoldWhatEncodersMakeOfSpecialCharacters) {
  const std::vector<std::string> spellings = SpellingsOf("a b/c?\"\\<&'~");
  for (absl::string_view one : {
           "a b/c?\"\\<&'~",
           "%61%20%62%2F%63%3F%22%5C%3C%26%27%7E",
           "%61%20%62%2f%63%3f%22%5c%3c%26%27%7e",
           "a%20b%2Fc%3F%22%5C%3C%26%27~",       // urllib.parse.quote(safe="")
           "a%20b/c%3F%22%5C%3C%26%27~",         // urllib.parse.quote
           "a%20b%2fc%3f%22%5c%3c%26%27~",
           "a+b%2Fc%3F%22%5C%3C%26%27~",         // urllib.parse.quote_plus
           "a%20b%2Fc%3F%22%5C%3C%26'~",         // encodeURIComponent
           "a b/c?\\\"\\\\<&'~",                 // json.dumps
           "a b\\/c?\\\"\\\\<&'~",               // json_encode
           "a b/c?\\\"\\\\\\u003c\\u0026'~",     // encoding/json
           "a b/c?\\u0022\\\\\\u003C\\u0026\\u0027~",   // System.Text.Json
           "a b/c?&quot;\\&lt;&amp;&#x27;~",     // html.escape
           "a b/c?&#34;\\&lt;&amp;&#39;~",       // html/template
           "a b/c?\"\\&lt;&amp;'~",             // html.escape(quote=False)
           "a b/c?&quot;\\&lt;&amp;'~",         // ElementTree
           "a b/c?&quot;\\&lt;&amp;&apos;~",    // XML
           "a b/c?\\\\\\\"\\\\\\\\<&'~",       // json.dumps(json.dumps())
       }) {
    EXPECT_THAT(spellings, Contains(std::string(one)));
  }
  std::vector<std::string> sorted = spellings;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end()) << "each once";
}

TEST(SpellingsTest, APlusIsFoundAsGoWritesItIntoHtml) { EXPECT_THAT(SpellingsOf("K7MDENG+bPx=="), Contains("K7MDENG&#43;bPx==")); }

TEST(SpellingsTest, AreFoundWhereLinesBreakWithin) {
  const std::string value = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY-and-more-than-one-line-of-it", encoded = absl::Base64Escape("before: " + value + " after");
  for (absl::string_view line_break : {"\n", "\r\n", "\\n", "\\r\\n"}) {
    for (size_t first = 1; first < 60; ++first) {
      std::string lines = encoded.substr(0, first);
      for (size_t at = first; at < encoded.size(); at += 60) absl::StrAppend(&lines, line_break, encoded.substr(at, 60));
      ByteRedactor redactor(SpellingsOf(value));
      redactor.Feed(lines);
      redactor.Finish();
      EXPECT_EQ(redactor.replaced(), 1u) << lines;
    }
  }
  ByteRedactor redactor(SpellingsOf("secret"));
  const std::string begin = redactor.Feed("s\ne\nc\nr\ne\nt");
  EXPECT_EQ(begin + redactor.Finish(), "s\ne\nc\nr\ne\nt") << "a line for each letter is another text";
}

TEST(SpellingsTest, BaseSixtyFourIsFoundAmongAnyNeighbours) {
  std::mt19937 random(7);
  for (absl::string_view value : {"sk-live_0123456789", "\xfb\xff\xbf>>>???", "abcdef"}) {
    ByteRedactor redactor(SpellingsOf(value));
    for (int round = 0; round < 300; ++round) {
      std::string before(random() % 7, '\0'), after(random() % 7, '\0');
      for (std::string* text : {&before, &after}) {
        for (char& c : *text) c = static_cast<char>(random());
      }
      const std::string all = absl::StrCat(before, value, after);
      for (bool url_safe : {false, true}) {
        const std::string text = url_safe ? absl::WebSafeBase64Escape(all) : absl::Base64Escape(all);
        const uint64_t already = redactor.replaced();
        redactor.Feed(text);
        redactor.Finish();
        EXPECT_GT(redactor.replaced(), already) << text;
      }
    }
  }
}

TEST(SpellingsTest, OfAShortValueNoneIsSoShortThatItBlotsOutOrdinaryText) {
  const Redacted redacted = Redact(SpellingsOf("ab"), "ab YWI= cab", 0, 0);
  EXPECT_EQ(redacted.text, "ab YWI= cab");
  EXPECT_EQ(redacted.count, 0u);
  EXPECT_THAT(SpellingsOf(""), ElementsAre(""));
}

}  // namespace
}  // namespace cellblock::egress
