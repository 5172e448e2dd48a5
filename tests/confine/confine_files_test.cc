// What Landlock keeps a locked process from: files outside its paths, writes to read-only ones, abstract sockets and processes
// outside, TCP. Most tests run under Landlock alone, so that no other layer can be the one that refuses.
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <thread>

#include "confine/landlock.h"
#include "confine/landlock_abi.h"
#include "confine/proof.h"
#include "tests/confine/confine_fixture.h"

namespace cellblock::confine {
namespace {

class LandlockTest : public ConfineTest {
 protected:
  void SetUp() override {
    ConfineTest::SetUp();
    if (!IsSkipped() && LandlockAbi() == 0) GTEST_SKIP() << "missing: Landlock in this kernel";
  }
};

// Every way to change a folder's contents; each gives 0 where it is allowed. The folder holds the files "file", "moved" and
// "sub/linked", and the folder "empty".
struct Change {
  const char* name;
  int (*run)(const std::string& folder);
  int abi = 1;  // refused from this ABI on
};
const Change kChanges[] = {
    {"write", [](const std::string& f) { return OpenErrno(f + "/file", O_WRONLY); }},
    {"append", [](const std::string& f) { return OpenErrno(f + "/file", O_RDWR | O_APPEND); }},
    {"create", [](const std::string& f) { return OpenErrno(f + "/new", O_WRONLY | O_CREAT | O_EXCL); }},
    {"make_folder", [](const std::string& f) { return ErrnoOf(mkdir((f + "/folder").c_str(), 0700)); }},
    {"make_symlink", [](const std::string& f) { return ErrnoOf(symlink("/", (f + "/link").c_str())); }},
    {"make_fifo", [](const std::string& f) { return ErrnoOf(mkfifo((f + "/fifo").c_str(), 0600)); }},
    {"rename", [](const std::string& f) { return ErrnoOf(rename((f + "/file").c_str(), (f + "/renamed").c_str())); }},
    {"rename_across", [](const std::string& f) { return ErrnoOf(rename((f + "/moved").c_str(), (f + "/sub/moved").c_str())); }},
    {"link_across", [](const std::string& f) { return ErrnoOf(link((f + "/sub/linked").c_str(), (f + "/linked").c_str())); }},
    {"truncate", [](const std::string& f) { return ErrnoOf(truncate((f + "/sub/linked").c_str(), 1)); }, 3},
    {"remove", [](const std::string& f) { return ErrnoOf(unlink((f + "/sub/linked").c_str())); }},
    {"remove_folder", [](const std::string& f) { return ErrnoOf(rmdir((f + "/empty").c_str())); }},
};

TEST_P(LandlockTest, ChangesOnlyWhatIsWritable) {
  for (const char* folder : {"fixed", "outside", "own"}) {
    std::filesystem::create_directories(Path(folder) + "/empty");
    std::filesystem::create_directories(Path(folder) + "/sub");
    for (const char* file : {"/moved", "/sub/linked"}) std::ofstream(Path(folder) + file) << "contents";
    for (const char* name : {"/moved", "/sub/linked", "/sub", "/empty"}) chmod((Path(folder) + name).c_str(), 0777);
  }
  auto change_all = [](const std::string& folder, bool refused) {
    for (const Change& change : kChanges) {
      if (refused && change.abi > LandlockAbi()) continue;
      const int error = change.run(folder);
      if (refused) {
        EXPECT_TRUE(error == EACCES || error == EXDEV) << change.name << " gave " << strerror(error);
      } else {
        EXPECT_EQ(error, 0) << change.name << ": " << strerror(error);
      }
    }
  };
  EXPECT_THAT(RunLocked(LandlockOnly(), [&] { change_all(Path("fixed"), true); }), Passes());
  EXPECT_THAT(RunLocked(LandlockOnly(), [&] { change_all(Path("outside"), true); }), Passes());
  EXPECT_THAT(RunLocked(LandlockOnly(), [&] { change_all(Path("own"), false); }), Passes());
  EXPECT_THAT(RunFree([&] { change_all(Path("fixed"), false); }), Passes());
}

TEST_P(LandlockTest, ReadsOnlyWhatIsNamed) {
  auto expect_readable = [this](bool outside) {
    EXPECT_EQ(OpenErrno(Path("fixed/file"), O_RDONLY), 0);
    EXPECT_EQ(OpenErrno(Path("fixed"), O_RDONLY | O_DIRECTORY), 0);
    EXPECT_EQ(OpenErrno(Path("own/file"), O_RDONLY), 0);
    EXPECT_EQ(OpenErrno("/dev/null", O_RDWR), 0);
    const int expected = outside ? 0 : EACCES;
    EXPECT_EQ(OpenErrno(Path("outside/file"), O_RDONLY), expected);
    EXPECT_EQ(OpenErrno(Path("outside"), O_RDONLY | O_DIRECTORY), expected);
    EXPECT_EQ(OpenErrno(Path("own/../outside/file"), O_RDONLY), expected);
    EXPECT_EQ(OpenErrno("/", O_RDONLY | O_DIRECTORY), expected);
    EXPECT_EQ(OpenErrno("/proc/self/root" + Path("outside/file"), O_RDONLY), expected);
  };
  EXPECT_THAT(RunFree([&] { expect_readable(true); }), Passes());
  EXPECT_THAT(RunLocked(LandlockOnly(), [&] { expect_readable(false); }), Passes());
  EXPECT_THAT(RunLocked(FullSpec(), [&] { expect_readable(false); }), Passes());
  Spec off = FullSpec();
  off.landlock = Requirement::kOff;
  EXPECT_THAT(RunLocked(off, [&] { expect_readable(true); }), Passes());
}

TEST_P(LandlockTest, FollowsNoLinkOut) {
  ASSERT_EQ(symlink(Path("outside/file").c_str(), Path("own/way_out").c_str()), 0);
  ASSERT_EQ(link(Path("outside/file").c_str(), Path("fixed/hard").c_str()), 0);
  EXPECT_THAT(RunFree([this] { EXPECT_EQ(OpenErrno(Path("own/way_out"), O_RDONLY), 0); }), Passes());
  EXPECT_THAT(RunLocked(LandlockOnly(),
                        [this] {
                          EXPECT_EQ(OpenErrno(Path("own/way_out"), O_RDONLY), EACCES);
                          EXPECT_EQ(OpenErrno(Path("fixed/hard"), O_RDONLY), 0) << "a name inside counts, whatever other names a file has";
                        }),
              Passes());
}

TEST_P(LandlockTest, RunsOnlyWhatIsNamed) {
  const std::string program = Path("outside/true"), copy = Path("own/true");
  std::filesystem::copy_file("/usr/bin/true", program);
  std::filesystem::copy_file("/usr/bin/true", copy);
  auto run = [](const std::string& path) {
    return [&path] {
      execl(path.c_str(), "true", nullptr);
      _exit(errno);
    };
  };
  EXPECT_THAT(RunFree(run(program)), ExitsWith(0));
  EXPECT_THAT(RunLocked(LandlockOnly(), run(program)), ExitsWith(EACCES));
  EXPECT_THAT(RunLocked(LandlockOnly(), run(copy)), ExitsWith(0));
}

TEST_P(LandlockTest, NeverLetsDeviceNodesBeMade) {
  auto make = [this](int expected) {
    return [this, expected] { EXPECT_EQ(ErrnoOf(mknod(Path("own/node").c_str(), S_IFCHR | 0600, makedev(0, 0))), expected); };
  };
  EXPECT_THAT(RunLocked(LandlockOnly(), make(EACCES)), Passes());
  EXPECT_THAT(RunFree(make(0)), Passes());
}

TEST_P(LandlockTest, TakesASingleFileAsAPath) {
  Spec spec = LandlockOnly();
  spec.writable_paths = {Path("outside/file")};
  EXPECT_THAT(RunLocked(spec,
                        [this] {
                          EXPECT_EQ(OpenErrno(Path("outside/file"), O_RDWR), 0);
                          EXPECT_EQ(OpenErrno(Path("outside"), O_RDONLY | O_DIRECTORY), EACCES);
                          EXPECT_EQ(OpenErrno(Path("outside/new"), O_WRONLY | O_CREAT), EACCES);
                        }),
              Passes());
}

TEST_P(LandlockTest, ListsTheRootWithoutReadingWhenAsked) {
  Spec spec = FullSpec();
  spec.listable_paths = {"/"};
  EXPECT_THAT(RunLocked(spec,
                        [this] {
                          EXPECT_EQ(OpenErrno("/", O_RDONLY | O_DIRECTORY), 0);
                          EXPECT_EQ(OpenErrno(Path("outside"), O_RDONLY | O_DIRECTORY), 0);
                          EXPECT_EQ(OpenErrno(Path("outside/file"), O_RDONLY), EACCES);
                        }),
              Passes());
  EXPECT_THAT(RunLocked(FullSpec(), [] { EXPECT_EQ(OpenErrno("/", O_RDONLY | O_DIRECTORY), EACCES); }), Passes());
}

TEST_P(LandlockTest, FailsOnPathsThatCannotHold) {
  auto expect_failure = [this](Spec spec, const char* step, int error, int detail) {
    EXPECT_THAT(RunFree([&] {
                  StepFailure failure;
                  EXPECT_EQ(FailingStep(spec, &failure), step);
                  EXPECT_EQ(failure.error, error) << strerror(failure.error);
                  EXPECT_EQ(failure.detail, detail);
                }),
                Passes());
  };
  for (Requirement requirement : {Requirement::kRequired, Requirement::kPreferred}) {
    Spec spec = LandlockOnly();
    spec.landlock = requirement;
    const int read_only = static_cast<int>(spec.read_only_paths.size());
    spec.writable_paths = {Path("own"), Path("missing")};
    expect_failure(spec, "landlock", ENOENT, read_only + 1);
    spec.writable_paths = {"/proc/self/root"};
    expect_failure(spec, "landlock", EINVAL, read_only);
    spec.writable_paths = {Path("own")};
    spec.read_only_paths.push_back("/");
    expect_failure(spec, "landlock", EINVAL, read_only);
    spec = LandlockOnly();
    spec.landlock = requirement;
    spec.listable_paths = {Path("own/file")};
    expect_failure(spec, "landlock", ENOTDIR, static_cast<int>(spec.read_only_paths.size() + spec.writable_paths.size()));
    spec = LandlockOnly();
    spec.landlock = requirement;
    spec.listable_paths = {"/"};
    spec.writable_paths = {"/dev/null"};
    expect_failure(spec, "landlock", ENOTDIR, -1);  // nothing left to prove the layer with
  }
}

TEST_P(LandlockTest, ProofFailsWhereNothingIsRefused) {
  EXPECT_THAT(RunFree([this] {
                Spec spec = LandlockOnly();
                EXPECT_EQ(CheckLandlockProbe(spec), 0);
                EXPECT_EQ(ProveLandlock(spec), kNotProven);
                spec.listable_paths = {"/"};
                EXPECT_EQ(CheckLandlockProbe(spec), 0);
                EXPECT_EQ(ProveLandlock(spec), kNotProven);
                EXPECT_FALSE(std::filesystem::exists(Path("own/.cellblock-landlock-probe"))) << "the probe cleans up";
              }),
              Passes());
}

// Older kernels know fewer rights; this one takes rulesets as they would make them.
TEST_P(LandlockTest, HoldsOnEveryAbiUpToThisKernels) {
  for (int abi = 1; abi <= LandlockAbi(); ++abi) {
    EXPECT_THAT(RunFree([this, abi] {
                  const Spec spec = LandlockOnly();
                  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
                  int path = -1;
                  ASSERT_EQ(RestrictByLandlock(spec, abi, &path), 0) << path;
                  EXPECT_EQ(ProveLandlock(spec), 0);
                  EXPECT_EQ(OpenErrno(Path("outside/file"), O_RDONLY), EACCES);
                  EXPECT_EQ(OpenErrno(Path("fixed/file"), O_WRONLY), EACCES);
                  EXPECT_EQ(OpenErrno(Path("own/file"), O_RDWR), 0);
                  EXPECT_EQ(ErrnoOf(truncate(Path("fixed/file").c_str(), 8)), abi >= 3 ? EACCES : 0);
                  EXPECT_EQ(ErrnoOf(rename(Path("own/file").c_str(), Path("own/sub/file").c_str())), abi >= 2 ? 0 : EXDEV);
                  EXPECT_EQ(ErrnoOf(rename(Path("own/sub/file").c_str(), Path("own/file").c_str())), abi >= 2 ? 0 : ENOENT);
                }),
                Passes())
        << "ABI " << abi;
  }
}

// ---- Network and scopes

int ConnectTo(in_port_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = port, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  return ErrnoOf(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)));
}

