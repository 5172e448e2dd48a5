// See database.h.
#include "store/database.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sys/files.h"

namespace cellblock::store {
namespace {

constexpr int kBusyMilliseconds = 5000;         // for a backup or the sqlite3 program that reads beside us
// trusted_schema off: a damaged or exchanged file must not bring functions with it (sqlite.org/security.html).
constexpr const char* kPragmas =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;";

absl::StatusCode CodeOf(int extended) {
  if (extended == SQLITE_CONSTRAINT_PRIMARYKEY || extended == SQLITE_CONSTRAINT_UNIQUE) return absl::StatusCode::kAlreadyExists;
  switch (extended & 0xff) {
    case SQLITE_CONSTRAINT: return absl::StatusCode::kFailedPrecondition;
    case SQLITE_FULL: return absl::StatusCode::kResourceExhausted;
    case SQLITE_BUSY: return absl::StatusCode::kUnavailable;
    case SQLITE_TOOBIG: return absl::StatusCode::kInvalidArgument;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return absl::StatusCode::kDataLoss;
    default: return absl::StatusCode::kInternal;
  }
}

int Bind(sqlite3_stmt* statement, int index, const Value& value) {
  if (const int64_t* number = std::get_if<int64_t>(&value)) return sqlite3_bind_int64(statement, index, *number);
  if (const absl::string_view* text = std::get_if<absl::string_view>(&value)) {
    return sqlite3_bind_text64(statement, index, text->data() == nullptr ? "" : text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  return sqlite3_bind_null(statement, index);
}

}  // namespace

Value TimeValue(absl::Time time) {
  if (time == absl::InfiniteFuture() || time == absl::InfinitePast()) return nullptr;
  return absl::ToUnixMicros(time);
}

bool Row::IsNull(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
int64_t Row::Int(int column) const { return sqlite3_column_int64(statement_, column); }
std::string Row::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);  // of a text: its bytes as they are
  if (bytes == nullptr) return "";
  return std::string(static_cast<const char*>(bytes), static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}
absl::Time Row::Time(int column) const { return IsNull(column) ? absl::InfiniteFuture() : absl::FromUnixMicros(Int(column)); }

void Database::CloseDatabase::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void Database::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
Database::~Database() = default;

absl::Status Database::Error(int code, absl::string_view what) const {
  int extended = database_ == nullptr ? code : sqlite3_extended_errcode(database_.get());
  const char* text = database_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database_.get());
  return absl::Status(CodeOf(extended), absl::StrCat("the journal: ", what, ": ", text));
}

absl::StatusOr<Database> Database::Open(const std::string& path, int64_t bytes_max) {
  CELLBLOCK_RETURN_IF_ERROR(sys::Open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600).status());  // SQLite gives its log the same mode
  sqlite3* opened = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE, nullptr);
  Database database(opened);
  if (code != SQLITE_OK) return database.Error(code, absl::StrCat("open ", path));
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  sqlite3_wal_hook(opened, OnCommit, database.log_pages_.get());
  CELLBLOCK_RETURN_IF_ERROR(database.RunScript(kPragmas));
  int64_t page_bytes = 0;
  CELLBLOCK_RETURN_IF_ERROR(database.Run("PRAGMA page_size", {}, [&](const Row& row) { page_bytes = row.Int(0); }));
  CELLBLOCK_RETURN_IF_ERROR(database.RunScript(absl::StrCat("PRAGMA max_page_count = ", bytes_max / page_bytes).c_str()));
  return database;
}

absl::StatusOr<sqlite3_stmt*> Database::Prepared(const char* sql) {
  auto& kept = statements_[sql];
  if (kept == nullptr) {
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return Error(code, "prepare");
    kept.reset(statement);
  }
  return kept.get();
}

absl::Status Database::Run(const char* sql, std::initializer_list<Value> values, absl::FunctionRef<void(const Row&)> on_row) {
  CELLBLOCK_ASSIGN_OR_RETURN(sqlite3_stmt * statement, Prepared(sql));
  int index = 0, code = SQLITE_OK;
  for (const Value& value : values) {
    if (code == SQLITE_OK) code = Bind(statement, ++index, value);
  }
  if (code == SQLITE_OK) {
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) on_row(Row(statement));
  }
  absl::Status status = code == SQLITE_DONE ? absl::OkStatus() : Error(code, "run");
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);  // they point at the caller's texts
  return status;
}

absl::Status Database::RunScript(const char* sql) {
  int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code, "run");
}

int Database::OnCommit(void* pages, sqlite3* database, const char* schema, int log_pages) {
  static_cast<std::atomic<int>*>(pages)->store(log_pages);
  if (log_pages >= kLogPagesMax) (void)sqlite3_wal_checkpoint_v2(database, schema, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);  // else at the next commit
  return SQLITE_OK;
}

absl::Status Database::Checkpoint() {
  const int code = sqlite3_wal_checkpoint_v2(database_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  const bool in_the_way = code == SQLITE_BUSY || code == SQLITE_LOCKED;  // a writer begins the log anew, or does this itself
  return code == SQLITE_OK || in_the_way ? absl::OkStatus() : Error(code, "write the log back");
}

int64_t Database::changes() const { return sqlite3_changes64(database_.get()); }

absl::Status Database::InTransaction(absl::FunctionRef<absl::Status()> body) {
  CELLBLOCK_RETURN_IF_ERROR(Run("BEGIN IMMEDIATE"));
  absl::Status status = body();
  if (status.ok()) status = Run("COMMIT");
  if (!status.ok()) (void)Run("ROLLBACK");  // fails when SQLite has done so itself
  return status;
}

}  // namespace cellblock::store
