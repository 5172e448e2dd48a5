// The executable `cellblock`: wires the commands to the process and the real host, nothing else. Supervisor.
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include <string>
#include <variant>
#include <vector>

#include "app/command_line.h"
#include "app/console.h"
#include "app/context.h"
#include "app/exit_codes.h"
#include "app/locations.h"
#include "app/signals.h"
#include "sys/process.h"

namespace {

using namespace cellblock;       // NOLINT: the program's own main
using namespace cellblock::app;  // NOLINT

Context RealContext() {
  Context context;
  context.surroundings = CurrentSurroundings();
  context.stdin_is_terminal = isatty(STDIN_FILENO) == 1;
  context.console.stdout_is_terminal = isatty(STDOUT_FILENO) == 1;
  context.console.stderr_is_terminal = isatty(STDERR_FILENO) == 1;
  context.create_host = [](HostOptions options) { return Host::Create(std::move(options)); };
  context.inspect_machine = InspectMachine;
  context.exit_now = [](int exit_code) { _exit(exit_code); };
  return context;
}

int Print(const Answer& answer, const Context& context) {
  ConsoleOptions options = context.console;
  if (answer.is_error) options.stdout_fd = options.stderr_fd;
  Console console(options);
  console.Write(answer.text);
  if (answer.is_error) return kExitUsage;
  return console.stdout_closed() ? ExitCodeOfLostOutput(console) : kExitOk;
}

// A descriptor that was closed by whoever started us is the next one that is opened: output would go into a file or pipe of our own.
bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

int RefuseToRunWithoutOutput() {
  if (IsOpen(STDERR_FILENO)) Console({}).Problem("standard output is closed; send it to a file, or to /dev/null if it is not wanted");
  return kExitHost;
}

// Outputs of many megabytes come and go: they are mapped apart, so that the kernel has them back at once, and few arenas keep what is
// small (mallopt(3); without this, a server that a hundred large results went through keeps hundreds of megabytes).
void GiveMemoryBack() {
  constexpr int kMappedApart = 128 * 1024, kArenas = 4;
  mallopt(M_MMAP_THRESHOLD, kMappedApart);
  mallopt(M_ARENA_MAX, kArenas);
}

struct Runner {
  const Context& context;
  int operator()(const RunOptions& options) const { return RunCommand(options, context); }
  int operator()(const ReplOptions& options) const { return ReplCommand(options, context); }
  int operator()(const PolicyOptions& options) const { return PolicyCommand(options, context); }
  int operator()(const DoctorOptions& options) const { return DoctorCommand(options, context); }
  int operator()(const ServeOptions& options) const { return ServeCommand(options, context); }
  int operator()(const Answer& answer) const { return Print(answer, context); }
};

}  // namespace

int main(int argc, char** argv) {
  const bool has_output = IsOpen(STDOUT_FILENO);
  sys::FillStandardDescriptors();
  // Line editing reads the keyboard's characters by the locale; under "C" they would be bytes.
  const char* locale = setlocale(LC_CTYPE, "");
  if (locale == nullptr || strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0) setlocale(LC_CTYPE, "C.UTF-8");
  SurviveClosedPipes();
  GiveMemoryBack();
  if (!has_output) return RefuseToRunWithoutOutput();
  const Context context = RealContext();
  return std::visit(Runner{context}, ParseCommandLine(std::vector<std::string>(argv + 1, argv + argc)));
}
