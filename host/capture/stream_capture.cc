// See stream_capture.h.
#include "capture/stream_capture.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cellblock::capture {
namespace {

constexpr size_t kSliceBytes = 64 * 1024;  // a pipe's size: what is decoded at once, so that a huge read costs no huge copies

}  // namespace

StreamCapture::StreamCapture(StreamCaptureOptions options)
    : cap_bytes_(static_cast<size_t>(std::max<int64_t>(options.cap_bytes, 0))),
      progress_interval_(options.progress_interval),
      redactor_(std::move(options.redact)),
      store_(cap_bytes_),
      on_whole_text_(std::move(options.on_whole_text)) {}

std::string StreamCapture::Append(absl::string_view bytes, absl::Time now) {
  bytes_read_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    AppendSlice(bytes.substr(0, kSliceBytes));
    bytes.remove_prefix(std::min(bytes.size(), kSliceBytes));
  }
  ShowRow(now, /*force=*/false);
  return std::exchange(live_, std::string());
}

std::string StreamCapture::Poll(absl::Time now) {
  ShowRow(now, /*force=*/false);
  return std::exchange(live_, std::string());
}

std::string StreamCapture::Border(absl::Time now) {
  ShowRow(now, /*force=*/true);
  return std::exchange(live_, std::string());
}

void StreamCapture::AppendSlice(absl::string_view bytes) {
  std::string decoded;
  decoder_.Append(bytes, &decoded);
  std::string redacted;
  redactor_.Append(decoded, &redacted);
  folder_.Append(redacted, [this](absl::string_view text) { CommitText(text); });
}

std::string StreamCapture::Finish() {
  std::string decoded;
  decoder_.Finish(&decoded);
  std::string redacted;
  redactor_.Append(decoded, &redacted);
  redactor_.Finish(&redacted);
  auto commit = [this](absl::string_view text) { CommitText(text); };
  folder_.Append(redacted, commit);
  folder_.Finish(commit);

  HeadTail::Tail tail = store_.tail();
  text_ = store_.head();
  if (tail.dropped_bytes > 0) {
    truncation_ = StreamTruncation{.head_bytes = static_cast<int64_t>(text_.size()),
                                   .tail_bytes = static_cast<int64_t>(tail.text.size()),
                                   .dropped_bytes = static_cast<int64_t>(tail.dropped_bytes)};
    absl::StrAppend(&text_, CutMarker(tail.dropped_bytes, absl::EndsWith(text_, "\n")));
  }
  text_.append(tail.text.data(), tail.text.size());
  return LastLiveText(tail);
}

std::string StreamCapture::LastLiveText(HeadTail::Tail tail) {
  if (live_open_) return std::exchange(live_, std::string());
  std::string last;
  if (resume_rewrites_row_) last.push_back('\r');
  last.append(store_.head(), std::min<size_t>(resume_at_, store_.head().size()), std::string::npos);
  // Rows that were shown and then rewritten took room that the tail now lacks.
  size_t shown = live_bytes_ + last.size();
  if (shown + tail.text.size() > cap_bytes_) {
    size_t cut = std::min(shown + tail.text.size() - cap_bytes_, tail.text.size());
    while (cut < tail.text.size() && FloorToCharacter(tail.text, cut) != cut) ++cut;
    tail.text.remove_prefix(cut);
    tail.dropped_bytes += cut;
  }
  if (tail.dropped_bytes > 0) absl::StrAppend(&last, CutMarker(tail.dropped_bytes, absl::EndsWith(store_.head(), "\n")));
  last.append(tail.text.data(), tail.text.size());
  return std::exchange(live_, std::string()) + last;
}

// Before `text` is stored: up to the cap nothing has been dropped yet.
void StreamCapture::GiveWholeText(absl::string_view text) {
  if (store_.total_bytes() + text.size() <= cap_bytes_) return;
  if (store_.total_bytes() <= cap_bytes_) {
    on_whole_text_(store_.head());
    on_whole_text_(store_.tail().text);
  }
  on_whole_text_(text);
}

// Text becomes final. Live, the part of it that was shown as the unfinished row needs no repeating, unless it changed since.
void StreamCapture::CommitText(absl::string_view text) {
  uint64_t begin = store_.total_bytes();
  if (on_whole_text_) GiveWholeText(text);
  store_.Append(text);
  if (!live_open_) {
    if (folder_.shown_is_stale()) CloseLive(begin, /*rewrite_row=*/true);  // closed in the middle of a row that changed afterwards
    return;
  }
  if (folder_.shown_is_stale()) {
    if (1 + text.size() > live_room()) return CloseLive(begin, /*rewrite_row=*/true);
    live_wasted_bytes_ += 1 + folder_.shown_bytes();
    Show("\r");
    Show(text);
    return;
  }
  absl::string_view rest = text.substr(folder_.shown_bytes());
  size_t shown = Show(rest);
  if (shown < rest.size()) CloseLive(begin + folder_.shown_bytes() + shown, /*rewrite_row=*/false);
}

void StreamCapture::ShowRow(absl::Time now, bool force) {
  if (!live_open_) return;
  if (folder_.shown_is_stale()) {
    if (!force && now - last_progress_ < progress_interval_) return;
    last_progress_ = now;
    return ShowProgress();
  }
  std::string rest = folder_.UnshownText();
  if (rest.empty()) return;
  size_t before = folder_.shown_bytes();
  size_t shown = Show(rest);
  folder_.MarkShown(before + shown);
  if (shown < rest.size()) CloseLive(store_.total_bytes() + before + shown, /*rewrite_row=*/false);
}

// Progress states may use an eighth of the cap; then the row waits until it is final.
void StreamCapture::ShowProgress() {
  std::string row = folder_.RowText();
  size_t wastes = 1 + folder_.shown_bytes();
  if (live_wasted_bytes_ + wastes > cap_bytes_ / 8 || 1 + row.size() > live_room()) return;
  live_wasted_bytes_ += wastes;
  Show("\r");
  Show(row);
  folder_.MarkShown(row.size());
}

size_t StreamCapture::Show(absl::string_view text) {
  size_t fits = FloorToCharacter(text, live_room());
  live_.append(text.data(), fits);
  live_bytes_ += fits;
  return fits;
}

void StreamCapture::CloseLive(uint64_t resume_at, bool rewrite_row) {
  live_open_ = false;
  resume_at_ = resume_at;
  resume_rewrites_row_ = rewrite_row;
}

}  // namespace cellblock::capture
