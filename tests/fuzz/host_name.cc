// Fuzzes names of hosts: what is taken has one spelling, of few characters, and nothing reads it as an address.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "egress/authority.h"
#include "policy/host_name.h"

namespace {

using namespace cellblock;  // NOLINT: one file

void CheckName(const std::string& name) {
  CELLBLOCK_CHECK(!name.empty() && name.size() <= policy::kHostBytesMax);
  CELLBLOCK_CHECK(std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'; }));
  CELLBLOCK_CHECK(name.front() != '.' && name.back() != '.' && !absl::StrContains(name, ".."));
  in_addr v4;
  in6_addr v6;
  CELLBLOCK_CHECK(inet_aton(name.c_str(), &v4) == 0 && inet_pton(AF_INET, name.c_str(), &v4) == 0 && inet_pton(AF_INET6, name.c_str(), &v6) == 0);
  absl::StatusOr<std::string> again = policy::CanonicalHost(name);
  CELLBLOCK_CHECK(again.ok() && *again == name);
  CELLBLOCK_CHECK(policy::HostMatches(name, name));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<std::string> host = policy::CanonicalHost(text);
  if (host.ok()) {
    CheckName(*host);
  } else {
    CELLBLOCK_CHECK(absl::IsInvalidArgument(host.status()) && host.status().message().size() < 1000);
  }
  absl::StatusOr<std::string> pattern = policy::CanonicalHostPattern(text);
  CELLBLOCK_CHECK(!host.ok() || pattern.ok());
  if (pattern.ok()) {
    absl::StatusOr<std::string> again = policy::CanonicalHostPattern(*pattern);
    CELLBLOCK_CHECK(again.ok() && *again == *pattern);
    if (absl::StartsWith(*pattern, "*.")) {
      const std::string suffix = pattern->substr(2);
      CheckName(suffix);
      CELLBLOCK_CHECK(!policy::HostMatches(*pattern, suffix) && policy::HostMatches(*pattern, absl::StrCat("a.", suffix)) && !policy::HostMatches(*pattern, absl::StrCat("a", suffix)));
    }
  }
  absl::StatusOr<egress::Authority> authority = egress::ParseAuthority(text);
  CELLBLOCK_CHECK(!host.ok() || (authority.ok() && authority->host == *host && !authority->port.has_value()));
  if (authority.ok()) {
    CheckName(authority->host);
    CELLBLOCK_CHECK(authority->port != 0);
  }
  return 0;
}
