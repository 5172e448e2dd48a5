// Which pictures of a call remain on view, as a notebook would show it. Pure functions. Supervisor; the record's bundles are guest data.
#ifndef CELLBLOCK_APP_CHARTS_H_
#define CELLBLOCK_APP_CHARTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cellblock/record.h"

namespace cellblock::app {

// The results still on view at the end of the call, in order: an update replaces the display with the same id, clear_output() removes
// what came before it (with wait: when the next output comes).
std::vector<const Result*> VisibleResults(const Record& record);

// One picture to keep: a view of the record's data.
struct Picture {
  absl::string_view extension;  // "png", "svg", "html", …
  absl::string_view data;
  std::string size;  // "900×600", empty when unknown
};

// The pictures of one bundle: every image type it has, and the HTML of an interactive chart (plotly and others of its kind).
std::vector<Picture> PicturesOf(const Result& result);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_CHARTS_H_
