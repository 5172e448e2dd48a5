// What a session may use, as one plain value. Built by LoadPolicy() from YAML (policies/reference.yaml shows every key with its
// default, unit and reason) or by hand; read by every room. Held const once a session starts. The defaults are those of
// policies/default.yaml, and a test holds the two equal. The ranges beside the fields are those of the table in
// policy/schema.cc, which ValidatePolicy() applies; durations are whole milliseconds. Every text is UTF-8 without control
// characters (tab and newline excepted).
#ifndef CELLBLOCK_POLICY_H_
#define CELLBLOCK_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cellblock {

// How strictly a layer of isolation is asked for.
enum class Requirement {
  kRequired,    // refuse to start the session without it
  kPreferred,   // use it where the machine has it, report where not
  kOff,         // don't use it (the receipt says so)
};

// Memory and process limits may be kept by the kernel ("enforced") or by the supervisor's own watch ("watched").
enum class MemoryRequirement { kEnforced, kWatched };

struct Limits {
  absl::Duration wall = absl::Seconds(120);           // one call; 100 ms – 24 h, at most session.life
  absl::Duration wall_grace = absl::Seconds(2);       // between the interrupt and the kill; 0 – 60 s
  std::optional<absl::Duration> cpu;                  // CPU time of one call, all processes; 100 ms – 24 h; none: wall alone
  int cpus = 1;                                       // affinity, BLAS and joblib threads, cgroup quota; 1 – 1024
  int cpu_weight = 100;                               // share of busy CPUs beside other sessions', where a cgroup keeps it; 1 – 10,000
  int64_t memory_bytes = int64_t{2} << 30;            // resident memory of all the session's processes and its tmpfs; 64 MiB – 16 TiB
  int64_t processes = 128;                            // processes and threads together; 1 – 32768
  int64_t open_files = 1024;                          // per process; 16 – 1048576
  int64_t workspace_bytes = int64_t{1} << 30;         // /workspace; 1 MiB – 16 TiB
  int64_t workspace_files = 50'000;                   // files and folders in it (inodes); 16 – 10,000,000
  int64_t tmp_bytes = int64_t{256} << 20;             // /tmp; 1 MiB – 16 TiB
  int64_t shm_bytes = int64_t{256} << 20;             // /dev/shm; 1 MiB – 16 TiB
  int64_t file_bytes = int64_t{1} << 30;              // largest single file (RLIMIT_FSIZE); 4 KiB – 16 TiB
  int64_t output_bytes = int64_t{1} << 20;            // kept of stdout and of stderr, each, per call; 1 KiB – 1 GiB
  int64_t result_bytes = int64_t{32} << 20;           // all MIME bundles of one call together; 64 KiB – 1 GiB
  int64_t results = 200;                              // MIME bundles of one call; 1 – 10,000
  int64_t code_bytes = int64_t{4} << 20;              // one cell's source; 1 KiB – 64 MiB

  friend bool operator==(const Limits&, const Limits&) = default;
};

struct ArtifactLimits {
  std::vector<std::string> include = {"**"};          // globs relative to /workspace; first match of exclude wins over include
  std::vector<std::string> exclude = {".*", "**/.*", "**/__pycache__/**"};  // each list: at most 64 globs of 1 – 256 bytes
  int64_t bytes = int64_t{100} << 20;                 // of one call; 0 – 1 TiB
  int64_t file_bytes = int64_t{100} << 20;            // of one file; 0 – 1 TiB
  int64_t files = 100;                                // of one call; 0 – 100,000
  int64_t full_output_bytes = 0;                      // of a stream over limits.output, kept whole up to this much; 0 – 1 TiB, 0: not kept
  int depth = 16;                                     // folders below /workspace; 1 – 64

  friend bool operator==(const ArtifactLimits&, const ArtifactLimits&) = default;
};

struct SessionLimits {
  absl::Duration idle = absl::Minutes(20);            // 1 s – 30 days, at most life
  absl::Duration life = absl::Hours(24);              // 1 s – 30 days
  int64_t queue = 16;                                 // calls waiting behind the running one; 0 – 1000

