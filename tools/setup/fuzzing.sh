# shellcheck shell=bash disable=SC2154
# Building and running the fuzz targets, for tools/test and tools/fuzz; sourced by them after steps.sh. Runs on the host as whoever
# called. Expects `root`, the clone's absolute path, and `results`; each target's log, corpus and findings are in results/fuzz/<target>.
# Targets are fuzz_<name>, made from tests/fuzz/<name>.cc, with <name>_seeds/ and perhaps <name>.dict beside it.

fuzz_targets=() fuzz_failed=() fuzz_summary=""

# Sets fuzz_targets.
build_fuzz() {
  step_configure fuzz || return 1
  mapfile -t fuzz_targets < <(cmake --build "$root/build/fuzz" --target help | sed -n 's/^\(fuzz_[A-Za-z0-9_]*\): phony$/\1/p' | sort -u)
  ((${#fuzz_targets[@]} > 0)) && step_build fuzz "${fuzz_targets[@]}"
}

# fuzz_target <target> <seconds>: writes its log, and `passed` beside it when nothing was found.
fuzz_target() {
  local name="${1#fuzz_}" out="$results/fuzz/$1" options
  rm -f -- "$out/passed"
  mkdir -p -- "$out/corpus"
  options=(-max_total_time="$2" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$out/")
  if [[ -f "$root/tests/fuzz/$name.dict" ]]; then options+=(-dict="$root/tests/fuzz/$name.dict"); fi
  options+=("$out/corpus")
  if [[ -d "$root/tests/fuzz/${name}_seeds" ]]; then options+=("$root/tests/fuzz/${name}_seeds"); fi
  if "$root/build/fuzz/fuzz/$1" "${options[@]}" </dev/null >"$out/log" 2>&1; then touch -- "$out/passed"; fi
}

# fuzz <seconds> <target>...: the seconds are of all together, at least three for each; as many at once as there are processors. Sets
# fuzz_failed and fuzz_summary.
fuzz() {
  local each=$(($1 / ($# - 1))) target running=() executions=0 units
  shift
  if ((each < 3)); then each=3; fi
  echo "$# targets, $each s each"
  for target in "$@"; do
    if ((${#running[@]} == $(nproc))); then wait "${running[0]}" || true; running=("${running[@]:1}"); fi
    fuzz_target "$target" "$each" &
    running+=("$!")
  done
  for target in "${running[@]}"; do wait "$target" || true; done
  fuzz_failed=()
  for target in "$@"; do
    if [[ ! -f "$results/fuzz/$target/passed" ]]; then fuzz_failed+=("$target"); fi
    units="$(sed -n 's/^stat::number_of_executed_units: *//p' "$results/fuzz/$target/log")"
    executions=$((executions + ${units:-0}))
  done
  fuzz_summary="$(($# - ${#fuzz_failed[@]})) passed, ${#fuzz_failed[@]} failed, 0 skipped; $executions executions${fuzz_failed[*]:+ (failed: ${fuzz_failed[*]}; inputs in build/results/fuzz)}"
}
