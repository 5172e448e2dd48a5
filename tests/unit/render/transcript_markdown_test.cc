// Transcripts as Markdown: readable, and no text of a guest's is ever more than text.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "render/markdown_text.h"
#include "render/transcript.h"
#include "tests/unit/render/sample_transcript.h"

namespace cellblock::render {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

size_t LeadingBackticks(absl::string_view line) { return std::min(line.find_first_not_of('`'), line.size()); }

// What stands outside of fences and code spans, by CommonMark's rules. Fails when a fence stays open.
std::string Structure(const std::string& markdown) {
  std::string structure;
  size_t fence = 0;
  for (absl::string_view line : absl::StrSplit(markdown, '\n')) {
    const size_t ticks = LeadingBackticks(line);
    if (fence > 0) {
      if (ticks >= fence && ticks == line.size()) fence = 0;
      continue;
    }
    if (ticks >= 3) {
      fence = ticks;
      continue;
    }
    for (size_t at = 0; at < line.size();) {
      if (line[at] != '`') {
        structure.push_back(line[at++]);
        continue;
      }
      const size_t run = LeadingBackticks(line.substr(at));
      size_t end = at + run;
      while (end < line.size() && (line[end] != '`' || LeadingBackticks(line.substr(end)) != run)) end += line[end] == '`' ? LeadingBackticks(line.substr(end)) : 1;
      EXPECT_LT(end, line.size()) << "a code span stays open: " << line;
      at = std::min(end + run, line.size());
    }
    structure.push_back('\n');
  }
  EXPECT_EQ(fence, 0u) << "a fence stays open";
  return structure;
}

TEST(TranscriptMarkdownTest, ShowsCodeOutputsImagesAndFiles) {
  Transcript transcript{.session_id = "s-1", .policy = "default", .calls = {FigureCall()}};
  EXPECT_EQ(RenderTranscriptMarkdown(transcript),
            "# Session ` s-1 `\n\nPolicy ` default `, 1 call.\n\n## Call 1 (2023-11-14T22:13:20Z)\n\n```python\nplot()\n42\n```\n\nstdout:\n\n```text\nhello\n```\n\n"
            "![image/png](data:image/png;base64,iVBORwA=)\n\nValue:\n\n```text\n42\n```\n\n- file created: ` out/p.png ` (` image/png `, 10 bytes)\n");
}

TEST(TranscriptMarkdownTest, SaysHowCallsEndedUnlessAllIsWell) {
  const std::string markdown = RenderTranscriptMarkdown(SampleTranscript());
  EXPECT_THAT(markdown, HasSubstr("```bash\nls '*'\nexit 3\n```\n\n**error** after 1.5s, exit code 3.\n\nEnding:\n\n```text\nerror: bash ended with 3\n```\n"));
  EXPECT_THAT(markdown, HasSubstr("**error** after 1.5s.\n\nError:\n\n```text\nTraceback:\nValueError: bad\n```\n\nHint:\n\n```text\nTry again.\n```\n"));
  EXPECT_THAT(markdown, HasSubstr("**timeout** after 1.5s; the session was restarted and its variables are gone.\n"));
  EXPECT_THAT(markdown, HasSubstr("## A call without a number\n\n```python\ntoo_many()\n```\n\n**rejected**, never ran.\n\nEnding:\n\n```text\nrejected: The queue is full.\n"));
  EXPECT_THAT(markdown, HasSubstr("forever()\n```\n\n```text\nIt still runs.\n```\n"));
  EXPECT_THAT(markdown, Not(HasSubstr("**ok**")));
}

TEST(TranscriptMarkdownTest, NamesCutsLimitsAndRefusals) {
  Record record = Ended(1, CallStatus::kOk);
  record.stderr_truncation = StreamTruncation{1, 2, 3000};
  record.receipt.limits_hit = {{"output", "cut at `1 MiB`"}};
  record.denials = {{"file", "/etc/shadow", "files", 2}, {"network", "a`b", "off", 1}};
  record.artifacts.resize(kTranscriptListMax + 2);
  const std::string markdown = RenderTranscriptMarkdown({.calls = {{.code = "x", .record = record}}});
  EXPECT_THAT(markdown, HasSubstr("- stderr was cut: 3000 bytes were dropped\n- limit ` output `: `` cut at `1 MiB` ``\n- refused (` file `): ` /etc/shadow ` by ` files `, 2 times\n"
                                  "- refused (` network `): `` a`b `` by ` off `\n"));
  EXPECT_THAT(markdown, HasSubstr("- and 2 more\n"));
}

TEST(TranscriptMarkdownTest, LateTextIsMarked) {
  Record record = Ended(1, CallStatus::kOk);
  record.events = {{.type = Event::Type::kStdout, .text = "old", .late = true}};
  EXPECT_THAT(RenderTranscriptMarkdown({.calls = {{.code = "x", .record = record}}}), HasSubstr("stdout, written by what an earlier call had started:\n\n```text\nold\n"));
}

TEST(TranscriptMarkdownTest, FencesAreLongerThanAnyBackticksInside) {
  std::string out;
  AppendFenced("text", "a\n```\n`````\nb", &out);
  EXPECT_EQ(out, "``````text\na\n```\n`````\nb\n``````\n\n");
  out.clear();
  AppendFenced("text", "", &out);
  EXPECT_EQ(out, "```text\n```\n\n");
}

TEST(TranscriptMarkdownTest, CodeSpansHoldAnything) {
  EXPECT_EQ(CodeSpan("a", 10), "` a `");
  EXPECT_EQ(CodeSpan("`a``", 10), "``` `a`` ```");
  EXPECT_EQ(CodeSpan("a\n\n<b>", 10), "` a  <b> `");
  EXPECT_EQ(CodeSpan("", 10), "(empty)");
  EXPECT_EQ(CodeSpan(" \n", 10), "(empty)");
  EXPECT_EQ(CodeSpan("0123456789", 10), "` 0123456789 `");
  EXPECT_EQ(CodeSpan("0123456789a", 10), "` 0123456… `");
}

TEST(TranscriptMarkdownTest, ControlCharactersAreSeenNotObeyed) {
  EXPECT_EQ(VisibleText("\x1B[31mred\x1B[0m\tx\r\ny\rz"), "red\tx\ny\nz");
  EXPECT_EQ(VisibleText(absl::string_view("\0\x07\x7F\x1B]0;t\x07\x1B[", 10)), "␀␇␡␛]0;t␇␛");
  EXPECT_EQ(VisibleText("\xC2\x9B" "31m\xFF"), "\uFFFD31m\uFFFD");
  EXPECT_EQ(VisibleText("\x1B["), "␛[");
}

TEST(TranscriptMarkdownTest, OnlyImagesThatCannotRunAreShown) {
  auto shown = [](std::vector<MimeData> mime) {
    Record record = Ended(1, CallStatus::kOk);
    record.results.push_back({.mime = std::move(mime), .metadata_json = "{}"});
    record.events = {{.type = Event::Type::kDisplay, .result = 0}};
    return RenderTranscriptMarkdown({.calls = {{.code = "x", .record = record}}});
  };
  EXPECT_THAT(shown({{.type = "text/plain", .data = "svg"}, {.type = "image/svg+xml", .data = "<svg onload=x>"}}), ::testing::AllOf(HasSubstr("Display:\n\n```text\nsvg\n"), Not(HasSubstr("onload"))));
  EXPECT_THAT(shown({{.type = "text/plain", .data = ""}, {.type = "text/html", .data = "<b>"}}), HasSubstr("Display, not shown here: ` text/html ` (3 bytes)\n"));
  EXPECT_THAT(shown({{.type = "image/gif", .data = "R0lG"}}), HasSubstr("![image/gif](data:image/gif;base64,R0lG)"));  // base64 as text
  EXPECT_THAT(shown({{.type = "image/png", .data = "x) <script>"}}), ::testing::AllOf(Not(HasSubstr("<script>")), Not(HasSubstr("data:"))));
}

TEST(TranscriptMarkdownTest, ImageAtTheMaximumAndOneAbove) {
  Record record = Ended(1, CallStatus::kOk);
  record.results.push_back({.mime = {{.type = "text/plain", .data = "<Figure>"}, {.type = "image/png", .data = std::string(kMarkdownImageBytesMax, '\0'), .is_text = false}}, .metadata_json = "{}"});
  record.events = {{.type = Event::Type::kDisplay, .result = 0}};
  EXPECT_THAT(RenderTranscriptMarkdown({.calls = {{.code = "x", .record = record}}}), HasSubstr("(data:image/png;base64,AAAA"));
  record.results[0].mime[1].data.push_back('\0');
  const std::string markdown = RenderTranscriptMarkdown({.calls = {{.code = "x", .record = record}}});
  EXPECT_THAT(markdown, HasSubstr("An image (image/png, 1048577 bytes) left out: at most 1048576 bytes are shown.\n\nDisplay:\n\n```text\n<Figure>\n```"));
  EXPECT_THAT(markdown, Not(HasSubstr("data:")));
}

TEST(TranscriptMarkdownTest, NothingOfAGuestsIsStructure) {
  RandomRecords random(41);
  for (int round = 0; round < 2000; ++round) {
    const std::string markdown = RenderTranscriptMarkdown(RandomTranscript(random, random.Below(4)));
    const std::string structure = Structure(markdown);
    for (const char* guest : {"<", "&", "$", "漢", "é", "{", "\\", "\"", "%%", "limit-"}) {
      ASSERT_FALSE(absl::StrContains(structure, guest)) << guest << "\n" << markdown;
    }
    for (char c : markdown) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
  }
}

TEST(TranscriptMarkdownTest, OutputsThatDoNotFitAreLeftOutAndCounted) {
  Transcript transcript = SampleTranscript();
  transcript.calls[0].record->events[0].text = std::string(kTranscriptBytesMin, '`');
  transcript.calls_left_out = 1;
  const std::string markdown = RenderTranscriptMarkdown(transcript, kTranscriptBytesMin);
  EXPECT_LE(markdown.size(), kTranscriptBytesMin);
  EXPECT_THAT(markdown, HasSubstr("1 output of this call ("));
  EXPECT_THAT(markdown, HasSubstr("data:image/png"));
  EXPECT_THAT(markdown, HasSubstr("\n1 later call left out: a transcript has at most 9998 calls and 16384 bytes.\n"));
}

}  // namespace
}  // namespace cellblock::render