  friend bool operator==(const SessionLimits&, const SessionLimits&) = default;
};

// A folder or file of the host shown to the session, read-only.
struct ReadOnlyMount {
  std::string source;                                 // absolute path on the host; not /, /proc, /sys, /dev, /run or below them
  std::string target;                                 // absolute path inside; not /, nor at, above or below a place that the jail itself
                                                      // fills (policy/rules.cc lists them), nor at or below another mount's target

  friend bool operator==(const ReadOnlyMount&, const ReadOnlyMount&) = default;
};

struct Languages {
  bool python = true;
  bool bash = true;                                   // needs subprocesses
  bool subprocesses = true;                           // execve from Python

  friend bool operator==(const Languages&, const Languages&) = default;
};

struct PythonSettings {
  std::string environment = "full";                   // name of a Python environment known to the host
  std::vector<std::string> preload = {"numpy", "pandas", "matplotlib.pyplot", "IPython"};  // each on the reviewed list; at most 64
  int table_width = 240;                              // characters a printed data frame may take; 80 – 10,000
  int table_columns = 100;                            // columns shown of a data frame; 5 – 1,000
  int figure_dpi = 100;                               // of captured PNGs; 30 – 600
  bool figure_svg = false;                            // capture SVG beside PNG

  friend bool operator==(const PythonSettings&, const PythonSettings&) = default;
};

struct Determinism {
  std::optional<uint64_t> seed;                       // seeds random and NumPy; none: fresh entropy each session
  bool fixed_hash_seed = false;                       // PYTHONHASHSEED=0, by a zygote of its own
  std::string time_zone = "UTC";
  std::string locale = "C.UTF-8";

  friend bool operator==(const Determinism&, const Determinism&) = default;
};

struct Isolation {
  Requirement user_namespace = Requirement::kRequired;
  Requirement pid_namespace = Requirement::kRequired;
  Requirement mount_namespace = Requirement::kRequired;
  Requirement network_namespace = Requirement::kRequired;
  Requirement ipc_namespace = Requirement::kRequired;
  Requirement uts_namespace = Requirement::kRequired;
  Requirement capabilities_dropped = Requirement::kRequired;
  Requirement no_new_privileges = Requirement::kRequired;  // not off while landlock or seccomp is on: they need it
  Requirement landlock = Requirement::kPreferred;
  Requirement seccomp = Requirement::kRequired;
  Requirement cgroup = Requirement::kPreferred;       // memory, processes and CPU counted by the kernel
  MemoryRequirement memory = MemoryRequirement::kWatched;  // the least that will do; kEnforced needs cgroup on
  std::vector<std::string> extra_syscalls;            // added to the base list, never instead of it; at most 64

  friend bool operator==(const Isolation&, const Isolation&) = default;
};

struct Root {
  std::string directory;                              // empty: read-only binds of the host's /usr; else an unpacked root folder
  std::vector<ReadOnlyMount> mounts;                  // at most 32

  friend bool operator==(const Root&, const Root&) = default;
};

// What a rule lets through. Any: on port 80 HTTP alone, on 443 TLS alone; elsewhere what begins as TLS or as HTTP is held to the
// host's name, and other bytes pass.
enum class NetworkProtocol { kAny, kHttp, kTls };

// A place that code may reach. Where methods or paths are given for TLS, the proxy ends it with a certificate that the session
// alone trusts, to see the requests.
struct NetworkRule {
  std::string host;                                   // "api.example.com", or "*.example.com": every name below it, not itself; lower case, A-labels
  std::vector<int64_t> ports = {80, 443};             // 1 – 65535, at most 16; the ports of a policy together at most 32
  NetworkProtocol protocol = NetworkProtocol::kAny;
  std::vector<std::string> methods;                   // "GET", …; empty: any but TRACE, TRACK and CONNECT; at most 16
  std::vector<std::string> paths;                     // prefixes at a "/"; empty: any; at most 32 of 1 – 1,024 bytes, each starting with "/"
  std::vector<std::string> addresses;                 // "10.0.0.7": fixed, no DNS is asked; "10.0.0.0/8": where the name may lead besides public
                                                      // addresses; at most 16; never link-local, multicast or unspecified ones
  std::string authorities;                            // host path of a PEM file: who signs the host's certificate; empty: the system's

