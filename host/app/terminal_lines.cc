// See terminal_lines.h.
#include "app/terminal_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cwchar>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "app/atomic_write.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "sys/files.h"

namespace cellblock::app {
namespace {

class EditedLines : public TerminalLines {
 public:
  EditedLines(FILE* in, FILE* out, FILE* err, UniqueFd wake, std::string history_file)
      : in_(fileno(in)), out_(out), wake_(std::move(wake)), history_file_(std::move(history_file)) {
    history_ = history_init();
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistoryLinesMax);
    history(history_, &event, H_SETUNIQUE, 1);
    editor_ = el_init("cellblock", in, out, err);
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_PROMPT, &EditedLines::Prompt);
    el_set(editor_, EL_SIGNAL, 0);  // signals are SignalWatch's
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_HIST, history, history_);
    el_set(editor_, EL_GETCFN, &EditedLines::GetCharacter);
    el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(editor_, nullptr);  // the user's ~/.editrc
  }

  ~EditedLines() override {
    el_end(editor_);
    history_end(history_);
  }

  absl::StatusOr<Line> Read(const std::string& prompt) override {
    prompt_ = prompt;
    cancelled_ = false;
    int count = 0;
    const char* text = el_gets(editor_, &count);
    if (cancelled_) {
      fputs("^C\n", out_);
      fflush(out_);
      return Line{ended_ ? Kind::kEnd : Kind::kCancelled, ""};
    }
    if (text == nullptr || count <= 0) {
      fputs("\n", out_);
      fflush(out_);
      return Line{Kind::kEnd, ""};
    }
    std::string line(text, static_cast<size_t>(count));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    return Line{Kind::kLine, std::move(line)};
  }

  void Remember(const std::string& line) override {
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
  }

  void Cancel(bool end) override {
    if (end) ended_ = true;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
  }

  // A plain list of lines, oldest first.
  absl::Status LoadHistory() {
    if (history_file_.empty()) return absl::OkStatus();
    absl::StatusOr<std::string> text = sys::ReadFile(history_file_, kHistoryBytesMax);
    if (!text.ok()) return absl::IsNotFound(text.status()) ? absl::OkStatus() : text.status();
    for (absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) Remember(std::string(line));
    return absl::OkStatus();
  }

  absl::Status SaveHistory() override {
    if (history_file_.empty()) return absl::OkStatus();
    std::vector<std::string> lines;
    HistEvent event;
    for (int found = history(history_, &event, H_LAST); found != -1; found = history(history_, &event, H_PREV)) {
      if (event.str != nullptr) lines.emplace_back(event.str);
    }
    const std::filesystem::path path(history_file_);
    std::error_code error;
    const bool is_new = std::filesystem::create_directories(path.parent_path(), error);
    CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd folder, sys::Open(path.parent_path().string(), O_RDONLY | O_DIRECTORY));
    if (is_new) fchmod(folder.get(), 0700);
    return WriteBeneath(folder.get(), {path.filename().string()}, IfExists::kReplace, [&](int target) {
      if (fchmod(target, 0600) != 0) return sys::ErrnoStatus("make the history private");
      return sys::WriteAll(target, absl::StrCat(absl::StrJoin(lines, "\n"), "\n"));
    });
  }

 private:
  static EditedLines* Self(EditLine* editor) {
    void* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return static_cast<EditedLines*>(self);
  }

  static char* Prompt(EditLine* editor) { return Self(editor)->prompt_.data(); }

  // libedit's own reader cannot be woken from another thread, so that Ctrl-C could not give up a line.
  static int GetCharacter(EditLine* editor, wchar_t* character) { return Self(editor)->Next(character); }

  int Next(wchar_t* character) {
    mbstate_t state = {};
    while (true) {
      pollfd waits[] = {{in_, POLLIN, 0}, {wake_.get(), POLLIN, 0}};
      if (poll(waits, 2, -1) < 0) {
        if (errno == EINTR) continue;
        return -1;
      }
      if (waits[1].revents != 0) {
        uint64_t count = 0;
        [[maybe_unused]] const ssize_t drained = read(wake_.get(), &count, sizeof(count));
        cancelled_ = true;
        return -1;
      }
      char byte = 0;
      const ssize_t count = read(in_, &byte, 1);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return static_cast<int>(count);
      const size_t length = mbrtowc(character, &byte, 1, &state);
      if (length == static_cast<size_t>(-2)) continue;  // the character goes on
      if (length == static_cast<size_t>(-1)) {
        state = {};
        continue;  // no text in this locale: dropped
      }
      return 1;
    }
  }

  const int in_;
  FILE* const out_;
  UniqueFd wake_;
  const std::string history_file_;
  History* history_ = nullptr;
  EditLine* editor_ = nullptr;
  std::string prompt_;
  bool cancelled_ = false;
  std::atomic<bool> ended_{false};
};

}  // namespace

absl::StatusOr<std::unique_ptr<TerminalLines>> TerminalLines::Create(FILE* in, FILE* out, FILE* err, const std::string& history_file) {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd wake, sys::MakeEventFd());
  auto lines = std::make_unique<EditedLines>(in, out, err, std::move(wake), history_file);
  CELLBLOCK_RETURN_IF_ERROR(lines->LoadHistory());
  return std::unique_ptr<TerminalLines>(std::move(lines));
}

}  // namespace cellblock::app
