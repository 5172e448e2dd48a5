// See egress_log.h.
#include "supervise/egress_log.h"

#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "wire/messages.h"

namespace cellblock::supervise {
namespace {

constexpr size_t kNoteBytesMax = 16 * 1024;
constexpr size_t kDenialsMax = 100;  // different ones
constexpr size_t kNotesAtOnceMax = 4096;

int64_t MonotonicNanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::string SubjectOf(const Egress& egress) {
  std::string place = egress.port == 0 ? egress.host : absl::StrCat(egress.host, ":", egress.port);
  if (egress.method.empty()) return egress.protocol == "dns" ? absl::StrCat("lookup of ", place) : place;
  return absl::StrCat(egress.method, " ", egress.protocol, "://", place, egress.path);
}

// Whether an error can have come from a refused or failed connection. Wide: what a client library calls it differs from one to the next.
bool IsOfNetwork(const ErrorInfo& error) {
  for (const char* word : {"onnect", "roxy", "HTTP", "URL", "SSL", "gaierror", "ocket", "imeout", "OSError", "Network", "Remote", "DNS"}) {
    if (absl::StrContains(error.name, word)) return true;
  }
  return absl::StrContains(error.value, "onnection");
}

}  // namespace

EgressLog::EgressLog(EgressLink* link, const Policy& policy, OutputPump& pump, Record& record)
    : link_(link), policy_(policy), pump_(pump), record_(record), start_nanoseconds_(MonotonicNanoseconds()) {
  Read();
}

void EgressLog::Read() {
  if (link_ == nullptr) return;
  std::array<char, kNoteBytesMax> bytes;
  for (size_t i = 0; i < kNotesAtOnceMax; ++i) {
    const ssize_t count = recv(link_->notes_fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count == 0) ended_ = true;
    if (count <= 0) return;
    absl::StatusOr<wire::EgressNote> note = wire::DecodeMessage<wire::EgressNote>(absl::string_view(bytes.data(), static_cast<size_t>(count)));
    if (note.ok()) Handle(*note);
  }
}

void EgressLog::Handle(const wire::EgressNote& note) {
  Egress egress;
  const int64_t since = static_cast<int64_t>(note.monotonic_nanoseconds) - start_nanoseconds_;
  const absl::Duration time = absl::Nanoseconds(std::max<int64_t>(since, 0));
  if (note.has_ended != 0) {
    auto found = open_.find(note.id);
    if (found == open_.end()) return;  // of an earlier call, or left out
    Egress& ended = record_.egress[found->second];
    ended.allowed = note.allowed != 0;
    ended.reason = pump_.Clean(note.reason);
    ended.status = static_cast<int64_t>(note.status);
    ended.sent_bytes = static_cast<int64_t>(note.sent_bytes);
    ended.received_bytes = static_cast<int64_t>(note.received_bytes);
    ended.wall = time - ended.time;
    open_.erase(found);
    if (!ended.allowed) Refused(ended);
    if (!ended.reason.empty()) last_reason_ = ended.reason;
    return;
  }
  egress.protocol = note.protocol;
  egress.host = note.host;
  egress.port = static_cast<int64_t>(note.port);
  egress.method = note.method;
  egress.path = note.path;
  egress.allowed = note.allowed != 0;
  egress.rule = note.rule;
  egress.reason = note.reason;
  egress.secrets = note.secrets;
  egress.time = time;
  if (!egress.allowed) Refused(egress);
  if (record_.egress.size() >= kEgressMax) {
    ++record_.egress_left_out;
    return;
  }
  if (egress.allowed) open_.emplace(note.id, record_.egress.size());
  pump_.AddEgress(std::move(egress));
}

void EgressLog::Refused(const Egress& egress) {
  last_reason_ = pump_.Clean(egress.reason);
  const std::string subject = pump_.Clean(SubjectOf(egress)), rule = pump_.Clean(egress.rule);
  for (Denial& denial : record_.denials) {
    if (denial.kind == "network" && denial.subject == subject && denial.rule == rule) {
      ++denial.count;
      return;
    }
  }
  if (record_.denials.size() < kDenialsMax) record_.denials.push_back({"network", subject, rule, 1});
}

void EgressLog::AddHint() {
  if (!record_.error.has_value() || last_reason_.empty() || !IsOfNetwork(*record_.error)) return;
  record_.error->hint = absl::StrCat("the network of this session: ", last_reason_);
}

void EgressLog::Finish() {
  if (link_ == nullptr) return;
  absl::StatusOr<wire::EgressCount> count = link_->Count();
  Read();
  if (!count.ok()) last_reason_ = "the egress proxy has ended, and with it every connection; a new session has a network again";
  AddHint();
  if (!count.ok()) {
    record_.denials.push_back({"network", "everything", "the egress proxy has ended", 1});
    return;
  }
  record_.receipt.egress_bytes = static_cast<int64_t>(count->bytes);
  record_.egress_left_out += static_cast<int64_t>(count->notes_lost);
  const Network& network = policy_.network;
  if (count->over_bytes > 0) record_.receipt.limits_hit.push_back({"call_bytes", absl::StrCat("traffic was cut at network.call_bytes (", network.call_bytes, " bytes)")});
  if (count->over_requests > 0) {
    record_.receipt.limits_hit.push_back({"requests", absl::StrCat(count->over_requests, " lookups, connections or requests were refused beyond network.requests (", network.requests, ")")});
  }
  if (count->over_connections > 0) {
    record_.receipt.limits_hit.push_back({"connections", absl::StrCat(count->over_connections, " connections were refused beyond network.connections (", network.connections, ")")});
  }
}

}  // namespace cellblock::supervise