  friend bool operator==(const NetworkRule&, const NetworkRule&) = default;
};

// A value that code can use and never read: the proxy puts it into requests to one host. Its host and port must be allowed by a rule.
struct NetworkSecret {
  std::string name;                                   // the variable that holds a placeholder inside; unique
  std::string host;                                   // exact
  int64_t port = 443;
  std::string header;                                 // either this: a header's name
  std::string query;                                  // or this: a query parameter's name
  std::string format = "{secret}";                    // the header's or parameter's value, such as "Bearer {secret}"
  std::string source;                                 // "file:/path" (mode 600 or 400), "env:NAME" of the supervisor, "credential:NAME" (systemd)

  friend bool operator==(const NetworkSecret&, const NetworkSecret&) = default;
};

struct PackageIndex {
  std::string url;                                    // "https://host/simple/"; empty: packages cannot be installed
  std::vector<std::string> hosts;                     // further hosts that its links lead to, as in rules; at most 16
  std::vector<std::string> addresses;                 // as in a rule, for all of these
  std::string authorities;                            // as in a rule

  friend bool operator==(const PackageIndex&, const PackageIndex&) = default;
};

// Off when nothing is allowed: then a session has a network namespace with nothing in it.
struct Network {
  std::vector<NetworkRule> allow;                     // one that fits is enough; at most 64
  std::vector<NetworkSecret> secrets;                 // at most 16
  PackageIndex packages;
  int64_t call_bytes = int64_t{1} << 30;              // both ways, of one call; 1 KiB – 1 TiB
  std::optional<int64_t> rate_bytes;                  // a second, both ways, of the session; 1 KiB – 16 GiB; none: unlimited
  int64_t connections = 64;                           // at once; 1 – 1,024
  int64_t requests = 10'000;                          // connections, requests and lookups of one call; 1 – 1,000,000
  absl::Duration idle = absl::Minutes(5);             // of a connection without a byte; 1 s – 1 h

  bool is_on() const { return !allow.empty() || !packages.url.empty(); }
  friend bool operator==(const Network&, const Network&) = default;
};

struct Policy {
  std::string name = "default";
  Limits limits;
  SessionLimits session;
  ArtifactLimits artifacts;
  Root files;
  Languages languages;
  PythonSettings python;
  Determinism determinism;
  Isolation isolation;
  Network network;
  bool keep_processes = false;                        // let processes outlive the call that started them
  std::vector<std::pair<std::string, std::string>> environment;  // variables set for user code; at most 128, 64 KiB together
  std::vector<std::string> redact;                    // replaced by *** in output, results, errors (docs/threat-model.md: where not); at most 64 of 4 – 4,096 bytes

  friend bool operator==(const Policy&, const Policy&) = default;
};

// Reads a policy file and the chain of files it extends. `name_or_path`: a path (contains '/' or ends in .yaml), or the name of a
// shipped policy, looked up in `policy_directory`. Errors: kInvalidArgument "file:line:column: key: what is wrong; what to write",
// kNotFound, or kResourceExhausted for a file over 256 KiB, deeper than 16 levels or with more than 10,000 nodes. Thread-safe.
absl::StatusOr<Policy> LoadPolicy(absl::string_view name_or_path, absl::string_view policy_directory);

// Checks ranges and combinations of a policy built by hand, the same as LoadPolicy does. kInvalidArgument "key: what is wrong".
absl::Status ValidatePolicy(const Policy& policy);

}  // namespace cellblock

#endif  // CELLBLOCK_POLICY_H_
