# shellcheck shell=bash disable=SC2154
# The set-up steps that tools/cellblock and tools/test share; sourced by them, run on the host as whoever called. Expects `root`, the
# clone's absolute path. Everything that is shown goes to stderr: stdout belongs to the program that is started in the end.

say() { printf '%s: %s\n' "${program:-cellblock}" "$*" >&2; }

# In a clone that belongs to somebody else root builds as that user, or the owner could never build again.
as_owner=()
choose_builder() {
  local owner group home
  ((EUID == 0)) || return 0
  read -r owner group < <(stat -c '%u %g' -- "$root")
  [[ "$owner" != 0 ]] || return 0
  home="$(getent passwd "$owner" | cut -d: -f6 || true)"
  local command=(setpriv --reuid "$owner" --regid "$group" --clear-groups env "HOME=${home:-/nonexistent}")
  # In some containers root may not become another user; then it builds as root.
  if "${command[@]}" test -w "$root" 2>/dev/null; then as_owner=("${command[@]}"); fi
}

# Without a home of its own, a user's compiler cache lies in the clone.
choose_caches() {
  # shellcheck disable=SC2016  # HOME is the builder's, not ours
  if [[ -z "${CCACHE_DIR:-}" ]] && ! "${as_owner[@]}" sh -c 'test -w "$HOME"' 2>/dev/null; then
    export CCACHE_DIR="$root/build/.ccache"
  fi
}

# As many compilers as there are processors, but no more than memory allows: one takes up to a GiB.
build_jobs() {
  local jobs memory
  jobs="$(nproc)"
  memory="$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)"
  if ((memory < jobs)); then jobs=$((memory > 0 ? memory : 1)); fi
  echo "${CMAKE_BUILD_PARALLEL_LEVEL:-$jobs}"
}

# step_packages <group>...: sudo asks at the terminal, never in the data that the caller may pipe in.
step_packages() {
  local input=/dev/null
  if [[ -t 2 ]] && : 2>/dev/null </dev/tty; then input=/dev/tty; fi
  "$root/tools/setup/install-packages" "$@" <"$input" >&2
}

# step_configure <preset> [cmake arguments]: only when the presets changed, or the clone was moved; ninja sees to the rest.
step_configure() {
  local preset="$1" build="$root/build/$1" fresh=() home; shift
  local wanted
  wanted="$(cat -- "$root/CMakePresets.json" | sha256sum | cut -d' ' -f1) $root $*"
  if [[ -f "$build/build.ninja" && -f "$build/.configured" && "$(<"$build/.configured")" == "$wanted" ]]; then
    say "  configured already"
    return 0
  fi
  if [[ -f "$build/CMakeCache.txt" ]]; then
    home="$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")"
    if [[ "$home" != "$root" ]]; then fresh=(--fresh); fi
  fi
  "${as_owner[@]}" rm -f -- "$build/.configured"
  "${as_owner[@]}" cmake -S "$root" --preset "$preset" "${fresh[@]}" "$@" </dev/null >&2 || return 1
  printf '%s' "$wanted" | "${as_owner[@]}" tee -- "$build/.configured" >/dev/null
}

# step_build <preset> [target]...
step_build() {
  local preset="$1" targets=(); shift
  if (($#)); then targets=(--target "$@"); fi
  "${as_owner[@]}" cmake --build "$root/build/$preset" --parallel "$(build_jobs)" "${targets[@]}" </dev/null >&2
}

# step_python_env <set>
step_python_env() {
  "${as_owner[@]}" "$root/tools/setup/build-python-env" --set "$1" </dev/null >&2
}
