#!/usr/bin/env bash
# Usage: consumer_test.sh BUILD_TREE CONSUMER_SOURCE CMAKE CXX. Installs, builds the consumer against the installed package, runs it.
set -euo pipefail
build=$1 source=$2 cmake=$3 cxx=$4
[[ -w $build ]] || { echo "skipped: the build folder is another user's, and cmake --install writes a list into it"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
environment=${CELLBLOCK_PYTHON_ENV:-$CELLBLOCK_DEFAULT_PYTHON_ENV}

"$cmake" --install "$build" --prefix "$work/prefix" >"$work/install.log"
chmod -R a+rX "$work"
"$cmake" -S "$source" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Release >"$work/configure.log"
"$cmake" --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
printf 'a,b\n1,2\n3,4\n5,6\n' >"$work/data.csv"
output=$("$work/build/consumer" "$environment" "$work/data.csv")
printf '%s\n' "$output"
grep -qx 'status: ok' <<<"$output"
grep -qx 'text/plain: 3' <<<"$output"
grep -qE '^image/png: [0-9]{4,} bytes$' <<<"$output"
