// See pool.h.
#include "session/pool.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "session/birth.h"
#include "session/host_impl.h"
#include "sys/memory.h"
#include "sys/random_id.h"

namespace cellblock::session {
namespace {

constexpr int64_t kReadyMax = 1024;
constexpr absl::Duration kLookEvery = absl::Seconds(1);
constexpr absl::Duration kHeadStart = absl::Milliseconds(5);   // of whoever has just asked, over making another
constexpr absl::Duration kAfterFailure = absl::Seconds(5);
// Of the machine's memory: with less than this available none is made ahead, and what is ready gives its memory back.
constexpr int64_t kSpareFraction = 20;

bool IsMemoryShort() {
  const sys::MachineMemory memory = sys::ReadMachineMemory();
  return memory.total_bytes > 0 && memory.available_bytes < memory.total_bytes / kSpareFraction;
}

}  // namespace

absl::Status CheckPoolOptions(const PoolOptions& options) {
  if (options.ready_max < 0 || options.ready_max > kReadyMax) return absl::InvalidArgumentError(absl::StrCat("pool.ready_max: ", options.ready_max, " is not from 0 to ", kReadyMax));
  if (options.ready_min < 0 || (options.ready_min > options.ready_max && options.ready_max > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("pool.ready_min: ", options.ready_min, " is not from 0 to pool.ready_max, ", options.ready_max));
  }
  if (!(options.refills_per_second >= 0.1 && options.refills_per_second <= 10'000)) return absl::InvalidArgumentError("pool.refills_per_second is not from 0.1 to 10,000");
  if (options.age_max < absl::Seconds(1) || options.age_max > absl::Hours(24)) return absl::InvalidArgumentError("pool.age_max is not from 1 s to 24 h");
  if (options.memory_bytes_max < (int64_t{1} << 20) || options.memory_bytes_max > (int64_t{16} << 40)) return absl::InvalidArgumentError("pool.memory_bytes_max is not from 1 MiB to 16 TiB");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Ready>> Ready::Make(HostImpl& host, const Policy& policy) {
  auto ready = std::make_unique<Ready>();
  StartTimings timings;
  CELLBLOCK_ASSIGN_OR_RETURN(ready->place, Place::Make(host, policy, {}, sys::RandomId("r-"), &timings));
  CELLBLOCK_ASSIGN_OR_RETURN(ready->worker, ForkWorkerAhead(policy, *ready->place, &timings));
  ready->held = HeldBy(*ready->worker, *ready->place);
  sys::ProcReader::Shares shares;
  if (ready->worker->process().ReadShares(&shares)) ready->private_bytes = shares.alone;
  ready->made_at = absl::Now();
  return ready;
}

Policy KindOf(Policy policy) {
  const Policy usual;
  Limits limits = usual.limits;
  limits.workspace_bytes = policy.limits.workspace_bytes;
  limits.workspace_files = policy.limits.workspace_files;
  limits.tmp_bytes = policy.limits.tmp_bytes;
  limits.shm_bytes = policy.limits.shm_bytes;
  policy.limits = limits;
  policy.name = usual.name;
  policy.session = usual.session;
  policy.artifacts = usual.artifacts;
  policy.languages.python = usual.languages.python;
  policy.languages.bash = usual.languages.bash;
  const std::vector<std::string> preload = std::move(policy.python.preload);
  policy.python = usual.python;
  policy.python.preload = preload;
  policy.determinism.seed = usual.determinism.seed;
  policy.determinism.time_zone = usual.determinism.time_zone;
  policy.keep_processes = usual.keep_processes;
  policy.environment = usual.environment;
  policy.redact = usual.redact;
  return policy;
}

void Demand::Asked(int64_t left, absl::Time now) {
  const bool is_first = asked_at_ == absl::InfinitePast();  // which nothing can have been ready for
  asked_at_ = now;
  if (left >= 0) {
    spare_ = std::min(spare_, left);
    return;
  }
  target_ = std::clamp(is_first ? target_ : target_ * 2, int64_t{1}, most_);
  changed_at_ = now;
  spare_ = target_;
}

int64_t Demand::Target(absl::Time now) {
  if (now - changed_at_ < kShrinkAfter) return target_;
  target_ = std::max(least_, target_ - spare_);
  changed_at_ = now;
  spare_ = target_;
  return target_;
}

Pool::Pool(HostImpl& host, const PoolOptions& options) : host_(host), options_(options) {
  if (options_.ready_max > 0) thread_ = std::thread([this] { Loop(); });
}

Pool::~Pool() {
  {
    Lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<Ready> Pool::Take(const Policy& policy) {
  // A secret is read when its session is made, not before.
  if (options_.ready_max == 0 || !policy.network.secrets.empty()) return nullptr;
  Ended ended;  // goes after the lock
  Lock lock(mutex_);
  Kind& kind = FindKind(policy, ended);
  std::unique_ptr<Ready> taken;
  while (taken == nullptr && !kind.ready.empty()) {
    taken = std::move(kind.ready.front());
    kind.ready.pop_front();
    if (taken->is_alive()) continue;
    ++usage_.discarded;
    ended.push_back(std::move(taken));
  }
  ++(taken != nullptr ? usage_.handed_out : usage_.built);
  asked_at_ = absl::Now();
  kind.demand.Asked(taken != nullptr ? static_cast<int64_t>(kind.ready.size()) : -1, asked_at_);
  changed_.notify_one();
  return taken;
}

void Pool::CountBuilding(int64_t change) {
  Lock lock(mutex_);
  building_ += change;
  if (change < 0) changed_.notify_one();
}

// Moved to the front; a new one in the place of the last when there are as many as may be.
Pool::Kind& Pool::FindKind(const Policy& policy, Ended& ended) {
  Policy key = KindOf(policy);
  auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) { return kind.key == key; });
  if (found != kinds_.end()) {
    kinds_.splice(kinds_.begin(), kinds_, found);
    if (!(kinds_.front().policy == policy)) kinds_.front().policy = policy;
    return kinds_.front();
  }
  if (kinds_.size() == kKindsMax) {
    LetGo(kinds_.back(), ended);
    kinds_.pop_back();
  }
  kinds_.push_front({std::move(key), policy, Demand(options_.ready_min, options_.ready_max), {}});
  return kinds_.front();
}

void Pool::LetGo(Kind& kind, Ended& ended) {
  usage_.discarded += static_cast<int64_t>(kind.ready.size());
  for (std::unique_ptr<Ready>& ready : kind.ready) ended.push_back(std::move(ready));
  kind.ready.clear();
}

int64_t Pool::ReadyCount() const {
  int64_t count = 0;
  for (const Kind& kind : kinds_) count += static_cast<int64_t>(kind.ready.size());
  return count;
}

int64_t Pool::ReadyBytes() const {
  int64_t bytes = 0;
  for (const Kind& kind : kinds_) {
    for (const std::unique_ptr<Ready>& ready : kind.ready) bytes += ready->private_bytes;
  }
  return bytes;
}

PoolUsage Pool::usage() const {
  Lock lock(mutex_);
  PoolUsage usage = usage_;
  usage.ready = ReadyCount();
  for (const Kind& kind : kinds_) usage.wanted += kind.demand.last_target();
  usage.memory_bytes = ReadyBytes();
  return usage;
}

// What is too old, has ended or is more than is wanted.
void Pool::RemoveOld(absl::Time now, Ended& ended) {
  int64_t over_bytes = ReadyBytes() - options_.memory_bytes_max;
  for (Kind& kind : kinds_) {
    const int64_t target = kind.demand.Target(now);
    auto is_over = [&](const std::unique_ptr<Ready>& ready) { return now - ready->made_at >= options_.age_max || !ready->is_alive(); };
    const auto over = std::stable_partition(kind.ready.begin(), kind.ready.end(), [&](const auto& ready) { return !is_over(ready); });
    std::move(over, kind.ready.end(), std::back_inserter(ended));
    usage_.discarded += kind.ready.end() - over;
    kind.ready.erase(over, kind.ready.end());
    for (; static_cast<int64_t>(kind.ready.size()) > target || (over_bytes > 0 && !kind.ready.empty()); ++usage_.discarded) {
      over_bytes -= kind.ready.front()->private_bytes;
      ended.push_back(std::move(kind.ready.front()));
      kind.ready.pop_front();
    }
  }
  while (!kinds_.empty() && now - kinds_.back().demand.asked_at() > kForgetAfter) {
    LetGo(kinds_.back(), ended);
    kinds_.pop_back();
  }
}

// Those asked for last come first. Where there are as many as may be, the first of a kind takes the place of another kind's.
Pool::Kind* Pool::NextToFill(absl::Time now, Ended& ended) {
  const bool has_room = ReadyCount() < options_.ready_max && ReadyBytes() + usual_bytes_ <= options_.memory_bytes_max;
  for (Kind& kind : kinds_) {
    if (static_cast<int64_t>(kind.ready.size()) >= kind.demand.Target(now) || now < kind.try_again_at) continue;
    if (has_room) return &kind;
    if (!kind.ready.empty()) continue;
    const auto other = std::find_if(kinds_.rbegin(), kinds_.rend(), [](const Kind& one) { return !one.ready.empty(); });
    if (other == kinds_.rend() || other->demand.asked_at() >= kind.demand.asked_at()) continue;
    ended.push_back(std::move(other->ready.front()));
    other->ready.pop_front();
    ++usage_.discarded;
    return &kind;
  }
  return nullptr;
}

void Pool::MakeOne(const Policy& key, const Policy& policy, Lock& lock, Ended& ended) {
  lock.unlock();
  absl::StatusOr<std::unique_ptr<Ready>> made = Ready::Make(host_, policy);
  lock.lock();
  const auto kind = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& one) { return one.key == key; });
  if (!made.ok()) {
    Log(LogLevel::kWarning, absl::StrCat("no worker could be made ahead: ", std::string(made.status().message())));
    if (kind != kinds_.end()) kind->try_again_at = absl::Now() + kAfterFailure;
    return;
  }
  ++usage_.made;
  usual_bytes_ = std::max(usual_bytes_, (*made)->private_bytes);
  if (kind != kinds_.end()) {
    kind->ready.push_back(*std::move(made));
  } else {  // forgotten meanwhile
    ++usage_.discarded;
    ended.push_back(*std::move(made));
  }
}

void Pool::Loop() {
  const std::chrono::microseconds pause = absl::ToChronoMicroseconds(absl::Seconds(1) / options_.refills_per_second);
  const int64_t processors = std::max(1U, std::thread::hardware_concurrency());
  const auto is_over = [this] { return stop_; };
  absl::Time looked_at = absl::InfinitePast();
  Lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    const bool is_short = IsMemoryShort();
    lock.lock();
    Ended ended;
    const absl::Time now = absl::Now();
    if (now - looked_at >= kLookEvery) {
      RemoveOld(now, ended);
      looked_at = now;
    }
    if (is_short) std::for_each(kinds_.begin(), kinds_.end(), [&](Kind& kind) { LetGo(kind, ended); });
    const bool is_busy = now - asked_at_ < kHeadStart || building_ >= processors;
    Kind* next = is_short || is_busy ? nullptr : NextToFill(now, ended);
    const bool fills = next != nullptr;
    if (fills) MakeOne(Policy(next->key), Policy(next->policy), lock, ended);
    if (!ended.empty()) {
      lock.unlock();
      ended.clear();
      lock.lock();
    }
    if (fills || is_busy) {
      changed_.wait_for(lock, fills ? pause : absl::ToChronoMicroseconds(kHeadStart), is_over);
    } else if (!stop_) {
      changed_.wait_for(lock, absl::ToChronoMilliseconds(kLookEvery));
    }
  }
}

}  // namespace cellblock::session
