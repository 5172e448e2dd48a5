// See utf8.h.
#include "capture/utf8.h"

#include <algorithm>
#include <cstring>

namespace cellblock::capture {
namespace {

// Length of the run of ASCII bytes at the front, eight at a time.
size_t AsciiRun(absl::string_view bytes) {
  size_t at = 0;
  while (at + 8 <= bytes.size()) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    if ((word & 0x8080808080808080u) != 0) break;
    at += 8;
  }
  while (at < bytes.size() && static_cast<uint8_t>(bytes[at]) < 0x80) ++at;
  return at;
}

// What a lead byte asks for: how many bytes in all, and which second byte is allowed (Unicode, table 3-7). length 0: no lead byte.
struct Lead {
  uint8_t length;
  uint8_t second_min;
  uint8_t second_max;
};

Lead LeadOf(uint8_t byte) {
  if (byte < 0xC2) return {0, 0, 0};  // continuation bytes, and C0 and C1, which could only encode ASCII again
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};  // shorter forms excluded
  if (byte == 0xED) return {3, 0x80, 0x9F};  // surrogates excluded
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};  // nothing beyond U+10FFFF
  return {0, 0, 0};
}

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace

Utf8Sequence ScanSequence(absl::string_view bytes) {
  uint8_t first = static_cast<uint8_t>(bytes[0]);
  if (first < 0x80) return {Utf8Sequence::Kind::kCharacter, 1};
  Lead lead = LeadOf(first);
  if (lead.length == 0) return {Utf8Sequence::Kind::kIllFormed, 1};
  for (size_t i = 1; i < lead.length; ++i) {
    if (i == bytes.size()) return {Utf8Sequence::Kind::kIncomplete, i};
    uint8_t byte = static_cast<uint8_t>(bytes[i]);
    uint8_t min = i == 1 ? lead.second_min : 0x80;
    uint8_t max = i == 1 ? lead.second_max : 0xBF;
    if (byte < min || byte > max) return {Utf8Sequence::Kind::kIllFormed, i};
  }
  return {Utf8Sequence::Kind::kCharacter, lead.length};
}

size_t Utf8Decoder::CompleteHeld(absl::string_view bytes, std::string* text) {
  size_t had = held_size_;
  size_t added = std::min(sizeof(held_) - had, bytes.size());
  std::memcpy(held_ + had, bytes.data(), added);
  Utf8Sequence sequence = ScanSequence(absl::string_view(held_, had + added));
  if (sequence.kind == Utf8Sequence::Kind::kIncomplete) {
    held_size_ = had + added;
    return added;
  }
  if (sequence.kind == Utf8Sequence::Kind::kCharacter) {
    text->append(held_, sequence.bytes);
  } else {
    text->append(kReplacementCharacter.data(), kReplacementCharacter.size());
  }
  held_size_ = 0;
  return sequence.bytes - had;  // what was held is the start of the sequence, so it is never longer than it
}

void Utf8Decoder::Append(absl::string_view bytes, std::string* text) {
  if (held_size_ > 0 && !bytes.empty()) bytes.remove_prefix(CompleteHeld(bytes, text));
  size_t good = 0;  // bytes[0, good) are valid and not yet copied
  while (good < bytes.size()) {
    good += AsciiRun(bytes.substr(good));
    if (good == bytes.size()) break;
    Utf8Sequence sequence = ScanSequence(bytes.substr(good));
    if (sequence.kind == Utf8Sequence::Kind::kCharacter) {
      good += sequence.bytes;
      continue;
    }
    text->append(bytes.data(), good);
    if (sequence.kind == Utf8Sequence::Kind::kIncomplete) {
      std::memcpy(held_, bytes.data() + good, sequence.bytes);
      held_size_ = sequence.bytes;
      return;
    }
    text->append(kReplacementCharacter.data(), kReplacementCharacter.size());
    bytes.remove_prefix(good + sequence.bytes);
    good = 0;
  }
  text->append(bytes.data(), good);
}

void Utf8Decoder::Finish(std::string* text) {
  if (held_size_ > 0) text->append(kReplacementCharacter.data(), kReplacementCharacter.size());
  held_size_ = 0;
}

bool IsValidUtf8(absl::string_view bytes) {
  while (!bytes.empty()) {
    bytes.remove_prefix(AsciiRun(bytes));
    if (bytes.empty()) break;
    Utf8Sequence sequence = ScanSequence(bytes);
    if (sequence.kind != Utf8Sequence::Kind::kCharacter) return false;
    bytes.remove_prefix(sequence.bytes);
  }
  return true;
}

std::string ToValidUtf8(absl::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  Utf8Decoder decoder;
  decoder.Append(bytes, &text);
  decoder.Finish(&text);
  return text;
}

size_t CountCharacters(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return !IsContinuation(byte); }));
}

size_t FloorToCharacter(absl::string_view text, size_t offset) {
  if (offset >= text.size()) return text.size();
  while (offset > 0 && IsContinuation(text[offset])) --offset;
  return offset;
}

char32_t NextCharacter(absl::string_view text, size_t* position) {
  uint8_t first = static_cast<uint8_t>(text[(*position)++]);
  if (first < 0x80) return first;
  int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  char32_t character = first & (0x3F >> more);
  for (; more > 0; --more) character = character << 6 | (static_cast<uint8_t>(text[(*position)++]) & 0x3F);
  return character;
}

void AppendCharacter(char32_t character, std::string* text) {
  if (character < 0x80) {
    text->push_back(static_cast<char>(character));
  } else if (character < 0x800) {
    text->push_back(static_cast<char>(0xC0 | character >> 6));
    text->push_back(static_cast<char>(0x80 | (character & 0x3F)));
  } else if (character < 0x10000) {
    text->push_back(static_cast<char>(0xE0 | character >> 12));
    text->push_back(static_cast<char>(0x80 | (character >> 6 & 0x3F)));
    text->push_back(static_cast<char>(0x80 | (character & 0x3F)));
  } else {
    text->push_back(static_cast<char>(0xF0 | character >> 18));
    text->push_back(static_cast<char>(0x80 | (character >> 12 & 0x3F)));
    text->push_back(static_cast<char>(0x80 | (character >> 6 & 0x3F)));
    text->push_back(static_cast<char>(0x80 | (character & 0x3F)));
  }
}

}  // namespace cellblock::capture
