// cellblock-init: a small static program, PID 1 of the nest and (by fork, without another exec) of every jail. Started by the
// supervisor alone, with the control socket as descriptor 3; trusts what comes over it.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/unique_fd.h"
#include "jail/broom.h"
#include "jail/nest.h"
#include "sys/process.h"

int main(int argc, char** argv) {
  constexpr int kControl = 3;
  struct stat info;
  if (argc < 2 || fstat(kControl, &info) != 0 || !S_ISSOCK(info.st_mode)) {
    std::fprintf(stderr, "cellblock-init is started by cellblock and does nothing by itself.\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  umask(022);
  cellblock::sys::RaiseOpenFilesLimit();  // zygotes and jails' inits inherit it
  if (std::strcmp(argv[1], "broom") == 0) cellblock::jail::RunBroom(cellblock::UniqueFd(kControl));
  cellblock::jail::RunNest(cellblock::UniqueFd(kControl));
}
