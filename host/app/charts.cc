// See charts.h.
#include "app/charts.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/image_size.h"

namespace cellblock::app {
namespace {

struct Extension {
  absl::string_view type;
  absl::string_view extension;
};
constexpr Extension kExtensions[] = {{"image/png", "png"}, {"image/jpeg", "jpg"},  {"image/svg+xml", "svg"},
                                     {"image/gif", "gif"}, {"image/webp", "webp"}, {"application/pdf", "pdf"}};

std::string SizeOf(absl::string_view type, absl::string_view data) {
  const auto size = artifact::ImageSize(type, data);
  return size.has_value() ? absl::StrCat(size->first, "×", size->second) : "";
}

// A data frame has HTML too; an interactive chart is known by the specification that its library puts beside the HTML.
bool IsInteractiveChart(const Result& result) {
  for (const MimeData& data : result.mime) {
    for (absl::string_view kind : {"application/vnd.plotly.", "application/vnd.vega", "application/vnd.bokeh"}) {
      if (absl::StartsWith(data.type, kind)) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<const Result*> VisibleResults(const Record& record) {
  std::vector<const Result*> visible;
  bool clear_pending = false;
  for (const Event& event : record.events) {
    if (event.type == Event::Type::kClear) {
      clear_pending = event.wait;
      if (!event.wait) visible.clear();
      continue;
    }
    if (clear_pending) {
      visible.clear();
      clear_pending = false;
    }
    const bool shows = event.type == Event::Type::kDisplay || event.type == Event::Type::kUpdate || event.type == Event::Type::kResult;
    if (!shows || event.result >= record.results.size()) continue;
    const Result* result = &record.results[event.result];
    if (event.type != Event::Type::kUpdate) {
      visible.push_back(result);
      continue;
    }
    for (const Result*& shown : visible) {
      if (!result->display_id.empty() && shown->display_id == result->display_id) shown = result;
    }
  }
  return visible;
}

std::vector<Picture> PicturesOf(const Result& result) {
  std::vector<Picture> pictures;
  const bool interactive = IsInteractiveChart(result);
  for (const MimeData& data : result.mime) {
    for (const Extension& known : kExtensions) {
      if (data.type == known.type) pictures.push_back({known.extension, data.data, SizeOf(known.type, data.data)});
    }
    if (interactive && data.type == "text/html") pictures.push_back({"html", data.data, ""});
  }
  return pictures;
}

}  // namespace cellblock::app
