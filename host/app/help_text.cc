// See help_text.h.
#include "app/help_text.h"

namespace cellblock::app {

const char kMainHelp[] = R"(Runs Python that you don't trust, locked down by the kernel: no network, no file of yours but those you hand in.

Usage: cellblock COMMAND [OPTIONS]

Commands:
  run      run a script, a notebook or a line of code, and keep the files and charts that it makes
  repl     an interactive session
  serve    sessions over HTTP
  policy   check, print, compare or explain policy files: what a session may use
  doctor   which protections this machine gives, and how to turn on the others

Try:
  cellblock run -c '1 + 1'
  cellblock run report.py --file sales.csv --out out/     # sales.csv is in the script's working directory; charts land in out/
  cellblock run notebook.ipynb --file data/ --out out/
  cellblock doctor

'cellblock COMMAND --help' explains a command. 'cellblock --version' prints the version.

Exit codes:
  0    it went well
  1    the code failed: an exception, exit() with another code than 0, a bash script that ended non-zero
  2    wrong options, a source, file or policy that cannot be read, or code in a language that the policy turns off
  3    a limit ended it (time, memory, CPU), or it was killed. What code survives or could survive, as a MemoryError, is told and
       changes no exit code
  4    this machine or this installation could not run it, or what it made could not be saved or printed
  130  interrupted (Ctrl-C); 143 ended by SIGTERM, 129 by SIGHUP, 141 when the reader of the output went away
)";

const char kRunHelp[] = R"(Runs code in a session of its own and ends the session.

Usage: cellblock run [OPTIONS] SOURCE [-- ARGUMENT …]
       cellblock run [OPTIONS] -c CODE [-- ARGUMENT …]

SOURCE is a .py file (with '# %%' lines: one cell after the other), an .ipynb notebook, a .sh script for bash, or - for standard input.
Arguments behind -- become sys.argv[1:], in bash $1, $2, ….

What goes in and comes out:
  -c CODE               run this code
  --file SRC[:NAME]     copy a file or folder of yours to /workspace, the working directory; as NAME if given. May be repeated.
                        NAME/ puts a file into that folder; a folder's own name is kept, and with NAME . its files are put into
                        /workspace itself. A name with a colon is fine: the longest SRC that exists is taken.
                        Of a folder, links, special files and what cannot be read are left out, with a note.
  --out DIR             save the files that the code makes there, under their own names, and the charts as chart-1.png, …
                        Existing files are replaced, but for those that went in (SOURCE, --file): name-2.csv is written instead.
                        Symbolic links are never followed; hidden names are written with %2E for the dot.
  --save-notebook FILE  write the cells with their outputs as a notebook, whose name ends in .ipynb
  --json                print only the whole record of each cell as JSON, one a line

How it runs:
  --policy NAME|FILE    what the session may use; default: default. 'cellblock policy print NAME' shows one.
  --timeout DURATION    longest time of a cell: 30, 30s, 5min, 1h30m; replaces the policy's limits.wall
  --memory SIZE         most memory: 512MiB, 4GiB; replaces the policy's limits.memory. Files in /workspace lie in it, and get half at most
  --seed N              seeds random and NumPy, so that a run can be repeated
  --env NAME=VALUE      set an environment variable inside. May be repeated.
  --language LANGUAGE   python or bash; default: by the file's ending or its #! line
  --keep-going          run the cells after one that failed, too
  --python-env DIR      the Python environment; default: CELLBLOCK_PYTHON_ENV, else the one beside this program
  -q, --quiet           say nothing but what goes wrong

Output of the code goes to standard output and standard error as it comes; the value of a cell's last expression is printed like output.
Lines that start with 'cellblock:' are ours and go to standard error. On a terminal, control sequences in the code's output are shown
(^[) instead of obeyed; into a file or pipe it goes as it is. Ctrl-C interrupts the code, a second one
kills it.

Examples:
  cellblock run report.py --file sales.csv --out out/
  cellblock run clean.py --file 'raw 2024.csv:raw.csv' --out out/ -- --year 2024
  cat job.py | cellblock run - --timeout 10s
  cellblock run -c 'import sys; sys.version' --json | jq .receipt
  cellblock run notebook.ipynb --keep-going --policy strict

Exit codes: 'cellblock --help' lists them.
)";

const char kReplHelp[] = R"(An interactive session: type Python, see its value. Everything stays until you leave.

