// The journal's tables. Supervisor. A new version adds a step to kMigrations and changes none before it: files of every earlier version
// are brought up to date step by step when they are opened. journal.cc reads whole rows: new columns come last.
#ifndef CELLBLOCK_STORE_SCHEMA_H_
#define CELLBLOCK_STORE_SCHEMA_H_

#include <array>

namespace cellblock::store {

inline constexpr std::array<const char*, 3> kMigrations = {R"sql(
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, policy TEXT NOT NULL, metadata TEXT NOT NULL,
  created INTEGER NOT NULL, state INTEGER NOT NULL, reason TEXT NOT NULL, ended INTEGER
) STRICT;
CREATE INDEX sessions_of_owner ON sessions (owner, number);
CREATE INDEX sessions_by_end ON sessions (ended) WHERE ended IS NOT NULL;
CREATE TABLE executions (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  language TEXT NOT NULL, code TEXT NOT NULL, accepted INTEGER NOT NULL, state INTEGER NOT NULL, call INTEGER NOT NULL, status TEXT NOT NULL,
  record TEXT NOT NULL, ended INTEGER
) STRICT;
CREATE INDEX executions_of_session ON executions (session, number);
CREATE INDEX executions_running ON executions (session) WHERE state = 0;
CREATE TABLE artifacts (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL,
  execution TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
  path TEXT NOT NULL, bytes INTEGER NOT NULL, mime TEXT NOT NULL, sha256 TEXT NOT NULL, created INTEGER NOT NULL, call INTEGER NOT NULL,
  width INTEGER, height INTEGER, kept INTEGER NOT NULL
) STRICT;
CREATE INDEX artifacts_of_session ON artifacts (session, number);
CREATE INDEX artifacts_of_execution ON artifacts (execution);
CREATE INDEX artifacts_by_content ON artifacts (sha256) WHERE kept = 1;
CREATE TABLE requests (
  owner TEXT NOT NULL, key TEXT NOT NULL, hash TEXT NOT NULL, target TEXT NOT NULL, created INTEGER NOT NULL, PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_age ON requests (created);
CREATE TABLE orderly (ended INTEGER NOT NULL) STRICT;  -- a row while nobody has the journal open and its last end was orderly
)sql",
                                                             R"sql(
CREATE TABLE shared_files (
  owner TEXT NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, mime TEXT NOT NULL, created INTEGER NOT NULL,
  PRIMARY KEY (owner, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX shared_files_by_content ON shared_files (sha256);
)sql",
                                                             R"sql(
ALTER TABLE shared_files ADD COLUMN content TEXT NOT NULL DEFAULT '';  -- its blob's name; '': its SHA-256, one for all owners, as of old
DROP INDEX shared_files_by_content;
CREATE INDEX shared_files_by_content ON shared_files (content);
)sql"};

}  // namespace cellblock::store

#endif  // CELLBLOCK_STORE_SCHEMA_H_
