// How many bytes of uploads lie on the disk at once, of all connections: each request has a share, which is given back with it, however it
// ends. Supervisor. Thread-safe; a share is its connection's alone.
#ifndef CELLBLOCK_FRONT_HTTP_INCOMING_BYTES_H_
#define CELLBLOCK_FRONT_HTTP_INCOMING_BYTES_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/errors.h"

namespace cellblock::front {

class IncomingBytes {
 public:
  explicit IncomingBytes(int64_t bytes_max) : bytes_max_(bytes_max) {}
  int64_t bytes_max() const { return bytes_max_; }

  class Share {
   public:
    explicit Share(IncomingBytes& all) : all_(all) {}
    ~Share() { GiveBack(); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // From now on at least so many. kResourceExhausted ("too_many_uploads"): they do not fit now; the share stays as it was.
    absl::Status Hold(int64_t bytes) {
      if (bytes <= held_) return absl::OkStatus();
      const int64_t more = bytes - held_;
      int64_t taken = all_.taken_;
      do {
        if (more > all_.bytes_max_ - taken) return all_.Full();
      } while (!all_.taken_.compare_exchange_weak(taken, taken + more));
      held_ = bytes;
      return absl::OkStatus();
    }
    void GiveBack() {
      all_.taken_ -= held_;
      held_ = 0;
    }

   private:
    IncomingBytes& all_;
    int64_t held_ = 0;
  };

 private:
  absl::Status Full() const {
    return service::Error(absl::StatusCode::kResourceExhausted, "too_many_uploads",
                          absl::StrCat("uploads on their way may have ", bytes_max_, " bytes together (--incoming-bytes), and this one does not fit now; try again when others have ended"), absl::Seconds(5));
  }

  const int64_t bytes_max_;
  std::atomic<int64_t> taken_ = 0;
};

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_INCOMING_BYTES_H_
