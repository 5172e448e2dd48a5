// See collector.h.
#include "artifact/collector.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/image_size.h"
#include "artifact/names.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "capture/utf8.h"

namespace cellblock::artifact {
namespace {

// Files that turn out not to be collectable must not take the place of ones that are, within reason.
constexpr size_t kSpareCandidates = 100;

// The clock of the kernel's file times, which goes in ticks: a file changed later never has an earlier time than this.
int64_t FileClockNs() {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::string KindOf(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link; links are never followed";
  if (S_ISFIFO(mode)) return "a named pipe; only regular files are collected";
  if (S_ISSOCK(mode)) return "a socket; only regular files are collected";
  if (S_ISDIR(mode)) return "a folder";
  return "a device; only regular files are collected";
}

// For messages: a name can have 16 KiB once escaped.
std::string Shortened(std::string path) {
  constexpr size_t kShownMax = 200;
  if (path.size() <= kShownMax) return path;
  return absl::StrCat(path.substr(0, capture::FloorToCharacter(path, kShownMax)), "…");
}

// One limit: how many files met it, and the first of them.
class Tally {
 public:
  void Add(absl::string_view path) {
    if (count_++ == 0) example_ = Shortened(EscapeName(path));
  }
  int64_t count() const { return count_; }
  const std::string& example() const { return example_; }

 private:
  int64_t count_ = 0;
  std::string example_;
};

struct Candidate {
  std::string path;
  bool created;
};

// The first so many candidates by path, whatever the order in which they come: which files are collected does not depend on the
// file system's listing order, nor memory on their number.
class FirstByPath {
 public:
  explicit FirstByPath(size_t max) : max_(max) {}
  void Add(absl::string_view path, bool created) {
    ++seen_;
    if (heap_.size() == max_) {
      if (max_ == 0 || absl::string_view(heap_.front().path) <= path) return;
      std::pop_heap(heap_.begin(), heap_.end(), ByPath);
      heap_.pop_back();
    }
    heap_.push_back({std::string(path), created});
    std::push_heap(heap_.begin(), heap_.end(), ByPath);
  }
  std::vector<Candidate> TakeSorted() {
    std::sort_heap(heap_.begin(), heap_.end(), ByPath);
    return std::move(heap_);
  }
  int64_t seen() const { return seen_; }

 private:
  static bool ByPath(const Candidate& a, const Candidate& b) { return a.path < b.path; }
  size_t max_;
  std::vector<Candidate> heap_;
  int64_t seen_ = 0;
};

// The state of one Collect(): finds candidates, copies them, explains what it left.
class Collecting {
 public:
  Collecting(int workspace_fd, const CollectorOptions& options, const ArtifactStore& store, MimeSniffer* sniffer, int64_t call)
      : workspace_fd_(workspace_fd), limits_(options.limits), store_(store), sniffer_(sniffer), call_(call),
        candidates_(static_cast<size_t>(std::max<int64_t>(limits_.files, 0)) + kSpareCandidates) {}

  void FoundFile(const Entry& entry, bool created) {
    if (!S_ISREG(entry.mode)) return Note(entry.path, KindOf(entry.mode));
    if (entry.path.size() > kPathBytesMax) {
      names_.Add(entry.path);
      return Note(entry.path, OpenFailure(ENAMETOOLONG));
    }
    candidates_.Add(entry.path, created);
  }
  void FoundDeepFolder(const Entry& entry) { depth_.Add(entry.path); }
  void FoundUnreadableFolder(const Entry& entry, int error) { Note(entry.path, OpenFailure(error)); }

  void CopyCandidates(Collection* collection) {
    int64_t tried = 0;
    for (const Candidate& candidate : candidates_.TakeSorted()) {
      if (static_cast<int64_t>(artifacts_.size()) >= limits_.files) break;
      ++tried;
      CopyOne(candidate);
    }
    files_left_ = candidates_.seen() - tried;
    collection->artifacts = std::move(artifacts_);
    collection->notes = std::move(notes_);
    collection->notes_dropped = notes_dropped_;
  }

  std::vector<LimitHit> LimitsHit(const WalkReport& report) const {
    std::vector<LimitHit> hits;
    auto add = [&hits](std::string detail) { hits.push_back({.name = "artifacts", .detail = std::move(detail)}); };
    if (files_left_ > 0) {
      add(absl::StrCat("artifacts.files is ", limits_.files, ": the call created or changed ", candidates_.seen(), " files, and ", files_left_,
                       " of them were left out (the first by name are kept). Write fewer files, pack them into one archive, or raise the limit."));
    }
    if (too_large_.count() > 0) {
      add(absl::StrCat("artifacts.file_size is ", limits_.file_bytes, ": ", too_large_.count(), " larger file(s) were left out, such as ",
                       too_large_.example(), ". Write smaller files, or raise the limit."));
    }
    if (over_total_.count() > 0) {
      add(absl::StrCat("artifacts.size is ", limits_.bytes, " a call: ", over_total_.count(), " file(s) were left out that did not fit any more, such as ",
                       over_total_.example(), ". Write less in one call, or raise the limit."));
    }
    if (depth_.count() > 0) {
      add(absl::StrCat("artifacts.depth is ", limits_.depth, ": ", depth_.count(), " deeper folder(s) were not looked into, such as ", depth_.example(),
                       ". Write files nearer to the top, or raise the limit."));
    }
    if (names_.count() > 0) {
      add(absl::StrCat(names_.count(), " file(s) whose path has more than ", kPathBytesMax, " bytes were left out, such as ", names_.example(), "."));
    }
    if (report.entries_exceeded) {
      add(absl::StrCat("the workspace holds more than ", report.entries, " files and folders; artifacts were looked for among the first ",
                       report.entries, " only. Delete files, or pack them into one archive."));
    }
    return hits;
  }

 private:
  void Note(absl::string_view path, std::string text, bool collected = false) {
    if (notes_.size() == kNotesMax) {
      ++notes_dropped_;
    } else {
      notes_.push_back({.path = EscapeName(path), .text = std::move(text), .collected = collected});
    }
  }

  void CopyOne(const Candidate& candidate) {
    UniqueFd file(OpenBeneath(workspace_fd_, candidate.path.c_str(), O_RDONLY));
    if (!file.valid()) return Note(candidate.path, OpenFailure(errno));
    struct stat before;
    if (fstat(file.get(), &before) != 0) return Note(candidate.path, OpenFailure(errno));
    if (!S_ISREG(before.st_mode)) return Note(candidate.path, absl::StrCat("while it was looked at, it became ", KindOf(before.st_mode)));
    if (before.st_size > limits_.file_bytes) {
      too_large_.Add(candidate.path);
      return Note(candidate.path, absl::StrCat("it has ", before.st_size, " bytes; artifacts.file_size is ", limits_.file_bytes));
    }
    if (before.st_size > limits_.bytes - bytes_) {
      over_total_.Add(candidate.path);
      return Note(candidate.path, absl::StrCat("it has ", before.st_size, " bytes; ", limits_.bytes - bytes_, " were left of artifacts.size (", limits_.bytes, ")"));
    }
    if (!inodes_.insert({before.st_dev, before.st_ino}).second) return Note(candidate.path, "a hard link to a file that is collected already");
    absl::StatusOr<StoredCopy> copy = store_.Copy(file.get(), before.st_size);
    if (!copy.ok()) {
      inodes_.erase({before.st_dev, before.st_ino});
      Log(LogLevel::kWarning, absl::StrCat("artifact not stored: ", copy.status().message()));
      return Note(candidate.path, absl::StrCat("the host could not store it: ", copy.status().message()));
    }
    bytes_ += copy->size_bytes;
    struct stat after;
    if (fstat(file.get(), &after) != 0 || after.st_size != copy->size_bytes || after.st_ctim.tv_sec != before.st_ctim.tv_sec ||
        after.st_ctim.tv_nsec != before.st_ctim.tv_nsec) {
      Note(candidate.path, "it changed while it was copied; the copy may mix old and new content", /*collected=*/true);
    }
    AddArtifact(candidate, *std::move(copy));
  }

  void AddArtifact(const Candidate& candidate, StoredCopy copy) {
    Artifact artifact;
    artifact.id = std::move(copy.id);
    artifact.path = EscapeName(candidate.path);
    artifact.size_bytes = copy.size_bytes;
    artifact.mime = sniffer_->Sniff(copy.head, candidate.path);
    artifact.sha256 = std::move(copy.sha256);
    artifact.created = candidate.created;
    artifact.call = call_;
    artifact.image_size = ImageSize(artifact.mime, copy.head);
    artifact.stored_at = std::move(copy.path);
    artifacts_.push_back(std::move(artifact));
  }

  const int workspace_fd_;
  const ArtifactLimits& limits_;
  const ArtifactStore& store_;
  MimeSniffer* const sniffer_;
  const int64_t call_;
  FirstByPath candidates_;
  absl::flat_hash_set<std::pair<dev_t, ino_t>> inodes_;
  int64_t bytes_ = 0;
  int64_t files_left_ = 0;
  Tally too_large_, over_total_, depth_, names_;
  std::vector<Artifact> artifacts_;
  std::vector<FileNote> notes_;
  int64_t notes_dropped_ = 0;
};

}  // namespace

size_t Snapshot::KeyHash::operator()(const PathKey& key) const {
  size_t hash;  // the key is a cryptographic hash already
  std::memcpy(&hash, key.data(), sizeof(hash));
  return hash;
}

void Snapshot::Add(const Entry& entry) {
  if (entries_.size() == kSnapshotEntriesMax) {
    complete_ = false;
    return;
  }
  entries_.insert_or_assign(entry.key, entry.fingerprint);
}

Snapshot::Change Snapshot::Compare(const Entry& entry) const {
  auto found = entries_.find(entry.key);
  if (found != entries_.end()) return found->second == entry.fingerprint ? Change::kNone : Change::kModified;
  if (complete_) return Change::kCreated;
  if (entry.fingerprint.changed_ns < taken_ns_) return Change::kNone;
  return entry.born_ns >= taken_ns_ ? Change::kCreated : Change::kModified;
}

Collector::Collector(UniqueFd workspace, CollectorOptions options, const ArtifactStore* store, MimeSniffer* sniffer)
    : workspace_(std::move(workspace)),
      options_(std::move(options)),
      filter_(options_.limits.include, options_.limits.exclude),
      store_(store),
      sniffer_(sniffer) {
  options_.limits.depth = std::clamp(options_.limits.depth, 0, kDepthMax);
}

absl::StatusOr<Collector> Collector::Create(UniqueFd workspace, CollectorOptions options, const ArtifactStore* store, MimeSniffer* sniffer) {
  UniqueFd probe(OpenBeneath(workspace.get(), ".", O_RDONLY | O_DIRECTORY));
  if (!probe.valid() && errno == ENOSYS) {
    return absl::FailedPreconditionError(
        "collecting artifacts needs the system call openat2 (Linux 5.6 or later; a container's seccomp filter may hide it: allow openat2)");
  }
  if (!probe.valid()) return absl::ErrnoToStatus(errno, "open the workspace to collect artifacts from it");
  return Collector(std::move(workspace), std::move(options), store, sniffer);
}

absl::StatusOr<Snapshot> Collector::TakeSnapshot() {
  Snapshot snapshot;
  snapshot.taken_ns_ = FileClockNs();
  auto visit = [&](const Entry& entry) {
    if (!S_ISDIR(entry.mode)) {
      if (filter_.Includes(entry.path)) snapshot.Add(entry);
      return Visit::kSkip;
    }
    if (filter_.SkipsFolder(entry.path)) return Visit::kSkip;
    snapshot.Add(entry);
    return entry.depth < options_.limits.depth ? Visit::kDescend : Visit::kSkip;
  };
  CELLBLOCK_ASSIGN_OR_RETURN(WalkReport report, Walk(workspace_.get(), options_.workspace_files, visit, [](const Entry&, int) {}));
  if (report.entries_exceeded) snapshot.complete_ = false;
  return snapshot;
}

absl::Status Collector::Include(absl::string_view path, Snapshot& snapshot) {
  auto visit = [&](const Entry& entry) {
    bool is_it = entry.path == path;
    if (!is_it && !(S_ISDIR(entry.mode) && absl::StartsWith(path, absl::StrCat(entry.path, "/")))) return Visit::kSkip;
    snapshot.Add(entry);
    return is_it ? Visit::kSkip : Visit::kDescend;
  };
  return Walk(workspace_.get(), options_.workspace_files, visit, [](const Entry&, int) {}).status();
}

absl::StatusOr<Collection> Collector::Collect(const Snapshot& before, int64_t call) {
  Collection collection;
  Collecting collecting(workspace_.get(), options_, *store_, sniffer_, call);
  Snapshot& now = collection.after;
  now.taken_ns_ = FileClockNs();
  auto visit = [&](const Entry& entry) {
    if (S_ISDIR(entry.mode)) {
      if (filter_.SkipsFolder(entry.path)) return Visit::kSkip;
      now.Add(entry);
      if (entry.depth < options_.limits.depth) return Visit::kDescend;
      if (before.Compare(entry) != Snapshot::Change::kNone) collecting.FoundDeepFolder(entry);
      return Visit::kSkip;
    }
    if (!filter_.Includes(entry.path)) return Visit::kSkip;
    now.Add(entry);
    Snapshot::Change change = before.Compare(entry);
    if (change != Snapshot::Change::kNone) collecting.FoundFile(entry, change == Snapshot::Change::kCreated);
    return Visit::kSkip;
  };
  auto unreadable = [&](const Entry& entry, int error) {
    if (before.Compare(entry) != Snapshot::Change::kNone) collecting.FoundUnreadableFolder(entry, error);
  };
  CELLBLOCK_ASSIGN_OR_RETURN(WalkReport report, Walk(workspace_.get(), options_.workspace_files, visit, unreadable));
  if (report.entries_exceeded) now.complete_ = false;
  collecting.CopyCandidates(&collection);
  collection.limits_hit = collecting.LimitsHit(report);
  return collection;
}

}  // namespace cellblock::artifact
