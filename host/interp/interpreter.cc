// See interpreter.h. pybind11 throws; this is the file that catches.
#include "interp/interpreter.h"

#include <Python.h>
#include <malloc.h>
#include <pybind11/embed.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "interp/arena.h"

namespace py = pybind11;

namespace cellblock::interp {
namespace {

constexpr size_t kFreeBytesWorthwhile = size_t{8} << 20;
constexpr size_t kStackOfThreads = size_t{2} << 20;  // see SetThreadStacks

std::string Text(const py::handle& value) {
  // Lone surrogates cannot be UTF-8; the supervisor would only replace them.
  py::bytes bytes = py::reinterpret_steal<py::bytes>(PyUnicode_AsEncodedString(py::str(value).ptr(), "utf-8", "replace"));
  if (!bytes) throw py::error_already_set();
  return std::string(bytes);
}

std::string TextOr(const py::dict& fields, const char* key) { return fields.contains(key) ? Text(fields[key]) : std::string(); }

uint64_t NumberOr(const py::dict& fields, const char* key) {
  if (!fields.contains(key) || fields[key].is_none()) return 0;
  return fields[key].cast<uint64_t>();
}

wire::GuestOutput ToOutput(const py::dict& fields) {
  wire::GuestOutput output;
  for (py::handle item : fields["mime"]) {
    py::tuple entry = py::reinterpret_borrow<py::tuple>(item);
    unsigned flags = entry[2].cast<unsigned>();
    output.mime.push_back(Text(entry[0]));
    output.mime.push_back((flags & 2) != 0 ? "j" : (flags & 1) != 0 ? "t" : "b");
    output.mime.push_back(std::string(py::bytes(entry[1])));
  }
  output.metadata = TextOr(fields, "metadata");
  output.display_id = TextOr(fields, "display_id");
  return output;
}

Emission ToEmission(const std::string& kind, const py::dict& fields) {
  Emission emission;
  if (kind == "display" || kind == "update" || kind == "result") {
    emission.kind = kind == "display" ? Emission::Kind::kDisplay : kind == "update" ? Emission::Kind::kUpdate : Emission::Kind::kResult;
    emission.output = ToOutput(fields);
  } else if (kind == "clear") {
    emission.kind = Emission::Kind::kClear;
    emission.clear_wait = fields.contains("wait") && fields["wait"].cast<bool>();
  } else if (kind == "error") {
    emission.kind = Emission::Kind::kError;
    emission.error.name = TextOr(fields, "name");
    emission.error.value = TextOr(fields, "value");
    emission.error.traceback = TextOr(fields, "traceback");
    emission.error.hint = TextOr(fields, "hint");
    emission.error.line = NumberOr(fields, "line");
    emission.error.column = NumberOr(fields, "column");
  } else if (kind != "sync") {
    throw py::value_error(absl::StrCat("unknown event kind ", kind));
  }
  return emission;
}

py::dict OptionsOf(const wire::StartSession& start) {
  py::dict options;
  options["seed"] = start.has_seed != 0 ? py::object(py::int_(start.seed)) : py::object(py::none());
  options["table_width"] = start.table_width;
  options["table_columns"] = start.table_columns;
  options["figure_dpi"] = start.figure_dpi;
  options["figure_svg"] = start.figure_svg != 0;
  options["cpus"] = start.cpus;
  options["memory_bytes"] = start.memory_bytes;
  options["result_bytes"] = start.result_bytes;
  options["network"] = start.network;
  options["time_zone"] = start.time_zone;
  py::dict environment;
  for (const std::string& variable : start.environment) {
    size_t equals = variable.find('=');
    if (equals != std::string::npos) environment[py::str(variable.substr(0, equals))] = variable.substr(equals + 1);
  }
  options["environment"] = environment;
  return options;
}

// Runs `body` and turns whatever it throws into a status.
template <typename Body>
absl::Status Guard(const char* what, Body body) {
  try {
    body();
    return absl::OkStatus();
  } catch (py::error_already_set& error) {
    return absl::InternalError(absl::StrCat(what, ": ", error.what()));
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat(what, ": ", error.what()));
  }
}

// A thread's stack counts against RLIMIT_DATA in full, used or not: glibc would reserve 8 MiB for each.
void SetThreadStacks() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  if (pthread_attr_setstacksize(&attributes, kStackOfThreads) == 0) pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

absl::Status InitializePython(const InterpreterOptions& options) {
  PyPreConfig preconfig;
  PyPreConfig_InitPythonConfig(&preconfig);
  preconfig.utf8_mode = 1;
  PyStatus status = Py_PreInitialize(&preconfig);
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.parse_argv = 0;
  config.write_bytecode = 0;
  config.user_site_directory = 0;
  config.buffered_stdio = 0;
  if (options.fixed_hash_seed) {
    config.use_hash_seed = 1;
    config.hash_seed = 0;
  }
  if (!PyStatus_Exception(status)) status = PyConfig_SetBytesString(&config, &config.program_name, "/usr/bin/python3");
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) return absl::InternalError(absl::StrCat("start Python: ", status.err_msg == nullptr ? "unknown error" : status.err_msg));
  return absl::OkStatus();
}

// While the session's own interpreter is asked what it holds, none of what the session hung into it may run: its trace and profile
// functions, and what a collection would call, finalizers and gc.callbacks. Raises no audit event, as sys.setprofile() would.
class NothingOfTheSessions {
 public:
  NothingOfTheSessions() : collects_(PyGC_Disable() != 0) { PyThreadState_EnterTracing(PyThreadState_Get()); }
  ~NothingOfTheSessions() {
    PyThreadState_LeaveTracing(PyThreadState_Get());
    if (collects_) PyGC_Enable();
  }
  NothingOfTheSessions(const NothingOfTheSessions&) = delete;
  NothingOfTheSessions& operator=(const NothingOfTheSessions&) = delete;

