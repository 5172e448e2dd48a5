// See redact.h.
#include "capture/redact.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "capture/utf8.h"

namespace cellblock::capture {

absl::StatusOr<std::shared_ptr<const RedactionSet>> RedactionSet::Create(const std::vector<std::string>& literals) {
  if (literals.size() > kRedactLiteralsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("redact lists ", literals.size(), " strings; at most ", kRedactLiteralsMax, " are allowed"));
  }
  auto set = std::make_shared<RedactionSet>();
  for (size_t i = 0; i < literals.size(); ++i) {
    // The message names the place and never the string: it is a secret.
    if (literals[i].size() < kRedactBytesMin || literals[i].size() > kRedactBytesMax) {
      return absl::InvalidArgumentError(absl::StrCat("redact[", i, "] has ", literals[i].size(), " bytes; ", kRedactBytesMin, " to ",
                                                     kRedactBytesMax, " are allowed"));
    }
    if (!IsValidUtf8(literals[i])) {
      return absl::InvalidArgumentError(absl::StrCat("redact[", i, "] is not UTF-8, so no captured text could hold it"));
    }
    set->Insert(literals[i]);
  }
  set->LinkFailures();
  return std::shared_ptr<const RedactionSet>(std::move(set));
}

void RedactionSet::Insert(absl::string_view literal) {
  State at = kRoot;
  for (char c : literal) {
    uint8_t byte = static_cast<uint8_t>(c);
    State child = Child(at, byte);
    if (child == kRoot) {
      child = static_cast<State>(nodes_.size());
      Node node;
      node.byte = byte;
      node.depth = static_cast<uint16_t>(nodes_[at].depth + 1);
      node.next_sibling = nodes_[at].first_child;
      nodes_[at].first_child = child;
      nodes_.push_back(node);
      if (at == kRoot) root_[byte] = child;
    }
    at = child;
  }
  nodes_[at].match_bytes = static_cast<uint16_t>(literal.size());
}

// Breadth first, so that a node's shorter suffixes are linked before it.
void RedactionSet::LinkFailures() {
  std::vector<State> queue;
  queue.reserve(nodes_.size());
  for (State child = nodes_[kRoot].first_child; child != kRoot; child = nodes_[child].next_sibling) queue.push_back(child);
  for (size_t i = 0; i < queue.size(); ++i) {
    State parent = queue[i];
    for (State child = nodes_[parent].first_child; child != kRoot; child = nodes_[child].next_sibling) {
      nodes_[child].fail = Next(nodes_[parent].fail, nodes_[child].byte);
      nodes_[child].match_bytes = std::max(nodes_[child].match_bytes, nodes_[nodes_[child].fail].match_bytes);
      queue.push_back(child);
    }
  }
}

RedactionSet::State RedactionSet::Child(State state, uint8_t byte) const {
  if (state == kRoot) return root_[byte];
  for (State child = nodes_[state].first_child; child != kRoot; child = nodes_[child].next_sibling) {
    if (nodes_[child].byte == byte) return child;
  }
  return kRoot;
}

RedactionSet::State RedactionSet::Next(State state, uint8_t byte) const {
  while (true) {
    State child = Child(state, byte);
    if (child != kRoot || state == kRoot) return child;
    state = nodes_[state].fail;
  }
}

void Redactor::Append(absl::string_view text, std::string* out) {
  if (set_ == nullptr) {
    out->append(text.data(), text.size());
    return;
  }
  window_.append(text.data(), text.size());
  Scan(out);
  Release(window_.size() - set_->depth(state_), out);
}

void Redactor::Finish(std::string* out) {
  if (set_ == nullptr) return;
  Release(window_.size(), out);
  state_ = RedactionSet::kRoot;
}

void Redactor::Scan(std::string* out) {
  while (scanned_ < window_.size()) {
    uint8_t byte = static_cast<uint8_t>(window_[scanned_++]);
    if (state_ == RedactionSet::kRoot && !set_->StartsLiteral(byte)) continue;
    state_ = set_->Next(state_, byte);
    if (size_t length = set_->match_bytes(state_); length > 0) FoundMatch(scanned_ - length, scanned_, out);
  }
}

void Redactor::FoundMatch(size_t begin, size_t end, std::string* out) {
  if (has_match_ && begin < match_end_) {
    if (!match_written_) match_begin_ = std::min(match_begin_, begin);
    match_end_ = end;
    return;
  }
  if (has_match_) {
    CopyUpTo(match_begin_, out);
    if (!match_written_) out->append(kRedacted.data(), kRedacted.size());
    done_ = match_end_;
  }
  has_match_ = true;
  match_written_ = false;
  match_begin_ = std::max(begin, done_);
  match_end_ = end;
}

// Nothing that starts before `safe` can still become a literal: lets it out, and drops it from the window.
void Redactor::Release(size_t safe, std::string* out) {
  if (has_match_) {
    CopyUpTo(std::min(match_begin_, safe), out);
    if (!match_written_ && match_begin_ <= safe) {  // its beginning is settled, its end may not be
      out->append(kRedacted.data(), kRedacted.size());
      match_written_ = true;
    }
    if (match_written_) done_ = std::max(done_, std::min(match_end_, safe));
    if (match_end_ <= safe) has_match_ = false;
  }
  if (!has_match_) CopyUpTo(safe, out);
  window_.erase(0, done_);
  scanned_ -= done_;
  match_begin_ -= std::min(match_begin_, done_);
  match_end_ -= std::min(match_end_, done_);
  done_ = 0;
}

void Redactor::CopyUpTo(size_t end, std::string* out) {
  if (end <= done_) return;
  out->append(window_, done_, end - done_);
  done_ = end;
}

}  // namespace cellblock::capture
