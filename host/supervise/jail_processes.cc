// See jail_processes.h.
#include "supervise/jail_processes.h"

#include <signal.h>

#include <set>
#include <vector>

#include "base/status_macros.h"
#include "sys/process.h"

namespace cellblock::supervise {
namespace {

constexpr size_t kProcessesMax = 65536;
constexpr int64_t kAnyThreads = 2;
constexpr int kKillRounds = 8;  // against those who fork as fast as they die

enum class Place { kInside, kOutside, kUnknown };

Place PlaceOf(const Jail& jail, const sys::ProcReader& process) {
  absl::StatusOr<ino_t> found = process.PidNamespace();
  if (!found.ok()) return absl::IsPermissionDenied(found.status()) ? Place::kUnknown : Place::kOutside;  // outside: it has ended
  if (jail.pid_namespace == 0) return Place::kUnknown;
  return *found == jail.pid_namespace ? Place::kInside : Place::kOutside;
}

// One walk; each process is visited once.
class Walk {
 public:
  Walk(const Jail& jail, absl::FunctionRef<void(sys::ProcReader&)> visit) : jail_(jail), visit_(visit) {}

  void Below(std::vector<pid_t> open) {
    while (!open.empty() && seen_.size() < kProcessesMax) {
      pid_t pid = open.back();
      open.pop_back();
      if (!seen_.insert(pid).second) continue;
      VisitInJail(jail_, pid, [&](sys::ProcReader& process) {
        visit_(process);
        for (pid_t child : process.Children(kAnyThreads)) open.push_back(child);
      });
    }
  }

 private:
  const Jail& jail_;
  absl::FunctionRef<void(sys::ProcReader&)> visit_;
  std::set<pid_t> seen_;
};

}  // namespace

bool VisitInJail(const Jail& jail, pid_t pid, absl::FunctionRef<void(sys::ProcReader&)> visit) {
  absl::StatusOr<sys::ProcReader> process = sys::ProcReader::Glance(pid);
  if (!process.ok() || PlaceOf(jail, *process) == Place::kOutside) return false;
  visit(*process);
  return true;
}

void VisitJail(Jail& jail, sys::ProcReader* worker, absl::FunctionRef<void(sys::ProcReader&)> visit) {
  Walk walk(jail, visit);
  absl::StatusOr<sys::ProcReader::Stat> stat = worker != nullptr ? worker->ReadStat() : absl::NotFoundError("no worker");
  if (stat.ok()) walk.Below(worker->Children(stat->threads));
  walk.Below(jail.process->Children(/*threads=*/1));  // last: it inherits the orphans that were made meanwhile
}

absl::Status KillInJail(const Jail& jail, pid_t pid) {
  absl::StatusOr<sys::ProcReader> process = sys::ProcReader::Glance(pid);
  if (!process.ok()) return absl::OkStatus();
  absl::StatusOr<UniqueFd> target = process->OpenPidFd();
  if (!target.ok()) return absl::OkStatus();
  Place place = PlaceOf(jail, *process);
  if (place == Place::kUnknown) return absl::PermissionDeniedError("the process's pid namespace is closed to this user");
  if (place == Place::kInside) (void)sys::SendSignal(target->get(), SIGKILL);
  return absl::OkStatus();
}

void KillAllInJail(Jail& jail, sys::ProcReader* worker) {
  std::set<pid_t> killed;
  for (int round = 0; round < kKillRounds; ++round) {
    std::vector<pid_t> fresh;
    VisitJail(jail, worker, [&](sys::ProcReader& process) {
      if (killed.insert(process.pid()).second) fresh.push_back(process.pid());
    });
    if (fresh.empty()) return;
    for (pid_t pid : fresh) {
      if (absl::IsPermissionDenied(KillInJail(jail, pid))) (void)sys::SendSignal(jail.pidfd.get(), SIGKILL);
    }
  }
}

}  // namespace cellblock::supervise
