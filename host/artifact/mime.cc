// See mime.h.
#include "artifact/mime.h"

#include <magic.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/log.h"
#include "capture/utf8.h"

namespace cellblock::artifact {
namespace {

constexpr absl::string_view kUnknown = "application/octet-stream";

struct Extension {
  absl::string_view extension;
  absl::string_view mime;
};

// For content that is text.
constexpr Extension kTextTypes[] = {
    {"csv", "text/csv"},
    {"css", "text/css"},
    {"geojson", "application/geo+json"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ipynb", "application/x-ipynb+json"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"jsonl", "application/x-ndjson"},
    {"md", "text/markdown"},
    {"ndjson", "application/x-ndjson"},
    {"py", "text/x-python"},
    {"sh", "text/x-shellscript"},
    {"sql", "application/sql"},
    {"svg", "image/svg+xml"},
    {"tex", "text/x-tex"},
    {"toml", "application/toml"},
    {"tsv", "text/tab-separated-values"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
};

// For content that is a ZIP archive.
constexpr Extension kZipTypes[] = {
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"odp", "application/vnd.oasis.opendocument.presentation"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"xlsm", "application/vnd.ms-excel.sheet.macroenabled.12"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
};

// For content that is an OLE compound file.
constexpr Extension kOleTypes[] = {{"doc", "application/msword"}, {"ppt", "application/vnd.ms-powerpoint"}, {"xls", "application/vnd.ms-excel"}};

struct Signature {
  absl::string_view bytes;
  absl::string_view mime;
};
constexpr absl::string_view kOle("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 8);
constexpr absl::string_view kZip("PK\x03\x04", 4);
const Signature kSignatures[] = {
    {"\x89PNG\r\n\x1A\n", "image/png"},
    {"\xFF\xD8\xFF", "image/jpeg"},
    {"GIF87a", "image/gif"},
    {"GIF89a", "image/gif"},
    {"%PDF-", "application/pdf"},
    {"%!PS-Adobe", "application/postscript"},
    {absl::string_view("SQLite format 3\0", 16), "application/vnd.sqlite3"},
    {"\x89HDF\r\n\x1A\n", "application/x-hdf5"},
    {"\x93NUMPY", "application/x-npy"},
    {"\x1F\x8B\x08", "application/gzip"},
    {absl::string_view("\xFD" "7zXZ\0", 6), "application/x-xz"},
    {"\x28\xB5\x2F\xFD", "application/zstd"},
};
// Letters that a text could start with too.
const Signature kBinarySignatures[] = {
    {"PAR1", "application/vnd.apache.parquet"},
    {"ARROW1", "application/vnd.apache.arrow.file"},
    {"BZh", "application/x-bzip2"},
};

template <size_t kSize>
absl::string_view Find(const Extension (&table)[kSize], absl::string_view extension, absl::string_view otherwise) {
  const Extension* found = std::find_if(std::begin(table), std::end(table), [&](const Extension& row) { return row.extension == extension; });
  return found == std::end(table) ? otherwise : found->mime;
}

std::string ExtensionOf(absl::string_view name) {
  size_t slash = name.rfind('/');
  if (slash != absl::string_view::npos) name.remove_prefix(slash + 1);
  size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos || name.size() - dot > 16) return "";
  return absl::AsciiStrToLower(name.substr(dot + 1));
}

// A byte order mark, or no control characters but the usual ones of text. Covers UTF-8 and the 8-bit character sets of older CSVs.
bool IsText(absl::string_view head) {
  if (absl::StartsWith(head, "\xFF\xFE") || absl::StartsWith(head, "\xFE\xFF")) return true;  // UTF-16
  return std::none_of(head.begin(), head.end(), [](char c) {
    uint8_t byte = static_cast<uint8_t>(c);
    return (byte < 0x20 && !(byte >= '\t' && byte <= '\r') && byte != 0x1B) || byte == 0x7F;
  });
}

bool IsUtf8(absl::string_view head) {
  capture::Utf8Decoder decoder;  // lets the cut through the last character pass
  std::string text;
  decoder.Append(head, &text);
  return text.size() + decoder.held_bytes() == head.size() && absl::StartsWith(head, text);
}

std::string TextType(absl::string_view head, absl::string_view extension) {
  absl::ConsumePrefix(&head, "\xEF\xBB\xBF");
  absl::string_view start = absl::StripLeadingAsciiWhitespace(head).substr(0, 4096);
  bool svg = (absl::StartsWith(start, "<svg") || absl::StartsWith(start, "<?xml") || absl::StartsWith(start, "<!")) &&
             absl::StrContains(start, "<svg");
  if (svg) return "image/svg+xml";
  absl::string_view by_name = Find(kTextTypes, extension, "");
  if (by_name == "image/svg+xml") by_name = absl::StartsWith(start, "<") ? "application/xml" : "text/plain";
  bool json = absl::StartsWith(start, "{") || absl::StartsWith(start, "[");
  if (by_name == "application/json" && !json && absl::StartsWith(start, "<")) by_name = "";  // an error page saved as JSON
  if (!by_name.empty()) return std::string(by_name);
  if (absl::StartsWithIgnoreCase(start, "<!doctype html") || absl::StartsWithIgnoreCase(start, "<html")) return "text/html";
  if (absl::StartsWith(start, "<?xml")) return "application/xml";
  return "text/plain";
}

// What a library says is checked like everything else that hostile bytes took part in.
bool IsMimeType(absl::string_view mime) {
  size_t slash = mime.find('/');
  if (mime.size() > 127 || slash == 0 || slash == absl::string_view::npos || slash + 1 == mime.size()) return false;
  return std::all_of(mime.begin(), mime.end(), [](char c) {
           return absl::ascii_isdigit(static_cast<unsigned char>(c)) || absl::ascii_islower(static_cast<unsigned char>(c)) ||
                  absl::StrContains("/.+-_", absl::string_view(&c, 1));
         }) &&
         mime.find('/', slash + 1) == absl::string_view::npos;
}

}  // namespace

MimeSniffer::MimeSniffer() = default;

MimeSniffer::~MimeSniffer() {
  if (magic_ != nullptr) magic_close(magic_);
}

std::string MimeSniffer::Sniff(absl::string_view head, absl::string_view name) {
  head = head.substr(0, kMimeHeadBytesMax);
  const std::string extension = ExtensionOf(name);
  for (const Signature& signature : kSignatures) {
    if (absl::StartsWith(head, signature.bytes)) return std::string(signature.mime);
  }
  if (absl::StartsWith(head, "RIFF") && head.substr(0, 12).substr(std::min<size_t>(8, head.size())) == "WEBP") return "image/webp";
  if (absl::StartsWith(head, kZip)) return std::string(Find(kZipTypes, extension, "application/zip"));
  if (absl::StartsWith(head, kOle)) return std::string(Find(kOleTypes, extension, "application/x-ole-storage"));
  if (head.empty()) return std::string(Find(kTextTypes, extension, extension == "txt" ? "text/plain" : kUnknown));
  const bool is_text = IsText(head);
  for (const Signature& signature : kBinarySignatures) {
    if (!is_text && absl::StartsWith(head, signature.bytes)) return std::string(signature.mime);
  }
  if (is_text && (IsUtf8(head) || !Find(kTextTypes, extension, "").empty() || extension == "txt")) return TextType(head, extension);
  return AskLibmagic(head);
}

std::string MimeSniffer::AskLibmagic(absl::string_view head) {
  absl::MutexLock lock(&mutex_);
  if (!tried_to_load_) {
    tried_to_load_ = true;
    // Only the compiled signatures: nothing is decompressed, and no parser of tar, ELF, OLE, CSV or JSON files sees the bytes.
    magic_ = magic_open(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_TAR | MAGIC_NO_CHECK_APPTYPE | MAGIC_NO_CHECK_ELF |
                        MAGIC_NO_CHECK_CDF | MAGIC_NO_CHECK_TOKENS | MAGIC_NO_CHECK_CSV | MAGIC_NO_CHECK_JSON);
    size_t bytes = kMimeHeadBytesMax, indirections = 8, names = 30, regex = 1024;
    bool ready = magic_ != nullptr && magic_load(magic_, nullptr) == 0 && magic_setparam(magic_, MAGIC_PARAM_BYTES_MAX, &bytes) == 0 &&
                 magic_setparam(magic_, MAGIC_PARAM_INDIR_MAX, &indirections) == 0 &&
                 magic_setparam(magic_, MAGIC_PARAM_NAME_MAX, &names) == 0 && magic_setparam(magic_, MAGIC_PARAM_REGEX_MAX, &regex) == 0;
    if (!ready) {
      Log(LogLevel::kWarning, absl::StrCat("libmagic is not usable (", magic_ == nullptr ? "cannot be opened" : magic_error(magic_),
                                           "); artifacts of unusual types are reported as ", kUnknown, ". Install libmagic-mgc."));
      if (magic_ != nullptr) magic_close(magic_);
      magic_ = nullptr;
    }
  }
  if (magic_ == nullptr) return std::string(kUnknown);
  const char* answer = magic_buffer(magic_, head.data(), head.size());
  if (answer == nullptr || !IsMimeType(answer)) return std::string(kUnknown);
  return answer;
}

}  // namespace cellblock::artifact