int BindTo(in_port_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = port, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  return ErrnoOf(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)));
}

TEST_P(LandlockTest, RefusesTcpUnlessInetIsAllowed) {
  if (LandlockAbi() < 4) GTEST_SKIP() << "missing: Landlock ABI 4 (Linux 6.7), which knows TCP";
  UniqueFd server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof(address);
  ASSERT_EQ(bind(server.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(server.get(), 8), 0);
  ASSERT_EQ(getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  auto both = [&](int expected) {
    return [&, expected] {
      EXPECT_EQ(ConnectTo(address.sin_port), expected);
      EXPECT_EQ(BindTo(0), expected);
    };
  };
  EXPECT_THAT(RunFree(both(0)), Passes());
  Spec spec = LandlockOnly();
  EXPECT_THAT(RunLocked(spec, both(EACCES)), Passes());
  spec.allow_inet = true;
  EXPECT_THAT(RunLocked(spec, both(0)), Passes());
}

sockaddr_un Abstract(const std::string& name, socklen_t* length) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
  *length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

UniqueFd ListenAbstract(const std::string& name) {
  socklen_t length;
  sockaddr_un address = Abstract(name, &length);
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(fd.get(), 8) != 0) fd.Reset();
  return fd;
}

int ConnectAbstract(const std::string& name) {
  socklen_t length;
  sockaddr_un address = Abstract(name, &length);
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ErrnoOf(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), length));
}

