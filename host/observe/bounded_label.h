// A label's values, however many there might be: the first few stand as they are, the rest are "other". Each value is a time series that
// whoever collects metrics keeps for months, so none may come from outside without a bound. Supervisor. Thread-safe.
#ifndef CELLBLOCK_OBSERVE_BOUNDED_LABEL_H_
#define CELLBLOCK_OBSERVE_BOUNDED_LABEL_H_

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::observe {

class BoundedLabel {
 public:
  static constexpr size_t kBytesMax = 100;

  explicit BoundedLabel(size_t values_max) : values_max_(values_max) {}

  // Cut where it is long; printable ASCII, '?' for all else.
  std::string Of(absl::string_view value) {
    std::string label(value.substr(0, kBytesMax));
    for (char& c : label) {
      if (c < 0x20 || c > 0x7e) c = '?';
    }
    std::lock_guard<std::mutex> lock(mutex_);
    if (seen_.count(label) == 0) {
      if (seen_.size() >= values_max_) return "other";
      seen_.insert(label);
    }
    return label;
  }

 private:
  const size_t values_max_;
  std::mutex mutex_;
  std::set<std::string> seen_;
};

}  // namespace cellblock::observe

#endif  // CELLBLOCK_OBSERVE_BOUNDED_LABEL_H_