Usage: cellblock repl [OPTIONS]

  --file SRC[:NAME]     copy a file or folder of yours to /workspace first. May be repeated.
  --out DIR             save files and charts there as they are made
  --policy NAME|FILE    what the session may use; default: default
  --timeout DURATION    longest time of a cell; replaces the policy's limits.wall
  --memory SIZE         most memory; replaces the policy's limits.memory
  --seed N              seeds random and NumPy
  --env NAME=VALUE      set an environment variable inside. May be repeated.
  --python-env DIR      the Python environment
  --no-history          neither read nor write the history ($XDG_STATE_HOME/cellblock/history, mode 0600)
  -q, --quiet           say nothing but what goes wrong

Ctrl-C interrupts the running cell and keeps the session; Ctrl-D, exit or quit ends it. ':help' lists the commands for files, limits and restart.
When standard input is no terminal, cells are separated by empty lines: an empty line inside an indented block does not end the cell if an
indented line follows. The exit code is then that of the first cell that did not end well.
)";

const char kServeHelp[] = R"(Serves sessions over HTTP: state that lives on between calls, files in and out, records that outlive the server.

Usage: cellblock serve [OPTIONS]

Where:
  --listen [ADDRESS:]PORT  default: 127.0.0.1:8765; port 0: any that is free. Beyond this machine only with tokens
  --unix PATH           a unix socket instead
  --tls-cert FILE, --tls-key FILE  PEM files; with both, TLS
  --host NAME           a name that clients call this server by, beside its address. May be repeated.
  --origin URL          a web page's origin that may call it. May be repeated.

Who and what:
  --tokens FILE         YAML: tokens: [{name, sha256, policies, sessions, calls, wall, memory, shared_bytes, metrics}]; without it, one token is made
                        and kept in the state folder, and printed
  --no-token            whoever reaches the address may run code; this machine or a unix socket only
  --policies DIR        the folder of policies that sessions may have; read again on SIGHUP
  --python-env DIR      the Python environment
  --sessions N          live sessions at most; default: 256
  --calls N             calls that run or wait at most; default: 1024
  --pool N              workers made ahead of sessions at most, as many as the demand asks for; default: 16; 0: none
  --spare-memory SIZE   with less of the machine's memory left no session is made; default: a twentieth of it; 0: not looked at
  --incoming-bytes SIZE  of all uploads on their way together, on the disk until each is answered; default: 32GiB

What it keeps:
  --state DIR           default: /var/lib/cellblock for root, else ~/.local/state/cellblock/server
  --keep-bytes SIZE     of files that calls made, and of shared files, which may take half; default: 10GiB. Those of the oldest ended
                        sessions go first
  --keep-for DURATION   ended sessions with their records and files; default: 7d
  --audit FILE          who ran what and what was refused, as JSON lines; default: audit.jsonl in the state folder; - is standard error
  --audit-code          with the text of the code, not only its hash
  --log FILE            every request as a JSON line; - is standard error; default: none
  --log-format FORMAT   of the server's own lines on standard error: text (default) or json
  --metrics-open        GET /metrics asks for no token; else it takes one with metrics: yes or only

  --drain DURATION      what running calls have to end when the server is stopped; default: 30s

SIGTERM or Ctrl-C stops it: running calls may end, then sessions are closed. A second one stops it at once. SIGHUP reads the policies again.
GET /v1/openapi.json describes the API; docs/http-api.md tells how to use it.
)";

const char kPolicyHelp[] = R"(Policies say what a session may use: limits, languages, files, layers of isolation.

Usage: cellblock policy check POLICY …
       cellblock policy print POLICY
       cellblock policy diff POLICY POLICY
       cellblock policy explain POLICY URL … [--method METHOD]

POLICY is the name of a shipped policy (default, strict, data-analysis, charts, notebook; reference: every key with its default) or a
YAML file.

  check   read them and say what is wrong, with line and column. Exit code 0 when all are well, else 1.
  print   the effective policy: every key with its value
  diff    the keys in which two policies differ. Exit code 0 when in none, 1 when in some.
  explain what the network rules say to a URL (https://host/path, http://host/path, host:port), and which rule it is; no traffic. Exit
          code 0 when all are allowed, 1 when one is refused. --method: of the request, GET unless given.

policies/reference.yaml shows every key with its default, its unit and the reason for it.
)";

const char kDoctorHelp[] = R"(Looks at this machine: which layers of protection it gives, and how to turn on those it does not.

Usage: cellblock doctor [--policy NAME|FILE] [--strict] [--bench] [--python-env DIR] [--json]

  --policy NAME|FILE    the policy that must be kept; default: default
  --strict              also start a session under that policy and ask it, since layers that work one by one may not work together
  --bench               also measure what a session under that policy costs here, step by step
  --python-env DIR      the Python environment
  --json                as JSON

Exit code 0 when the policy can be kept here, 4 when not: the end says which of its requirements fails, why, and how to get it. 2 when
the policy cannot be read.
)";

}  // namespace cellblock::app