TEST_P(LandlockTest, ReachesAbstractSocketsOfItsOwnOnly) {
  if (LandlockAbi() < 6) GTEST_SKIP() << "missing: Landlock ABI 6 (Linux 6.12), which scopes abstract sockets";
  const std::string outside = absl::StrCat("cellblock-outside-", getpid()), inside = absl::StrCat("cellblock-inside-", getpid());
  UniqueFd server = ListenAbstract(outside);
  ASSERT_TRUE(server.valid());
  EXPECT_THAT(RunFree([&] { EXPECT_EQ(ConnectAbstract(outside), 0); }), Passes());
  for (const Spec& spec : {LandlockOnly(), FullSpec()}) {
    EXPECT_THAT(RunLocked(spec,
                          [&] {
                            EXPECT_EQ(ConnectAbstract(outside), EPERM);
                            UniqueFd own = ListenAbstract(inside);
                            EXPECT_EQ(ConnectAbstract(inside), 0);
                            const pid_t pid = fork();
                            if (pid == 0) _exit(ConnectAbstract(inside));
                            int status = -1;
                            waitpid(pid, &status, 0);
                            EXPECT_EQ(status, 0) << "a child reaches its parent's socket";
                          }),
                Passes());
  }
}

pid_t Sleeper() {
  const pid_t pid = fork();
  if (pid == 0) {
    pause();
    _exit(0);
  }
  return pid;
}

