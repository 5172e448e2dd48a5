#!/bin/sh
# `cellblock doctor --strict` where sessions can be had, and where the machine lacks what the default policy requires: here no user
# namespaces, there a /proc that is partly covered, as container run-times do, or a root that is none outside. $1: the program, $2: the Python environment.
set -u
program=$1
export CELLBLOCK_PYTHON_ENV="$2"
failures=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# expect <exit code> <what was done> <exit code there> <text>...
expect() {
  wanted=$1 what=$2 code=$3
  shift 3
  if [ "$code" != "$wanted" ]; then echo "$what: exit code $code, expected $wanted" >&2; failures=$((failures + 1)); fi
  for text in "$@"; do
    if ! grep -qF -- "$text" "$output"; then echo "$what: its output lacks \"$text\"" >&2; failures=$((failures + 1)); fi
  done
  if [ "$failures" != 0 ]; then cat "$output" >&2; fi
}

if ! unshare --user --map-root-user --mount true 2>/dev/null; then
  echo "missing: user namespaces for this user" >&2
  exit 77
fi

"$program" doctor --strict >"$output" 2>&1
expect 0 'as it is' $? 'was started and has answered' 'seccomp' "The policy 'default' can be kept"

unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" doctor --strict' "$program" >"$output" 2>&1
expect 4 'with max_user_namespaces 0' $? "The policy 'default' cannot be kept" 'isolation.user_namespace:' '→ set user.max_user_namespaces above 0'

# Root of the machine needs no user namespace for this, an ordinary user does.
[ "$(id -u)" = 0 ] && own="unshare --mount" || own="unshare --user --map-current-user --keep-caps --mount"
$own sh -c 'mount -t tmpfs none /proc/irq && exec "$0" doctor --strict --json' "$program" >"$output" 2>&1
expect 4 'with a covered /proc' $? '"satisfied":false' '"key":"nest"' 'systempaths=unconfined'

unshare --user --map-root-user "$program" doctor --strict >"$output" 2>&1
expect 4 "as a container's root without ids for sessions" $? "this root is one of a container's" '/etc/subuid'

exit $((failures > 0))
