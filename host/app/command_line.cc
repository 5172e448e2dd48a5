// See command_line.h.
#include "app/command_line.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "app/help_text.h"
#include "app/terminal_text.h"
#include "base/status_macros.h"
#include "policy/text.h"
#include "policy/units.h"

#ifndef CELLBLOCK_VERSION
#define CELLBLOCK_VERSION "unknown"
#endif

namespace cellblock::app {
namespace {

using Arguments = std::vector<std::string>;

struct Command {
  const char* name;
  const char* help;
  // Gets what stands behind the command's name and, apart, what stands behind "--".
  absl::StatusOr<Invocation> (*parse)(const Arguments& arguments, const Arguments& rest);
};
const std::vector<Command>& Commands();

absl::Status Wrong(const std::string& message) { return absl::InvalidArgumentError(message); }

// Options for which an empty value means something, or has a message of its own.
bool MayBeEmpty(const std::string& name) { return name == "-c" || name == "--env" || name == "--file"; }

// `--out "$DIR"` with DIR unset: whoever wrote that did not mean "no --out".
absl::Status RefuseEmptyValues(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->get_positional() || MayBeEmpty(name)) continue;
    const Arguments& values = option->results();
    if (std::find(values.begin(), values.end(), "") != values.end()) return Wrong(absl::StrCat(name, " is empty; give a value, or leave it out"));
  }
  return absl::OkStatus();
}

// Runs CLI11 over `arguments`, names near spellings of an unknown option.
absl::Status Parse(CLI::App& app, const Arguments& arguments) {
  app.allow_extras();
  Arguments reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them from the back
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return Wrong(error.what());
  }
  for (const std::string& extra : app.remaining()) {
    if (!absl::StartsWith(extra, "-")) return Wrong(absl::StrCat("'", NeutralizeLine(extra), "' is one argument too many"));
    const std::string name = extra.substr(0, extra.find('='));
    Arguments known;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& long_name : option->get_lnames()) known.push_back(absl::StrCat("--", long_name));
    }
    return Wrong(absl::StrCat("no option ", NeutralizeLine(name), policy::DidYouMean(policy::NearWords(name, known))));
  }
  return RefuseEmptyValues(app);
}

