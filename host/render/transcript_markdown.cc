// A transcript as Markdown; see transcript.h. Foreign text appears through AppendFenced and CodeSpan alone; everything else is ours.
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "render/markdown_text.h"
#include "render/transcript.h"
#include "render/transcript_parts.h"

namespace cellblock::render {
namespace {

constexpr size_t kSpanMax = 300;
constexpr size_t kNoteBytesMax = 2000;
constexpr size_t kTypesMax = 8;  // that are named where none can be shown

// The ones every browser draws and none runs, best first.
constexpr absl::string_view kImageTypes[] = {"image/png", "image/jpeg", "image/webp", "image/gif"};

std::string Plural(size_t count, absl::string_view one) { return absl::StrCat(count, " ", one, count == 1 ? "" : "s"); }

void AppendEnding(const Record& record, std::string* out) {
  if (record.status == CallStatus::kOk && record.session_state == SessionState::kKept) return;
  absl::StrAppend(out, "**", CallStatusName(record.status), "**");
  if (record.status == CallStatus::kRejected) {
    out->append(", never ran");
  } else {
    absl::StrAppend(out, " after ", absl::FormatDuration(absl::Trunc(record.receipt.wall, absl::Milliseconds(1))));
  }
  if (record.exit_code.has_value()) absl::StrAppend(out, ", exit code ", *record.exit_code);
  if (record.signal.has_value()) absl::StrAppend(out, ", signal ", *record.signal);
  if (record.session_state == SessionState::kRestarted) out->append("; the session was restarted and its variables are gone");
  if (record.session_state == SessionState::kGone) out->append("; the session is gone");
  out->append(".\n\n");
}

std::string CallHead(const TranscriptCall& call, size_t) {
  std::string label = CallLabel(call);
  label[0] = label[0] == 'c' ? 'C' : 'A';
  const std::string start = StartOf(call);
  std::string out = absl::StrCat("## ", label, start.empty() ? "" : absl::StrCat(" (", start, ")"), "\n\n");
  AppendFenced(call.language == Language::kBash ? "bash" : "python", call.code, &out);
  if (call.record.has_value()) AppendEnding(*call.record, &out);
  if (const std::string note = NoteOf(call); !note.empty()) AppendFenced("text", OneLine(note, kNoteBytesMax), &out);
  return out;
}

void AppendLabelled(absl::string_view label, absl::string_view text, std::string* out) {
  absl::StrAppend(out, label, ":\n\n");
  AppendFenced("text", text, out);
}

// Of an image; false where the data are none. IPython's own front ends take base64 for bytes.
bool TakeImage(const MimeData& data, std::string* bytes) {
  if (data.is_text) return absl::Base64Unescape(data.data, bytes) && !bytes->empty();
  *bytes = data.data;
  return !bytes->empty();
}

// Whether an image was shown; one that is too large is mentioned.
bool AppendImage(const Result& result, std::string* out) {
  for (absl::string_view type : kImageTypes) {
    for (const MimeData& data : result.mime) {
      std::string bytes;
      if (data.type != type || !TakeImage(data, &bytes)) continue;
      if (bytes.size() <= kMarkdownImageBytesMax) {
        absl::StrAppend(out, "![", type, "](data:", type, ";base64,", absl::Base64Escape(bytes), ")\n\n");
        return true;
      }
      absl::StrAppend(out, "An image (", type, ", ", bytes.size(), " bytes) left out: at most ", kMarkdownImageBytesMax, " bytes are shown.\n\n");
      return false;
    }
  }
  return false;
}

void AppendResult(absl::string_view label, const Result& result, std::string* out) {
  if (AppendImage(result, out)) return;
  for (const MimeData& data : result.mime) {
    if (data.type == "text/plain" && !data.data.empty()) return AppendLabelled(label, data.data, out);
  }
  absl::StrAppend(out, label, ", not shown here:");
  for (size_t i = 0; i < result.mime.size() && i < kTypesMax; ++i) {
    if (!result.mime[i].data.empty()) absl::StrAppend(out, " ", CodeSpan(result.mime[i].type, kSpanMax), " (", Plural(result.mime[i].data.size(), "byte"), ")");
  }
  out->append("\n\n");
}

void AppendError(const Record& record, std::string* out) {
  if (!record.error.has_value()) return AppendLabelled("Ending", absl::StrCat(CallStatusName(record.status), ": ", record.reason), out);
  const ErrorInfo& error = *record.error;
  AppendLabelled("Error", error.traceback.empty() ? absl::StrCat(error.name, ": ", error.value) : error.traceback, out);
  if (!error.hint.empty()) AppendLabelled("Hint", error.hint, out);
}

std::string OutputText(const Output& output, const Record& record) {
  std::string out;
  switch (output.kind) {
    case Output::Kind::kStream:
      AppendLabelled(absl::StrCat(output.is_stderr ? "stderr" : "stdout", output.late ? ", written by what an earlier call had started" : ""), output.text, &out);
      break;
    case Output::Kind::kDisplay: AppendResult("Display", *output.result, &out); break;
    case Output::Kind::kResult: AppendResult("Value", *output.result, &out); break;
    case Output::Kind::kError: AppendError(record, &out); break;
  }
  return out;
}

template <typename Items, typename Line>
void AppendList(const Items& items, Line line, std::string* out) {
  for (size_t i = 0; i < items.size() && i < kTranscriptListMax; ++i) absl::StrAppend(out, "- ", line(items[i]), "\n");
  if (items.size() > kTranscriptListMax) absl::StrAppend(out, "- and ", items.size() - kTranscriptListMax, " more\n");
}

// What the record tells beside outputs, as a list; empty when nothing.
std::string Facts(const Record& record) {
  std::string out;
  for (const auto& [name, truncation] : {std::pair("stdout", &record.stdout_truncation), std::pair("stderr", &record.stderr_truncation)}) {
    if (truncation->has_value()) absl::StrAppend(&out, "- ", name, " was cut: ", (*truncation)->dropped_bytes, " bytes were dropped\n");
  }
  AppendList(record.receipt.limits_hit, [](const LimitHit& hit) { return absl::StrCat("limit ", CodeSpan(hit.name, kSpanMax), ": ", CodeSpan(hit.detail, kSpanMax)); }, &out);
  AppendList(
      record.denials,
      [](const Denial& denial) {
        return absl::StrCat("refused (", CodeSpan(denial.kind, kSpanMax), "): ", CodeSpan(denial.subject, kSpanMax), " by ", CodeSpan(denial.rule, kSpanMax),
                            denial.count == 1 ? "" : absl::StrCat(", ", denial.count, " times"));
      },
      &out);
  AppendList(
      record.artifacts,
      [](const Artifact& artifact) {
        return absl::StrCat(artifact.created ? "file created: " : "file modified: ", CodeSpan(artifact.path, kSpanMax), " (", CodeSpan(artifact.mime, kSpanMax), ", ",
                            artifact.size_bytes, " bytes)");
      },
      &out);
  if (!out.empty()) out.push_back('\n');
  return out;
}

}  // namespace

std::string RenderTranscriptMarkdown(const Transcript& transcript, size_t bytes_max) {
  TranscriptLayout layout(transcript, bytes_max, CallHead);
  const std::vector<std::vector<Output>> outputs = OutputsOf(transcript, layout.calls());
  std::string out = absl::StrCat("# Session ", CodeSpan(transcript.session_id, kTranscriptNameMax), "\n\nPolicy ", CodeSpan(transcript.policy, kTranscriptNameMax), ", ",
                                 Plural(layout.calls(), "call"), ".\n\n");
  for (size_t i = 0; i < layout.calls(); ++i) {
    out.append(layout.code(i));
    const std::optional<Record>& record = transcript.calls[i].record;
    if (!record.has_value()) continue;
    for (const Output& output : outputs[i]) layout.Add(OutputText(output, *record), &out);
    layout.Add(Facts(*record), &out);
    if (const std::string sentence = layout.LeftOutOutputs(); !sentence.empty()) absl::StrAppend(&out, sentence, "\n\n");
  }
  if (const std::string sentence = layout.LeftOutCalls(); !sentence.empty()) absl::StrAppend(&out, sentence, "\n\n");
  out.pop_back();  // the last block ends with an empty line
  return out;
}

}  // namespace cellblock::render
