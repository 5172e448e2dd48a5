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

bool EscapedReading::Begins(uint8_t byte) const {
  return std::any_of(layers_.begin(), layers_.end(), [byte](const Unescaper& layer) { return layer.Begins(byte); });
}

void EscapedReading::Append(uint8_t byte, uint64_t offset, RedactionSet::State plain, OnMatch on_match) {
  if (!awake_) {
    awake_ = true;
    state_ = plain;
    begins_.clear();
    for (uint64_t at = offset - set_.depth(plain); at < offset; ++at) begins_.push_back(at);
    plain_bytes_ = 0;  // so that the next waking has bytes of its own to pay for the list
  }
  Read(0, {byte, offset, offset + 1}, on_match);
}

void EscapedReading::SleepIfAgreeing(RedactionSet::State plain) {
  if (!awake_ || state_ != plain || plain_bytes_ < set_.depth(state_)) return;
  awake_ = std::any_of(layers_.begin(), layers_.end(), [](const Unescaper& layer) { return layer.holds_any(); });
}

void EscapedReading::Read(size_t layer, const SpelledByte& byte, OnMatch on_match) {
  if (layer == layers_.size()) return Step(byte, on_match);
  layers_[layer].Append(byte, [&](const SpelledByte& inner) { Read(layer + 1, inner, on_match); });
}

void EscapedReading::Step(const SpelledByte& byte, OnMatch on_match) {
  plain_bytes_ = byte.end - byte.begin == 1 ? plain_bytes_ + 1 : 0;
  const RedactionSet::State before = state_;
  state_ = set_.Next(state_, byte.byte);
  if (state_ == RedactionSet::kRoot && before == state_) return;
  begins_.push_back(byte.begin);
  while (begins_.size() > set_.depth(state_)) begins_.pop_front();
  if (const size_t length = set_.match_bytes(state_); length > 0) on_match({begins_[begins_.size() - length], byte.end});
}

void EscapedReading::Finish(OnMatch on_match) {
  if (!awake_) return;
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    layers_[layer].Finish([&](const SpelledByte& inner) { Read(layer + 1, inner, on_match); });
  }
  awake_ = false;
}

uint64_t EscapedReading::HeldFrom(uint64_t otherwise) const {
  if (!awake_) return otherwise;
  uint64_t from = begins_.empty() ? otherwise : begins_.front();
  for (const Unescaper& layer : layers_) {
    if (layer.holds_any()) from = std::min(from, layer.first_held().begin);
  }
  return from;
}

Redactor::Redactor(std::shared_ptr<const RedactionSet> set) : set_(std::move(set)) {
  if (set_ == nullptr) return;
  const Unescaper backslash(Escapes::kBackslash), html(Escapes::kHtml);
  using Layers = std::initializer_list<Unescaper>;
  for (const Layers& layers : {Layers{backslash}, Layers{Unescaper(Escapes::kBackslashBytes)}, Layers{html}, Layers{html, backslash}, Layers{backslash, html}}) {
    readings_.emplace_back(*set_, std::vector<Unescaper>(layers));
  }
}

void Redactor::Append(absl::string_view text, std::string* out) {
  if (set_ == nullptr) {
    out->append(text.data(), text.size());
    return;
  }
  window_.append(text.data(), text.size());
  Scan();
  uint64_t safe = end() - set_->depth(state_);
  for (const EscapedReading& reading : readings_) safe = std::min(safe, reading.HeldFrom(safe));
  Release(safe, out);
}

void Redactor::Finish(std::string* out) {
  if (set_ == nullptr) return;
  for (EscapedReading& reading : readings_) reading.Finish([this](const Match& match) { AddMatch(match); });
  Release(end(), out);
  state_ = RedactionSet::kRoot;
}

void Redactor::Scan() {
  const auto on_match = [this](const Match& match) { AddMatch(match); };
  bool all_asleep = std::none_of(readings_.begin(), readings_.end(), [](const EscapedReading& reading) { return reading.awake(); });
  const absl::string_view unread = absl::string_view(window_).substr(scanned_ - window_begin_);
  for (size_t i = 0; i < unread.size(); ++i) {
    const uint8_t byte = static_cast<uint8_t>(unread[i]);
    if (state_ == RedactionSet::kRoot && all_asleep && !set_->MayBegin(byte)) continue;
    const uint64_t offset = scanned_ + i;
    const RedactionSet::State next = set_->Next(state_, byte);
    if (const size_t length = set_->match_bytes(next); length > 0) AddMatch({offset + 1 - length, offset + 1});
    if (!all_asleep || byte == '\\' || byte == '&') {
      all_asleep = true;
      for (EscapedReading& reading : readings_) {
        if (!reading.awake() && !reading.Begins(byte)) continue;
        reading.Append(byte, offset, state_, on_match);
        reading.SleepIfAgreeing(next);
        all_asleep = all_asleep && !reading.awake();
      }
    }
    state_ = next;
  }
  scanned_ = end();
}

// Matches end nearly in order: a reading is behind another by the bytes of an escape at most, which is room for few matches.
void Redactor::AddMatch(Match match) {
  size_t behind = matches_.size();
  while (behind > 0 && matches_[behind - 1].begin >= match.end) --behind;
  size_t first = behind;
  while (first > 0 && matches_[first - 1].end > match.begin) {
    --first;
    match.begin = std::min(match.begin, matches_[first].begin);
    match.end = std::max(match.end, matches_[first].end);
    match.written = match.written || matches_[first].written;
  }
  auto at = matches_.erase(matches_.begin() + static_cast<ptrdiff_t>(first), matches_.begin() + static_cast<ptrdiff_t>(behind));
  matches_.insert(at, match);
}

// Nothing that starts before `safe` can still become a literal: lets it out, and drops it from the window.
void Redactor::Release(uint64_t safe, std::string* out) {
  while (!matches_.empty() && matches_.front().begin <= safe) {
    Match& match = matches_.front();  // its beginning is settled, its end may not be
    CopyUpTo(match.begin, out);
    if (!match.written) out->append(kRedacted.data(), kRedacted.size());
    match.written = true;
    released_ = std::max(released_, std::min(match.end, safe));
    if (match.end > safe) break;
    matches_.pop_front();
  }
  CopyUpTo(safe, out);
  const uint64_t done = released_ - window_begin_;
  if (2 * done < window_.size()) return;  // moving the rest to the front shall not cost more than was let out
  window_.erase(0, done);
  window_begin_ = released_;
}

void Redactor::CopyUpTo(uint64_t end, std::string* out) {
  if (end <= released_) return;
  out->append(window_, released_ - window_begin_, end - released_);
  released_ = end;
}

std::string Redact(const std::shared_ptr<const RedactionSet>& set, absl::string_view text) {
  Redactor redactor(set);
  std::string clean;
  redactor.Append(text, &clean);
  redactor.Finish(&clean);
  return clean;
}

}  // namespace cellblock::capture
