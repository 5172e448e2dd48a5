// A hostile cell as data: a script whose first comment lines say what it claims to be kept from, what must become of it, and where the
// same script does work. Tests only.
//
//   # claim: one sentence
//   # status: error|ok           how the call may end (default ok)
//   # session: kept|gone         what may become of the session (default kept)
//   # stdout: REGEX              all of standard output, an extended regular expression
//   # error: NAME|NAME           the exception that ends it
//   # hit: memory                a limit that the receipt must name
//   # killed: 1                  processes left over that must have been killed, at least
//   # artifacts: a b|a           paths of the artifacts, in order; "none"
//   # policy: limits: {wall: 2s}       a line of the policy file it runs under (repeatable)
//   # timeout: 2s                of the call
//   # next: any                  the session's next call may end in any way, but must end (default: it answers)
//   # needs: host services       arguments 2 to 4 are a port of the host's loopback, an abstract name, an id of shared memory
//   # after_stdout: REGEX        what the script prints with the argument "after", in another session beside this one and in the next
//   # twin: outside [unshare options] | policy | inside | again
//   # twin_stdout: REGEX  twin_status: ok  twin_policy: …
//
// A script's first argument is "hostile", and "twin" in its twin. Twin "outside": the same script under plain Python on this machine, if
// need be in namespaces of its own, where an ordinary user may do what root may. Twin "policy" (or "inside"): in a session again,
// under another policy (or the same). Twin "again": "after" in the same session, which must find what other sessions must not. A script
// that shows the allowed call itself says "# twin: within".
#ifndef CELLBLOCK_TESTS_ESCAPE_HOSTILE_CELL_H_
#define CELLBLOCK_TESTS_ESCAPE_HOSTILE_CELL_H_

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cellblock/policy.h"
#include "cellblock/record.h"

namespace cellblock {

struct HostileCell {
  std::string name;                                     // of its file, without folder and extension
  std::string path;
  std::string code;
  bool is_bash = false;
  std::map<std::string, std::vector<std::string>> keys;

  std::string Get(const std::string& key, const std::string& otherwise) const;
  bool Has(const std::string& key) const { return keys.count(key) > 0; }
  std::vector<std::string> Alternatives(const std::string& key, const std::string& otherwise) const;  // split at '|'
  absl::Duration timeout() const;
  absl::StatusOr<Policy> LoadPolicyOf(const std::string& key) const;
};

inline void PrintTo(const HostileCell& cell, std::ostream* out) { *out << cell.name; }

// Every file of the folder, sorted. Fails the program on one that it cannot read or understand.
std::vector<HostileCell> LoadHostileCells(const std::string& folder);

}  // namespace cellblock

#endif  // CELLBLOCK_TESTS_ESCAPE_HOSTILE_CELL_H_
