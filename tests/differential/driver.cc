// Runs jobs from standard input in fresh sandboxed sessions and prints what came of each: the side "inside" of the comparison with
// plain CPython (run.py is the other). One JSON object a line in, one a line out, in the order in which they finish. Runs as the
// supervisor; trusts its input, which run.py writes, and nothing that a session sends. A test's program, not installed.
//
//   {"id": "t1", "files": [["/host/a.csv", "a.csv"]], "mounts": [["/host/x", "/opt/x"]], "environment": [["K", "V"]],
//    "limits": {"memory_bytes": 1}, "seed": 1, "timeout_seconds": 60, "language": "python", "file_name": "", "arguments": [],
//    "cells": ["1 + 1"], "collect": [["made.json", "/host/made.json"]]}
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "cellblock/host.h"
#include "tests/differential/job.h"

namespace cellblock::differential {
namespace {

constexpr int kThreadsMax = 16;
constexpr size_t kLineBytesMax = size_t{16} << 20;

struct Settings {
  std::string environment;
  std::string libexec;
  int threads = 1;
};

absl::Status PutFile(Session& session, const std::string& source, const std::string& name) {
  UniqueFd fd(open(source.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("open ", source));
  return session.PutFile(fd.get(), name);
}

// False when the session made no such file.
absl::StatusOr<bool> GetFile(Session& session, const std::string& name, const std::string& target) {
  UniqueFd fd(open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("make ", target));
  absl::Status got = session.GetFile(name, fd.get());
  if (got.ok()) return true;
  unlink(target.c_str());
  if (absl::IsNotFound(got)) return false;
  return got;
}

absl::Status RunCells(Session& session, const Job& job, Outcome& outcome) {
  for (const auto& [source, name] : job.files) CELLBLOCK_RETURN_IF_ERROR(PutFile(session, source, name));
  ExecuteOptions options;
  options.language = job.language;
  options.timeout = job.timeout;
  options.file_name = job.file_name;
  options.arguments = job.arguments;
  for (const std::string& cell : job.cells) {
    CELLBLOCK_ASSIGN_OR_RETURN(Record record, session.Execute(cell, options));
    bool kept = record.session_state == SessionState::kKept;
    outcome.records.push_back(std::move(record));
    if (!kept) break;
  }
  if (!outcome.records.empty() && outcome.records.back().session_state == SessionState::kGone) {
    CELLBLOCK_RETURN_IF_ERROR(session.Restart());  // the files are still there
  }
  for (const auto& [name, target] : job.collect) {
    CELLBLOCK_ASSIGN_OR_RETURN(bool found, GetFile(session, name, target));
    if (found) outcome.collected.push_back(name);
  }
  CELLBLOCK_ASSIGN_OR_RETURN(outcome.files, session.ListFiles());
  return absl::OkStatus();
}

Outcome RunJob(Host& host, const Job& job) {
  Outcome outcome;
  outcome.id = job.id;
  absl::Time start = absl::Now();
  absl::StatusOr<std::unique_ptr<Session>> session = host.CreateSession(job.policy, job.session);
  outcome.host_status = session.ok() ? RunCells(**session, job, outcome) : session.status();
  outcome.seconds = absl::ToDoubleSeconds(absl::Now() - start);
  return outcome;
}

// Takes lines from standard input until there are none; several threads share it.
class Desk {
 public:
  explicit Desk(Host& host) : host_(host) {}

  void Serve() {
    std::string line;
    while (NextLine(line)) {
      absl::StatusOr<Job> job = ParseJob(line);
      Outcome outcome;
      if (job.ok()) {
        outcome = RunJob(host_, *job);
      } else {
        outcome.host_status = job.status();
      }
      std::string text = OutcomeToJson(outcome);
      std::lock_guard<std::mutex> lock(output_);
      std::cout << text << std::endl;
    }
  }

 private:
  bool NextLine(std::string& line) {
    std::lock_guard<std::mutex> lock(input_);
    return std::getline(std::cin, line) && line.size() <= kLineBytesMax;
  }

  Host& host_;
  std::mutex input_;
  std::mutex output_;
};

absl::StatusOr<Settings> ReadArguments(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    absl::string_view name = argv[i];
    if (name == "--environment") {
      settings.environment = argv[i + 1];
    } else if (name == "--libexec") {
      settings.libexec = argv[i + 1];
    } else if (name == "--threads") {
      if (!absl::SimpleAtoi(argv[i + 1], &settings.threads) || settings.threads < 1 || settings.threads > kThreadsMax) {
        return absl::InvalidArgumentError(absl::StrCat("--threads takes 1 to ", kThreadsMax));
      }
    } else {
      return absl::InvalidArgumentError(absl::StrCat("unknown argument ", name));
    }
  }
  if (settings.environment.empty() || argc % 2 == 0) {
    return absl::InvalidArgumentError("usage: cellblock-differential --environment DIR [--libexec DIR] [--threads N] < jobs > outcomes");
  }
  return settings;
}

int Run(const Settings& settings) {
  HostOptions options;
  options.python_environment = settings.environment;
  options.libexec_directory = settings.libexec;
  absl::StatusOr<std::unique_ptr<Host>> host = Host::Create(options);
  if (!host.ok()) {
    std::cerr << "cellblock-differential: " << host.status().message() << "\n";
    return 4;
  }
  Desk desk(**host);
  std::vector<std::thread> threads;
  for (int i = 1; i < settings.threads; ++i) threads.emplace_back([&desk] { desk.Serve(); });
  desk.Serve();
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace
}  // namespace cellblock::differential

int main(int argc, char** argv) {
  absl::StatusOr<cellblock::differential::Settings> settings = cellblock::differential::ReadArguments(argc, argv);
  if (!settings.ok()) {
    std::cerr << "cellblock-differential: " << settings.status().message() << "\n";
    return 2;
  }
  return cellblock::differential::Run(*settings);
}
