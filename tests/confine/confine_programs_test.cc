// Ordinary programs, each run free and locked over the same files: output and exit status must be the same. What a filter or a path
// rule breaks by accident shows here.
#include <sys/wait.h>

#include "tests/confine/confine_fixture.h"

namespace cellblock::confine {
namespace {

struct Program {
  const char* name;
  const char* script;  // for bash -ec, in the writable folder
};

const Program kPrograms[] = {
    {"pipeline", "seq 1 20000 | grep -v 7 | sed 's/^/x/' | sort -r | uniq | awk '{n+=length($1)} END {print n, NR}'"},
    {"process_substitution", "diff <(seq 1 5) <(seq 1 6) || echo differs; cat <<< here | tr a-z A-Z"},
    {"jobs", "for i in 1 2 3 4; do (sleep 0.0$i; echo $i >> out) & done; wait; sort out; kill -0 $$ && echo alive"},
    {"trap_and_kill", "trap 'echo caught' USR1; kill -USR1 $$; sleep 9 & kill %1; wait %1 2>/dev/null || echo $?"},
    {"timeout", "timeout 0.05 sleep 9 || echo $?; timeout 9 true && echo ok"},
    {"tar", "mkdir -p t/a/b && seq 9 > t/a/b/f && ln -s f t/a/b/l && chmod 640 t/a/b/f && tar czf t.tgz t && rm -r t && tar xzpf t.tgz && stat -c %a t/a/b/f && cat t/a/b/l"},
    {"zip_tools", "seq 99 > z && gzip -k z && bzip2 -k z && xz -k z && for s in gz bz2 xz; do case $s in gz) zcat z.gz;; bz2) bzcat z.bz2;; xz) xzcat z.xz;; esac; done | md5sum"},
    {"find", "mkdir -p d/e && touch d/1 d/e/2 && find d -type f -newermt 2000-01-01 -exec sh -c 'echo \"$1\"' _ {} \\; | sort && find d -delete && ls"},
    {"xargs", "seq 1 50 | xargs -P 4 -n 5 sh -c 'echo $#' _ | sort | uniq -c | awk '{print $1, $2}'"},
    {"copy_preserving", "seq 9 > src && touch -d 2001-02-03 src && cp -p src dst && cp -a src arc && install -m 600 src ins && mv dst mvd && stat -c '%n %a %Y' src arc mvd && stat -c '%n %a' ins"},
    {"permissions", "touch p && chmod 600 p && umask 027 && touch q && stat -c %a p q && ln p r && stat -c %h p && mkfifo f && (echo through > f &) && cat f"},
    {"text_tools", "printf 'b,2\\na,1\\n' > c && sort -t, -k2 c && cut -d, -f1 c | paste -sd+ && join -t, <(sort c) <(sort c) && wc -l < c && tail -n1 c | rev && od -c c | head -1 && split -l1 c part && ls part*"},
    {"parallel_sort", "seq 200000 | shuf --random-source=<(yes) | sort -n --parallel=4 -S 1M | md5sum"},
    {"sqlite", "command -v sqlite3 >/dev/null || exit 0; sqlite3 a.db 'pragma journal_mode=wal; create table t(x); insert into t values(1),(2); select sum(x) from t;'"},
    {"jq", "command -v jq >/dev/null || exit 0; echo '{\"a\":[1,2,3]}' | jq -c '.a|map(.*2)'"},
    {"perl", "perl -e 'my $p = fork; if (!$p) { exit 3 } waitpid $p, 0; print $? >> 8, \"\\n\"; print join(\",\", sort { $a <=> $b } map { $_ * 2 } 1..5), \"\\n\"'"},
    {"ids", "id -u; id -g; test -w . && echo writable; test -w /etc || echo not"},
    {"clock", "date -u -d @0 +%FT%T; date +%s > now; test -s now && echo ok; sleep 0.01; nproc >/dev/null && echo n"},
};

class ProgramsTestBase : public ConfineFixture {
 protected:
  using ConfineFixture::ConfineFixture;

  void ExpectTheSame(std::vector<std::string> command) {
    const ChildEnd free = Execute(command, nullptr);
    Spec spec = FullSpec();
    if (shared_memory_) spec.writable_paths.push_back("/dev/shm");
    const ChildEnd locked = Execute(command, &spec);
    EXPECT_TRUE(WIFEXITED(free.wait_status) && WEXITSTATUS(free.wait_status) == 0) << ::testing::PrintToString(free);
    EXPECT_NE(free.output, "");
    EXPECT_EQ(locked.output, free.output);
    EXPECT_EQ(locked.wait_status, free.wait_status);
  }

  bool shared_memory_ = false;

 private:
  ChildEnd Execute(const std::vector<std::string>& command, const Spec* spec) {
    const std::string folder = Path(spec == nullptr ? "own/free" : "own/locked");
    std::filesystem::create_directory(folder);
    chmod(folder.c_str(), 0777);
    return RunFree([&] {
      // Free, it runs with the ids of the locked one, so that only the layers differ.
      Spec used = spec != nullptr ? *spec : BareSpec();
      used.uid = used.gid = kInsideId;
      Lock(used);
      EXPECT_EQ(chdir(folder.c_str()), 0);
      const char* const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=.", "TMPDIR=.", nullptr};
      std::vector<char*> arguments;
      for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
      arguments.push_back(nullptr);
      execve(arguments[0], arguments.data(), const_cast<char* const*>(environment));
      _exit(127);
    });
  }
};

class ProgramsTest : public ProgramsTestBase, public ::testing::WithParamInterface<std::tuple<Actor, Program>> {
 protected:
  ProgramsTest() : ProgramsTestBase(std::get<0>(GetParam())) {}
};

// The script is copied, since the ordinary user may not be able to reach the source tree.
class PythonTest : public ProgramsTestBase, public ::testing::WithParamInterface<Actor> {
 protected:
  PythonTest() : ProgramsTestBase(GetParam()) {}
};

TEST_P(PythonTest, DoesTheSameLockedAsFree) {
  std::filesystem::copy_file(CELLBLOCK_PYTHON_WORKLOAD, Path("fixed/workload.py"));
  shared_memory_ = true;  // multiprocessing's semaphores
  ExpectTheSame({CELLBLOCK_PYTHON, "-B", Path("fixed/workload.py")});
}
CELLBLOCK_BOTH_ACTORS(PythonTest);

TEST_P(ProgramsTest, DoesTheSameLockedAsFree) { ExpectTheSame({"/bin/bash", "-ec", std::get<1>(GetParam()).script}); }

std::string ProgramName(const ::testing::TestParamInfo<std::tuple<Actor, Program>>& info) {
  return absl::StrCat(std::get<1>(info.param).name, "_", ActorName(std::get<0>(info.param)));
}
INSTANTIATE_TEST_SUITE_P(Confine, ProgramsTest,
                         ::testing::Combine(::testing::Values(Actor::kRoot, Actor::kUser), ::testing::ValuesIn(kPrograms)), ProgramName);

}  // namespace
}  // namespace cellblock::confine
