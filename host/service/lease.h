// How long a session may stay: while nobody uses it, and in all. A pure value; the caller says what time it is and keeps it from being
// used by two threads at once. Supervisor.
#ifndef CELLBLOCK_SERVICE_LEASE_H_
#define CELLBLOCK_SERVICE_LEASE_H_

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace cellblock::service {

struct LeaseTerms {
  absl::Duration idle;  // without a call, an upload or a renewal
  absl::Duration life;  // busy or not
};

class Lease {
 public:
  Lease(const LeaseTerms& terms, absl::Time created_at)
      : terms_(terms), created_at_(created_at), idle_ends_at_(created_at + terms.idle), last_used_at_(created_at) {}

  const LeaseTerms& terms() const { return terms_; }
  absl::Time created_at() const { return created_at_; }
  absl::Time last_used_at() const { return last_used_at_; }
  absl::Time life_ends_at() const { return created_at_ + terms_.life; }

  // The end never moves back: whoever comes later, with whatever terms, has not shortened it.
  void Use(absl::Time now) { Extend(now, terms_.idle); }
  void Extend(absl::Time now, absl::Duration idle) {
    last_used_at_ = std::max(last_used_at_, now);
    idle_ends_at_ = std::max(idle_ends_at_, now + idle);
  }

  // A busy session is not idle, whatever its clock says: its calls have their own limit (limits.wall).
  absl::Time ExpiresAt(bool busy) const { return busy ? life_ends_at() : std::min(idle_ends_at_, life_ends_at()); }
  // Why it is over at `now`; empty while it is not.
  std::string WhyOver(absl::Time now, bool busy) const {
    if (now >= life_ends_at()) return absl::StrCat("its life of ", absl::FormatDuration(terms_.life), " (session.life) was over");
    if (!busy && now >= idle_ends_at_) return absl::StrCat("nobody had used it for ", absl::FormatDuration(idle_ends_at_ - last_used_at_), " (session.idle)");
    return "";
  }

 private:
  LeaseTerms terms_;
  absl::Time created_at_;
  absl::Time idle_ends_at_;
  absl::Time last_used_at_;
};

}  // namespace cellblock::service

#endif  // CELLBLOCK_SERVICE_LEASE_H_
