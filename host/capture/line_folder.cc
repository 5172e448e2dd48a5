// See line_folder.h.
#include "capture/line_folder.h"

#include "capture/utf8.h"

namespace cellblock::capture {

void LineFolder::Append(absl::string_view text, Commit commit) {
  while (!text.empty()) {
    if (returned_) {
      returned_ = false;
      if (text.front() != '\n' && text.front() != '\r' && row_columns_ > 0) StartOverwriting();
    }
    if (overwriting_) {
      text.remove_prefix(WriteOverwriting(text, commit));
      continue;
    }
    size_t end = text.find('\r');
    WriteAppending(text.substr(0, end), commit);
    if (end == absl::string_view::npos) return;
    returned_ = true;
    text.remove_prefix(end + 1);
  }
}

void LineFolder::Finish(Commit commit) {
  returned_ = false;
  CommitRow("", commit);
}

// `text` holds no return: all but its last line is final as it stands.
void LineFolder::WriteAppending(absl::string_view text, Commit commit) {
  size_t newline = text.rfind('\n');
  if (newline != absl::string_view::npos) {
    CommitRow("", commit);
    commit(text.substr(0, newline + 1));
    text.remove_prefix(newline + 1);
  }
  AppendToRow(text, commit);
}

// A full row is committed only when a character follows it: until then a return still reaches it, as on a terminal.
void LineFolder::AppendToRow(absl::string_view text, Commit commit) {
  size_t columns = CountCharacters(text);
  if (row_columns_ + columns > kRowColumnsMax) {
    size_t stays = (row_columns_ + columns - 1) % kRowColumnsMax + 1;  // of the last row; the old row fills another
    size_t begin = text.size();
    for (size_t i = 0; i < stays; ++i) begin = FloorToCharacter(text, begin - 1);
    CommitRow("", commit);
    if (begin > 0) commit(text.substr(0, begin));
    text.remove_prefix(begin);
    columns = stays;
  }
  row_.append(text.data(), text.size());
  row_columns_ += columns;
}

void LineFolder::StartOverwriting() {
  overwriting_ = true;
  cursor_ = 0;
  cells_.clear();
  cells_.reserve(row_columns_);
  shown_columns_ = 0;
  for (size_t at = 0; at < row_.size();) {
    if (at < shown_bytes_) ++shown_columns_;
    cells_.push_back(NextCharacter(row_, &at));
  }
}

// Returns how much of `text` it used: up to the end of the row.
size_t LineFolder::WriteOverwriting(absl::string_view text, Commit commit) {
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      CommitRow("\n", commit);
      return at + 1;
    }
    if (text[at] == '\r') {
      cursor_ = 0;
      ++at;
      continue;
    }
    if (cursor_ == kRowColumnsMax) {
      CommitRow("", commit);
      return at;
    }
    char32_t character = NextCharacter(text, &at);
    if (cursor_ == cells_.size()) {
      cells_.push_back(character);
    } else if (cells_[cursor_] != character) {
      cells_[cursor_] = character;
      if (cursor_ < shown_columns_) stale_ = true;
    }
    ++cursor_;
  }
  return text.size();
}

void LineFolder::CommitRow(absl::string_view ending, Commit commit) {
  std::string text = RowText();
  text.append(ending.data(), ending.size());
  if (!text.empty()) commit(text);
  row_.clear();
  row_columns_ = 0;
  overwriting_ = false;
  cells_.clear();
  shown_bytes_ = 0;
  stale_ = false;
}

std::string LineFolder::RowText() const {
  if (!overwriting_) return row_;
  std::string text;
  text.reserve(cells_.size());
  for (char32_t cell : cells_) AppendCharacter(cell, &text);
  return text;
}

std::string LineFolder::UnshownText() const {
  if (!overwriting_) return row_.substr(shown_bytes_);
  std::string text;
  for (size_t i = shown_columns_; i < cells_.size(); ++i) AppendCharacter(cells_[i], &text);
  return text;
}

void LineFolder::MarkShown(size_t bytes) {
  if (overwriting_) {
    shown_columns_ = 0;
    for (size_t at = 0; at < bytes && shown_columns_ < cells_.size(); ++shown_columns_) {
      char32_t cell = cells_[shown_columns_];
      at += cell < 0x80 ? 1 : cell < 0x800 ? 2 : cell < 0x10000 ? 3 : 4;
    }
  }
  shown_bytes_ = bytes;
  stale_ = false;
}

}  // namespace cellblock::capture