 private:
  const bool collects_;
};

}  // namespace

struct Interpreter::State {
  py::object zygote;
  py::object worker;
  py::object run;
  Emit emit;
};

Interpreter::Interpreter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Interpreter::~Interpreter() { (void)state_.release(); }  // its objects die with the process

absl::StatusOr<std::unique_ptr<Interpreter>> Interpreter::Create(const InterpreterOptions& options) {
  InstallHugePageArenas();
  mallopt(M_MXFAST, 0);  // or a child's first large malloc would consolidate fast bins all over the shared heap
  SetThreadStacks();
  absl::Status started = InitializePython(options);
  if (!started.ok()) return started;
  auto state = std::make_unique<State>();
  started = Guard("load the guest's Python side", [&] {
    py::list path = py::module_::import("sys").attr("path");
    py::list kept;
    for (py::handle entry : path) {  // the system's own site packages would differ from machine to machine
      if (Text(entry).find("dist-packages") == std::string::npos) kept.append(entry);
    }
    for (const std::string& entry : options.module_paths) kept.append(entry);
    py::module_::import("sys").attr("path") = kept;
    py::module_::import("cellblock_guest.forks").attr("keep")();
    state->zygote = py::module_::import("cellblock_guest.zygote");
    state->worker = py::module_::import("cellblock_guest.worker");
    state->run = state->worker.attr("run");
  });
  if (!started.ok()) return started;
  return std::unique_ptr<Interpreter>(new Interpreter(std::move(state)));
}

absl::Status Interpreter::Preload(const std::vector<std::string>& modules) {
  return Guard("preload", [&] { state_->zygote.attr("preload")(modules); });
}

absl::Status Interpreter::WarmUp() {
  return Guard("warm up", [&] { state_->zygote.attr("warm_up")(); });
}

absl::StatusOr<std::vector<std::string>> Interpreter::UnreviewedGenerators() {
  std::vector<std::string> names;
  absl::Status status = Guard("audit generators", [&] { names = state_->zygote.attr("audit_generators")().cast<std::vector<std::string>>(); });
  if (!status.ok()) return status;
  return names;
}

absl::Status Interpreter::Settle(const wire::StartSession& usual) {
  absl::Status status = Guard("freeze", [&] {
    state_->worker.attr("prepare")(OptionsOf(usual));
    state_->zygote.attr("freeze")();
  });
  if (!status.ok()) return status;
  SealHugePageArenas();
  malloc_trim(0);
  // Right after a trim glibc's free lists are unsorted, and every child would sort (and so copy) them by itself.
  for (size_t size : {size_t{120'000}, size_t{60'000}, size_t{20'000}, size_t{5'000}, size_t{2'000}, size_t{500}, size_t{125'000}}) {
    void* block = malloc(size);
    if (block != nullptr) *static_cast<volatile char*>(block) = 1;
    free(block);
  }
  return absl::OkStatus();
}

void Interpreter::BeforeForks() { PyOS_BeforeFork(); }
void Interpreter::AfterForkInChild() { PyOS_AfterFork_Child(); }

absl::Status Interpreter::StartSession(const wire::StartSession& start, Emit emit) {
  state_->emit = std::move(emit);
  return Guard("start the session", [&] {
    State* state = state_.get();
    py::cpp_function emit_function([state](const std::string& kind, const py::dict& fields) { state->emit(ToEmission(kind, fields)); });
    state_->worker.attr("start")(emit_function, OptionsOf(start));
  });
}

absl::Status Interpreter::Rehearse() {
  wire::ExecuteCell cell;
  cell.code = "1 + 1";
  absl::Status ran = RunCell(cell).status();
  if (!ran.ok()) return ran;
  return Guard("forget the rehearsal", [&] { state_->worker.attr("forget_rehearsal")(); });
}

absl::StatusOr<wire::CellDone> Interpreter::RunCell(const wire::ExecuteCell& cell) {
  wire::CellDone done;
  absl::Status status = Guard("run a cell", [&] {
    std::optional<NothingOfTheSessions> only_ours;
    if (cell.inspect == "variables") only_ours.emplace();
    py::dict options;
    options["file_name"] = cell.file_name;
    options["arguments"] = cell.arguments;
    if (!cell.environment.empty()) options["environment"] = cell.environment;
    options["call"] = cell.call;
    if (!cell.inspect.empty()) options["inspect"] = cell.inspect;
    py::dict result = state_->run(py::str(cell.code), options);
    std::string ending = result["status"].cast<std::string>();
    done.ending = static_cast<uint64_t>(ending == "ok"            ? wire::CellEnding::kOk
                                        : ending == "exited"      ? wire::CellEnding::kExited
                                        : ending == "interrupted" ? wire::CellEnding::kInterrupted
                                                                  : wire::CellEnding::kError);
    if (!result["exit_code"].is_none()) {
      done.has_exit_code = 1;
      done.exit_code = static_cast<uint64_t>(result["exit_code"].cast<int64_t>());
    }
    done.threads = NumberOr(result, "threads");
  });
  if (!status.ok()) return status;
  return done;
}

void Interpreter::GiveMemoryBack() {
  const struct mallinfo2 heap = mallinfo2();
  if (heap.fordblks > kFreeBytesWorthwhile) malloc_trim(0);
}

void Interpreter::WaitUnlocked(const std::function<void()>& wait) {
  py::gil_scoped_release unlocked;
  wait();
}

void Interpreter::ClearInterrupts() {
  const NothingOfTheSessions only_ours;  // the handler is ours and Python: not to be traced, nor to set a collection off
  if (PyErr_CheckSignals() != 0) PyErr_Clear();
}

}  // namespace cellblock::interp
