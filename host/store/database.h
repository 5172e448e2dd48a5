// One SQLite database: statements prepared once, values bound and never spliced, errors as Status. Supervisor. The file is our own, but
// may have been cut short by a crash or a full disk.
#ifndef CELLBLOCK_STORE_DATABASE_H_
#define CELLBLOCK_STORE_DATABASE_H_

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace cellblock::store {

// A bound value; a text must outlive the call.
using Value = std::variant<std::nullptr_t, int64_t, absl::string_view>;
// Whole microseconds since 1970; an infinite time is NULL.
Value TimeValue(absl::Time time);

// The row that a query is at, for the length of the callback.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  bool IsNull(int column) const;
  int64_t Int(int column) const;         // 0 for NULL
  std::string Text(int column) const;    // "" for NULL
  absl::Time Time(int column) const;     // InfiniteFuture for NULL

 private:
  sqlite3_stmt* statement_;
};

// Not thread-safe. A statement's text is its key in the cache: pass literals.
class Database {
 public:
  // Makes the file (mode 0600) when missing. Write-ahead log with synchronous=NORMAL: what was committed survives the death of this
  // process; after a power cut the last commits may be missing, and the file is whole (sqlite.org/wal.html).
  // Beyond `bytes_max` (without the log) what would make it grow is refused as on a full disk. kDataLoss: no database, or damaged.
  static absl::StatusOr<Database> Open(const std::string& path, int64_t bytes_max);
  Database(Database&&) = default;
  Database& operator=(Database&&) = default;
  ~Database();

  // Runs one statement. kAlreadyExists: a key is taken; kFailedPrecondition: another constraint; kResourceExhausted: the disk is full.
  absl::Status Run(const char* sql, std::initializer_list<Value> values = {}, absl::FunctionRef<void(const Row&)> on_row = [](const Row&) {});
  // Several statements without values.
  absl::Status RunScript(const char* sql);
  int64_t changes() const;               // rows that the last statement changed

  // The log is written back into the file by whoever commits once it has grown long; by Checkpoint() of another connection to the same
  // file, no commit waits for that, nor for the disk. Does as much as it can without waiting for others.
  absl::Status Checkpoint();
  bool has_long_log() const { return *log_pages_ >= kCheckpointPages; }  // any thread

  // All of `body` or nothing of it.
  absl::Status InTransaction(absl::FunctionRef<absl::Status()> body);

 private:
  struct CloseDatabase {
    void operator()(sqlite3* database) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Database(sqlite3* database) : database_(database), log_pages_(std::make_unique<std::atomic<int>>(0)) {}
  static int OnCommit(void* self, sqlite3* database, const char* schema, int log_pages);
  absl::Status Error(int code, absl::string_view what) const;
  absl::StatusOr<sqlite3_stmt*> Prepared(const char* sql);

  static constexpr int kCheckpointPages = 1000;    // 4 MB
  static constexpr int kLogPagesMax = 16'000;      // then whoever commits does it

  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::unique_ptr<std::atomic<int>> log_pages_;    // as of the last commit; stays where it is when this object is moved
  std::map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;  // finalized before the database closes
};

}  // namespace cellblock::store

#endif  // CELLBLOCK_STORE_DATABASE_H_
