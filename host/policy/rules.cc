// See rules.h.
#include "policy/rules.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "policy/text.h"

namespace cellblock::policy {
namespace {

// The kernel's own views of the host. Of /run: sockets stay connectable on a read-only mount, so showing it would hand over the
// host's services (D-Bus, container engines).
constexpr std::array<absl::string_view, 5> kHiddenSources = {"/proc", "/sys", "/dev", "/run", "/var/run"};

// Places that the jail itself fills; a mount over, in or around one of them would hide it.
constexpr std::array<absl::string_view, 18> kTakenTargets = {"/proc", "/sys", "/dev",       "/usr",           "/etc",      "/bin",
                                                             "/sbin", "/lib", "/lib32",     "/lib64",         "/libx32",   "/run",
                                                             "/var",  "/tmp", "/workspace", "/opt/cellblock", "/mnt/data", "/home/user"};

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-'; }

bool IsIdentifier(absl::string_view text) {
  if (text.empty() || absl::ascii_isdigit(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

std::string TooLong(absl::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return "";
  return absl::StrCat("has ", text.size(), " bytes, more than ", bytes_max);
}

}  // namespace

std::string NameProblem(absl::string_view name) {
  if (name.empty()) return "is empty; write a name such as analysis";
  if (name == "none") return "is the word for nothing; choose another name";
  if (!absl::ascii_isalnum(name[0])) return "must start with a letter or digit";
  if (!std::all_of(name.begin(), name.end(), IsNameCharacter)) return "may only hold letters, digits, '.', '_' and '-'";
  return TooLong(name, 64);
}

std::string GlobProblem(absl::string_view glob) {
  if (glob.empty()) return "is empty; write a pattern such as *.csv";
  if (glob[0] == '/') return "starts with a slash; patterns are relative to /workspace, such as reports/*.csv";
  for (absl::string_view part : absl::StrSplit(glob, '/')) {
    if (part.empty() || part == "." || part == "..") return "has an empty, '.' or '..' part; write a pattern such as reports/**/*.csv";
  }
  std::string problem = TextProblem(glob);
  return problem.empty() ? TooLong(glob, 256) : problem;
}

std::string ModuleProblem(absl::string_view module) {
  for (absl::string_view part : absl::StrSplit(module, '.')) {
    if (!IsIdentifier(part)) return "is not a module name such as matplotlib.pyplot";
  }
  return TooLong(module, 128);
}

std::string SyscallProblem(absl::string_view name) {
  bool fits = !name.empty() &&
              std::all_of(name.begin(), name.end(), [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_'; });
  if (!fits) return "is not the name of a system call such as mlock2";
  return TooLong(name, 64);
}

std::string RedactProblem(absl::string_view text) {
  if (text.size() < 4) return "has fewer than 4 bytes, which would blot out ordinary output";
  std::string problem = TextProblem(text);
  return problem.empty() ? TooLong(text, 4096) : problem;
}

std::string TimeZoneProblem(absl::string_view zone) {
  for (absl::string_view part : absl::StrSplit(zone, '/')) {
    bool fits =
        !part.empty() && part[0] != '.' && std::all_of(part.begin(), part.end(), [](char c) { return IsNameCharacter(c) || c == '+'; });
    if (!fits) return "is not the name of a time zone such as UTC or Europe/Berlin";
  }
  return TooLong(zone, 64);
}

std::string LocaleProblem(absl::string_view locale) {
  bool fits = !locale.empty() && absl::ascii_isalpha(locale[0]) &&
              std::all_of(locale.begin(), locale.end(), [](char c) { return IsNameCharacter(c) || c == '@'; });
  if (!fits) return "is not the name of a locale such as C.UTF-8";
  return TooLong(locale, 64);
}

std::string VariableNameProblem(absl::string_view name) {
  if (!IsIdentifier(name)) return "is not a variable's name: letters, digits and '_', not starting with a digit";
  return TooLong(name, 128);
}

std::string PathProblem(absl::string_view path) {
  if (!absl::StartsWith(path, "/")) return "is not an absolute path such as /srv/data";
  if (path.size() > 1) {
    for (absl::string_view part : absl::StrSplit(path.substr(1), '/')) {
      if (part.empty() || part == "." || part == "..") return "has an empty, '.' or '..' part, or ends in a slash; write the plain path";
    }
  }
  if (absl::StrContains(path, '\n') || absl::StrContains(path, '\t')) return "holds a tab or a newline";
  std::string problem = TextProblem(path);
  return problem.empty() ? TooLong(path, 1024) : problem;
}

std::string RootProblem(absl::string_view path) {
  if (path.empty()) return "";
  if (path == "/") return "is the host's own root; write none for the host's /usr, or the folder of an unpacked root";
  return PathProblem(path);
}

std::string MountSourceProblem(absl::string_view source) {
  std::string problem = PathProblem(source);
  if (!problem.empty()) return problem;
  if (source == "/") return "would show the whole host; name the folder that is needed";
  for (absl::string_view hidden : kHiddenSources) {
    if (IsAtOrBelow(source, hidden))
      return absl::StrCat("is in ", hidden, ", which shows or controls the host itself; copy what is needed elsewhere");
  }
  return "";
}

std::string MountTargetProblem(absl::string_view target) {
  std::string problem = PathProblem(target);
  if (!problem.empty()) return problem;
  for (absl::string_view taken : kTakenTargets) {
    if (IsAtOrBelow(target, taken) || IsAtOrBelow(taken, target)) {
      return absl::StrCat("collides with ", taken, " of the session itself; choose a path of its own such as /data");
    }
  }
  return "";
}

bool IsAtOrBelow(absl::string_view path, absl::string_view folder) {
  if (folder == "/" || path == folder) return true;
  return path.size() > folder.size() && absl::StartsWith(path, folder) && path[folder.size()] == '/';
}

}  // namespace cellblock::policy
