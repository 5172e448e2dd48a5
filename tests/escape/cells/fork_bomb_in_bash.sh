# claim: A fork bomb in bash meets the limit and ends with the call.
# policy: limits: {processes: 40}
# timeout: 4s
# status: error|timeout|ok|killed
# hit: processes
# twin: inside
# twin_stdout: done
bomb() { bomb | bomb & }
if [ "$1" = twin ]; then (true | true) & wait; echo done; else bomb; while :; do :; done; fi