TEST_P(LandlockTest, SignalsProcessesOfItsOwnOnly) {
  if (LandlockAbi() < 6) GTEST_SKIP() << "missing: Landlock ABI 6 (Linux 6.12), which scopes signals";
  auto signal_outsider = [this](const Spec& spec, int expected) {
    return RunFree([&] {
      const pid_t outsider = Sleeper();  // the same ids, but not the domain
      Lock(spec);
      EXPECT_EQ(ErrnoOf(kill(outsider, SIGTERM)), expected);
    });
  };
  EXPECT_THAT(signal_outsider(BareSpec(), 0), Passes());
  EXPECT_THAT(signal_outsider(LandlockOnly(), EPERM), Passes());
}

// What the session itself needs: children, grandchildren, a group, its own threads.
TEST_P(LandlockTest, StillSignalsItsChildrenAndThreads) {
  EXPECT_THAT(RunLocked(FullSpec(),
                        [] {
                          const pid_t child = Sleeper();
                          EXPECT_EQ(ErrnoOf(kill(child, SIGTERM)), 0);
                          int status = 0;
                          EXPECT_EQ(waitpid(child, &status, 0), child);
                          EXPECT_EQ(WTERMSIG(status), SIGTERM);
                          const pid_t leader = fork();
                          if (leader == 0) {
                            setpgid(0, 0);
                            Sleeper();
                            pause();
                          }
                          setpgid(leader, leader);
                          EXPECT_EQ(ErrnoOf(kill(-leader, SIGKILL)), 0);
                          EXPECT_EQ(waitpid(leader, &status, 0), leader);
                          signal(SIGUSR1, [](int) {});
                          const pthread_t main_thread = pthread_self();
                          std::thread([main_thread] {
                            EXPECT_EQ(pthread_kill(main_thread, SIGUSR1), 0);
                            EXPECT_EQ(ErrnoOf(kill(getpid(), SIGUSR1)), 0);
                          }).join();
                        }),
              Passes());
}

CELLBLOCK_BOTH_ACTORS(LandlockTest);

}  // namespace
}  // namespace cellblock::confine