// "30" is 30 seconds here: on a command line nobody means anything else.
absl::StatusOr<absl::Duration> ParseTimeout(const std::string& text) {
  const bool bare = !text.empty() && std::all_of(text.begin(), text.end(),
                                                 [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.'; });
  absl::StatusOr<absl::Duration> timeout = policy::ParseDuration(bare ? absl::StrCat(text, "s") : text);
  if (!timeout.ok()) return Wrong(absl::StrCat("--timeout ", NeutralizeLine(text), ": ", timeout.status().message()));
  return timeout;
}

// The options of run and repl that say what the session is, as text.
struct SessionFlags {
  std::string policy = "default", python_environment, timeout, memory, seed;
  std::vector<std::string> environment, files;

  void AddTo(CLI::App& app) {
    app.add_option("--policy", policy);
    app.add_option("--python-env", python_environment);
    app.add_option("--timeout", timeout);
    app.add_option("--memory", memory);
    app.add_option("--seed", seed);
    // One value each time: `--file a.csv script.py` must leave script.py alone.
    app.add_option("--env", environment)->allow_extra_args(false);
    app.add_option("--file", files)->allow_extra_args(false);
  }

  absl::StatusOr<SessionChoices> Choices() const {
    SessionChoices choices;
    choices.policy = policy;
    choices.python_environment = python_environment;
    choices.files = files;
    if (!timeout.empty()) {
      CELLBLOCK_ASSIGN_OR_RETURN(choices.timeout, ParseTimeout(timeout));
    }
    if (!memory.empty()) {
      absl::StatusOr<int64_t> bytes = policy::ParseSize(memory);
      if (!bytes.ok()) return Wrong(absl::StrCat("--memory ", NeutralizeLine(memory), ": ", bytes.status().message()));
      choices.memory_bytes = *bytes;
    }
    if (!seed.empty()) {
      absl::StatusOr<uint64_t> number = policy::ParseCount(seed);
      if (!number.ok()) return Wrong(absl::StrCat("--seed ", NeutralizeLine(seed), ": ", number.status().message()));
      choices.seed = *number;
    }
    for (const std::string& variable : environment) {
      const size_t equals = variable.find('=');
      if (equals == std::string::npos || equals == 0) {
        return Wrong(absl::StrCat("--env ", NeutralizeLine(variable), ": write it as NAME=VALUE"));
      }
      choices.environment.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
    }
    return choices;
  }
};

absl::StatusOr<Language> ParseLanguage(const std::string& text) {
  if (text == "python") return Language::kPython;
  if (text == "bash") return Language::kBash;
  return Wrong(absl::StrCat("--language ", NeutralizeLine(text), ": python or bash"));
}

absl::StatusOr<Invocation> ParseRun(const Arguments& arguments, const Arguments& rest) {
  CLI::App app;
  app.set_help_flag();
  SessionFlags flags;
  flags.AddTo(app);
  RunOptions options;
  std::string code, language;
  app.add_option("source", options.source.path);
  CLI::Option* const code_option = app.add_option("-c", code);
  app.add_option("--language", language);
  app.add_option("--out", options.out);
  app.add_option("--save-notebook", options.save_notebook);
  app.add_flag("--json", options.json);
  app.add_flag("--keep-going", options.keep_going);
  app.add_flag("-q,--quiet", options.quiet);
  CELLBLOCK_RETURN_IF_ERROR(Parse(app, arguments));

  if (code_option->count() > 0) options.source.code = code;
  if (options.source.path.empty() && !options.source.code.has_value())
    return Wrong("what is to run? Give a script, - for standard input, or -c CODE");
  if (!options.source.path.empty() && options.source.code.has_value()) {
    return Wrong(absl::StrCat("both -c and '", NeutralizeLine(options.source.path), "' are given; arguments for the code come behind --"));
  }
  if (!language.empty()) {
    CELLBLOCK_ASSIGN_OR_RETURN(options.source.language, ParseLanguage(language));
  }
  CELLBLOCK_ASSIGN_OR_RETURN(options.session, flags.Choices());
  options.arguments = rest;
  return options;
}

absl::StatusOr<Invocation> ParseRepl(const Arguments& arguments, const Arguments& rest) {
  CLI::App app;
  app.set_help_flag();
  SessionFlags flags;
  flags.AddTo(app);
  ReplOptions options;
  app.add_option("--out", options.out);
  app.add_flag("--no-history", options.no_history);
  app.add_flag("-q,--quiet", options.quiet);
  CELLBLOCK_RETURN_IF_ERROR(Parse(app, arguments));
  if (!rest.empty()) return Wrong("repl takes no arguments behind --");
  CELLBLOCK_ASSIGN_OR_RETURN(options.session, flags.Choices());
  return options;
}

absl::StatusOr<Invocation> ParsePolicy(const Arguments& arguments, const Arguments& rest) {
  if (arguments.empty()) return Wrong("policy check, policy print, policy diff or policy explain?");
  PolicyOptions options;
  const std::string& action = arguments[0];
  size_t least = 1, most = 1000;
  if (action == "check") {
    options.action = PolicyAction::kCheck;
  } else if (action == "print") {
    options.action = PolicyAction::kPrint;
    most = 1;
  } else if (action == "diff") {
    options.action = PolicyAction::kDiff;
    least = most = 2;
  } else if (action == "explain") {
    options.action = PolicyAction::kExplain;
    least = 2;
  } else {
    return Wrong(absl::StrCat("no command 'policy ", NeutralizeLine(action), "'",
                              policy::DidYouMean(policy::NearWords(action, {"check", "print", "diff", "explain"}))));
  }
  CLI::App app;
  app.set_help_flag();
  app.add_option("policies", options.policies);
  if (options.action == PolicyAction::kExplain) app.add_option("--method", options.method);
  CELLBLOCK_RETURN_IF_ERROR(Parse(app, {arguments.begin() + 1, arguments.end()}));
  options.policies.insert(options.policies.end(), rest.begin(), rest.end());
  if (options.policies.size() < least || options.policies.size() > most) {
    return Wrong(absl::StrCat("policy ", action, " takes ",
                              options.action == PolicyAction::kExplain ? "a policy and at least one URL"
                              : least == 2                             ? "two policies"
                              : most == 1                              ? "one policy"
                                                                       : "at least one policy"));
  }
  return options;
}

absl::StatusOr<Invocation> ParseDoctor(const Arguments& arguments, const Arguments& rest) {
  CLI::App app;
  app.set_help_flag();
  DoctorOptions options;
  app.add_option("--policy", options.policy);
  app.add_option("--python-env", options.python_environment);
  app.add_flag("--json", options.json);
  app.add_flag("--strict", options.strict);
  app.add_flag("--bench", options.bench);
  CELLBLOCK_RETURN_IF_ERROR(Parse(app, arguments));
  if (!rest.empty()) return Wrong("doctor takes no arguments behind --");
  return options;
}

absl::Status ReadDuration(const std::string& flag, const std::string& text, absl::Duration* value) {
  if (text.empty()) return absl::OkStatus();
  absl::StatusOr<absl::Duration> duration = policy::ParseDuration(text);
  if (!duration.ok()) return Wrong(absl::StrCat(flag, " ", NeutralizeLine(text), ": ", duration.status().message()));
  *value = *duration;
  return absl::OkStatus();
}

absl::Status ReadSize(const std::string& flag, const std::string& text, int64_t* value) {
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<int64_t> bytes = policy::ParseSize(text);
  if (!bytes.ok()) return Wrong(absl::StrCat(flag, " ", NeutralizeLine(text), ": ", bytes.status().message()));
  *value = *bytes;
  return absl::OkStatus();
}

absl::Status ReadCount(const std::string& flag, const std::string& text, int64_t lowest, int64_t highest, int64_t* value) {
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<uint64_t> count = policy::ParseCount(text);
  if (!count.ok() || *count < static_cast<uint64_t>(lowest) || *count > static_cast<uint64_t>(highest)) {
    return Wrong(absl::StrCat(flag, " ", NeutralizeLine(text), ": a whole number from ", lowest, " to ", highest, " is wanted"));
  }
  *value = static_cast<int64_t>(*count);
  return absl::OkStatus();
}

// "127.0.0.1:8765", "[::1]:0", ":8765", "8765".
absl::Status ReadListen(const std::string& text, ServeOptions* options) {
  if (text.empty()) return absl::OkStatus();
  const size_t colon = text.rfind(':');
  const bool has_address = colon != std::string::npos && colon > 0;
  std::string address = has_address ? text.substr(0, colon) : options->address;
  if (absl::StartsWith(address, "[") && absl::EndsWith(address, "]")) address = address.substr(1, address.size() - 2);
  int64_t port = 0;
  const std::string port_text = colon == std::string::npos ? text : text.substr(colon + 1);
  if (port_text.empty()) return Wrong(absl::StrCat("--listen ", NeutralizeLine(text), ": a port is wanted behind the colon (0: any that is free)"));
  CELLBLOCK_RETURN_IF_ERROR(ReadCount("--listen", port_text, 0, 65535, &port));
  options->address = address == "localhost" ? "127.0.0.1" : address;
  options->port = static_cast<uint16_t>(port);
  return absl::OkStatus();
}

bool IsLoopback(const std::string& address) {
  in_addr v4 = {};
  in6_addr v6 = {};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == IN_LOOPBACKNET;
  return inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

absl::StatusOr<Invocation> ParseServe(const Arguments& arguments, const Arguments& rest) {
  CLI::App app;
  app.set_help_flag();
  ServeOptions options;
  std::string listen, sessions, calls, pool, spare_memory, incoming_bytes, kept_bytes, kept_for, drain, log_format;
  app.add_option("--listen", listen);
  app.add_option("--unix", options.unix_path);
  app.add_option("--state", options.state);
  app.add_option("--policies", options.policies);
  app.add_option("--python-env", options.python_environment);
  app.add_option("--tokens", options.tokens);
  app.add_flag("--no-token", options.no_token);
  app.add_option("--tls-cert", options.certificate);
  app.add_option("--tls-key", options.key);
  app.add_option("--host", options.hosts)->allow_extra_args(false);
  app.add_option("--origin", options.origins)->allow_extra_args(false);
  app.add_option("--sessions", sessions);
  app.add_option("--calls", calls);
  app.add_option("--pool", pool);
  app.add_option("--spare-memory", spare_memory);
  app.add_option("--incoming-bytes", incoming_bytes);
  app.add_option("--keep-bytes", kept_bytes);
  app.add_option("--keep-for", kept_for);
  app.add_option("--drain", drain);
  app.add_option("--audit", options.audit);
  app.add_flag("--audit-code", options.audit_code);
  app.add_option("--log", options.log);
  app.add_option("--log-format", log_format);
  app.add_flag("--metrics-open", options.metrics_open);
  CELLBLOCK_RETURN_IF_ERROR(Parse(app, arguments));
  if (!log_format.empty() && log_format != "text" && log_format != "json") return Wrong(absl::StrCat("--log-format ", NeutralizeLine(log_format), ": text or json is wanted"));
  options.log_format = log_format == "json" ? LogFormat::kJson : LogFormat::kText;
  if (!rest.empty()) return Wrong("serve takes no arguments behind --");
  if (!listen.empty() && !options.unix_path.empty()) return Wrong("--listen and --unix are two answers to one question; give one");
  if (options.no_token && !options.tokens.empty()) return Wrong("--tokens and --no-token contradict each other; give one");
  if (options.certificate.empty() != options.key.empty()) return Wrong("--tls-cert and --tls-key come together: a certificate, and the key that it is of");
  CELLBLOCK_RETURN_IF_ERROR(ReadListen(listen, &options));
  if (options.no_token && options.unix_path.empty() && !IsLoopback(options.address)) {
    return Wrong(absl::StrCat("--no-token lets whoever reaches the server run code: with it only this machine is listened for (127.0.0.1, ::1, or --unix), not ", NeutralizeLine(options.address)));
  }
  CELLBLOCK_RETURN_IF_ERROR(ReadCount("--sessions", sessions, 1, 100'000, &options.sessions_max));
  CELLBLOCK_RETURN_IF_ERROR(ReadCount("--calls", calls, 1, 100'000, &options.calls_max));
  CELLBLOCK_RETURN_IF_ERROR(ReadCount("--pool", pool, 0, 1024, &options.pool_max));
  CELLBLOCK_RETURN_IF_ERROR(ReadDuration("--keep-for", kept_for, &options.kept_for));
  CELLBLOCK_RETURN_IF_ERROR(ReadDuration("--drain", drain, &options.drain));
  CELLBLOCK_RETURN_IF_ERROR(ReadSize("--spare-memory", spare_memory, &options.spare_memory_bytes));
  CELLBLOCK_RETURN_IF_ERROR(ReadSize("--incoming-bytes", incoming_bytes, &options.incoming_bytes_max));
  CELLBLOCK_RETURN_IF_ERROR(ReadSize("--keep-bytes", kept_bytes, &options.kept_bytes_max));
  return options;
}

const std::vector<Command>& Commands() {
  static const auto* const commands = new std::vector<Command>{
      {"run", kRunHelp, ParseRun},
      {"repl", kReplHelp, ParseRepl},
      {"serve", kServeHelp, ParseServe},
      {"policy", kPolicyHelp, ParsePolicy},
      {"doctor", kDoctorHelp, ParseDoctor},
  };
  return *commands;
}

const Command* FindCommand(const std::string& name) {
  for (const Command& command : Commands()) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

Answer WrongCommand(const std::string& name) {
  Arguments names = {"help"};
  for (const Command& command : Commands()) names.emplace_back(command.name);
  std::string text = absl::StrCat("cellblock: no command '", NeutralizeLine(name), "'");
  const bool is_source = absl::EndsWith(name, ".py") || absl::EndsWith(name, ".ipynb") || absl::EndsWith(name, ".sh");
  if (is_source) {
    absl::StrAppend(&text, "; did you mean: cellblock run ", NeutralizeLine(name));
  } else {
    absl::StrAppend(&text, policy::DidYouMean(policy::NearWords(name, names)));
  }
  return {absl::StrCat(text, "\n'cellblock --help' lists the commands\n"), /*is_error=*/true};
}

bool AsksForHelp(const std::string& argument) { return argument == "-h" || argument == "--help"; }

}  // namespace

Invocation ParseCommandLine(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return Answer{kMainHelp, /*is_error=*/true};
  const std::string& first = arguments[0];
  if (AsksForHelp(first)) return Answer{kMainHelp};
  if (first == "--version" || first == "-V") return Answer{"cellblock " CELLBLOCK_VERSION "\n"};
  if (first == "help") {
    if (arguments.size() == 1) return Answer{kMainHelp};
    const Command* about = FindCommand(arguments[1]);
    return about == nullptr ? WrongCommand(arguments[1]) : Answer{about->help};
  }
  const Command* command = FindCommand(first);
  if (command == nullptr && absl::StartsWith(first, "-")) {
    return Answer{
        absl::StrCat("cellblock: no option ", NeutralizeLine(first), " before a command\n'cellblock --help' lists the commands\n"),
        /*is_error=*/true};
  }
  if (command == nullptr) return WrongCommand(first);

  const auto dashes = std::find(arguments.begin() + 1, arguments.end(), "--");
  const Arguments own(arguments.begin() + 1, dashes);
  const Arguments rest(dashes == arguments.end() ? dashes : dashes + 1, arguments.end());
  if (std::any_of(own.begin(), own.end(), AsksForHelp)) return Answer{command->help};
  absl::StatusOr<Invocation> invocation = command->parse(own, rest);
  if (invocation.ok()) return *std::move(invocation);
  return Answer{
      absl::StrCat("cellblock: ", invocation.status().message(), "\n'cellblock ", command->name, " --help' explains its options\n"),
      /*is_error=*/true};
}

}  // namespace cellblock::app
