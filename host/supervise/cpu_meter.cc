// See cpu_meter.h.
#include "supervise/cpu_meter.h"

#include <algorithm>

namespace cellblock::supervise {
namespace {

constexpr int kLooksMax = 5;  // before a session that starts and ends processes all the time is taken as it stands
// User and system time of children come in whole ticks each, so that what was added may show up to two ticks late.
constexpr absl::Duration kSurplusMax = absl::Milliseconds(20);

}  // namespace

CpuMeter::CpuMeter(const std::vector<sys::ProcReader*>& roots, const sys::Cgroup* cgroup) : cgroup_(cgroup != nullptr && cgroup->CountsCpu() ? cgroup : nullptr) {
  for (sys::ProcReader* root : roots) roots_.push_back({root, {}});
  LookNow();
  surplus_ = absl::ZeroDuration();  // what the roots had added before is nobody's who goes from now on
  BeginCall();
}

void CpuMeter::BeginCall() {
  before_ = last_;
  cgroup_before_ = cgroup_last_;
  highest_ = absl::ZeroDuration();
}

void CpuMeter::LookNow() {
  if (cgroup_ == nullptr) {
    last_ = std::max(last_, Count());
    return;
  }
  // The counter may lack the tick that runs just now; the first root's own clock does not.
  Look look;
  LookAtRoot(roots_.front(), look);
  last_ = roots_.front().use.own;
  cgroup_last_ = cgroup_->CpuTime();
}

absl::Duration CpuMeter::Read() {
  LookNow();
  highest_ = std::max({highest_, cgroup_last_ - cgroup_before_, last_ - before_});
  return highest_;
}

void CpuMeter::RootEnded(const sys::ProcReader& root, absl::Duration cpu) {
  for (Root& each : roots_) {
    if (each.reader != &root) continue;
    // Which part of it were children is not told: all of them, so that those that are missed now are not counted twice.
    absl::Duration more = std::max(cpu - each.use.all(), absl::ZeroDuration());
    each.use.reaped_children += more;
    surplus_ += more;
    each.ended = true;
  }
}

void CpuMeter::LookAtRoot(Root& root, Look& look) {
  if (root.ended) return;
  absl::StatusOr<sys::CpuUse> use = root.reader->ReadCpuUse();
  if (!use.ok()) return;
  root.use.own = std::max(root.use.own, use->own);
  look.reaped += use->reaped_children - root.use.reaped_children;
  root.use.reaped_children = use->reaped_children;
}

// False when a process was missed: what was read of its parent just before may lack it. Parents come first, so that a process is never
// counted both as itself and among a parent's children.
bool CpuMeter::LookOnce(Look& look) {
  for (Root& root : roots_) LookAtRoot(root, look);
  bool complete = true;
  for (auto at = known_.begin(); at != known_.end();) {
    Known& known = at->second;
    absl::StatusOr<sys::CpuUse> use = sys::ReadCpuUse(at->first);
    if (absl::IsNotFound(use.status())) {
      look.gone += known.use.all();
      at = known_.erase(at);
      complete = false;
      continue;
    }
    if (use.ok()) {
      if (!known.fresh) look.reaped += std::max(use->reaped_children - known.use.reaped_children, absl::ZeroDuration());
      known.use.own = std::max(known.use.own, use->own);
      known.use.reaped_children = std::max(known.use.reaped_children, use->reaped_children);
      known.fresh = false;
    }
    ++at;
  }
  return complete;
}

absl::Duration CpuMeter::Count() {
  std::vector<sys::ProcReader*> readers;
  for (Root& root : roots_) {
    if (!root.ended) readers.push_back(root.reader);
  }
  for (const sys::ProcessId& process : sys::ProcessesBelow(readers)) known_.try_emplace(process);
  Look look;
  // A look that misses nobody after one that did: all that was added by then has been read.
  LookOnce(look);
  for (int i = 1; i < kLooksMax && !known_.empty() && !LookOnce(look); ++i) {
  }
  surplus_ += look.reaped - look.gone;
  if (surplus_ < absl::ZeroDuration()) {
    kept_ -= surplus_;
    surplus_ = absl::ZeroDuration();
  }
  absl::Duration total = Visible() + kept_;
  surplus_ = std::min(surplus_, kSurplusMax);
  return total;
}

absl::Duration CpuMeter::Visible() const {
  absl::Duration total;
  for (const Root& root : roots_) total += root.use.all();
  for (const auto& [id, known] : known_) total += known.use.all();
  return total;
}

}  // namespace cellblock::supervise
