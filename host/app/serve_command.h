// `cellblock serve`: one machine as a code-execution service. Wires state, policies, journal, service and HTTP front; watches for
// signals. Supervisor.
#ifndef CELLBLOCK_APP_SERVE_COMMAND_H_
#define CELLBLOCK_APP_SERVE_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "app/context.h"
#include "base/log.h"

namespace cellblock::app {

struct ServeOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 8765;
  std::string unix_path;            // instead of TCP
  std::string state;                // folder; empty: the usual place
  std::string policies;             // folder; empty: the shipped ones
  std::string python_environment;   // folder for every policy; empty: found by the policy's name for it
  std::string tokens;               // YAML file; empty: one token, made and kept in the state folder
  bool no_token = false;
  std::string certificate, key;
  std::vector<std::string> hosts, origins;
  int64_t sessions_max = 256;
  int64_t calls_max = 1024;
  int64_t pool_max = 16;            // workers made ahead of sessions; 0: none
  int64_t spare_memory_bytes = -1;  // with less of the machine's left no session is made; below 0: a twentieth of all
  int64_t kept_bytes_max = int64_t{10} << 30;
  int64_t incoming_bytes_max = int64_t{32} << 30;
  absl::Duration kept_for = absl::Hours(7 * 24);
  absl::Duration drain = absl::Seconds(30);
  std::string audit;                // file; empty: audit.jsonl in the state folder; "-": standard error
  bool audit_code = false;
  std::string log;                  // of requests, as JSON lines: file or "-"; empty: none
  LogFormat log_format = LogFormat::kText;  // of the server's own lines on standard error
  bool metrics_open = false;        // GET /metrics asks for no token
};

// Until SIGTERM or SIGINT; then 0. 2: options, policies or tokens; 4: this machine or installation cannot serve.
int ServeCommand(const ServeOptions& options, const Context& context);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_SERVE_COMMAND_H_
