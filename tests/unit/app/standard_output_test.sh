#!/bin/sh
# What the program says and returns when its standard output is closed, full or read no more. $1: the program. Needs no jail.
set -u
failures=0

# expect <exit code> <text on standard error, or nothing> <what was done> <exit code there> <standard error there>
expect() {
  if [ "$4" != "$1" ] || [ "$5" != "$2" ]; then
    echo "$3: exit code $4 with \"$5\"; expected $1 with \"$2\"" >&2
    failures=$((failures + 1))
  fi
}

for command in --version --help 'policy print default' "run -c print(1)"; do
  error=$("$1" $command 2>&1 >&-)
  expect 4 'cellblock: standard output is closed; send it to a file, or to /dev/null if it is not wanted' "$command >&-" $? "$error"
  "$1" $command >&- 2>&-
  expect 4 '' "$command >&- 2>&-" $? ''
done
for command in --version --help 'policy print default'; do
  error=$("$1" $command 2>&1 >/dev/full)
  expect 4 'cellblock: standard output could not be written: No space left on device' "$command >/dev/full" $? "$error"
  error=$("$1" $command 2>&1 >/dev/null)
  expect 0 '' "$command >/dev/null" $? "$error"
done
exit $((failures > 0))
