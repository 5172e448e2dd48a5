// What PrintPolicy prints loads back to an equal policy, whatever texts it holds.
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/load/load.h"
#include "policy/print.h"
#include "tests/support/status_matchers.h"

namespace cellblock::policy {
namespace {

void ExpectRoundTrip(const Policy& policy) {
  ASSERT_THAT(ValidatePolicy(policy), IsOk());
  std::string text = PrintPolicy(policy);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy loaded, LoadPolicyText(text, "p.yaml", ""));
  EXPECT_TRUE(loaded.policy == policy) << text << DiffPolicies(policy, loaded.policy);
}

TEST(RoundTripTest, KeepsTheDefaults) { ExpectRoundTrip(Policy{}); }

TEST(RoundTripTest, KeepsEveryKindOfValue) {
  Policy policy;
  policy.name = "123";
  policy.limits.wall = absl::Milliseconds(100'001);
  policy.limits.cpu = absl::Hours(3);
  policy.limits.memory_bytes = (int64_t{1} << 30) + 1;
  policy.determinism.seed = 18446744073709551615u;
  policy.isolation.memory = MemoryRequirement::kEnforced;
  policy.isolation.landlock = Requirement::kRequired;
  policy.isolation.extra_syscalls = {"mlock2"};
  policy.artifacts.include.clear();
  policy.files.directory = "/srv/none";
  policy.files.mounts = {{"/srv/a: b", "/data"}, {"/srv/{x}", "/[y]"}, {"/srv/#", "/'\""}};
  policy.python.preload.clear();
  policy.keep_processes = true;
  ExpectRoundTrip(policy);
}

TEST(RoundTripTest, KeepsTheNetwork) {
  Policy policy;
  policy.network.connections = 1;  // off, but not as it is by default
  ExpectRoundTrip(policy);
  policy.network.allow.resize(3);
  policy.network.allow[0].host = "*.example.com";
  policy.network.allow[1] = {"no", {1, 65535}, NetworkProtocol::kTls, {"NO", "Y", "M-SEARCH", "*"}, {"/", "/a;b=c,d", "/'\"", "/{x}", "/[y]/&a*"}, {"::1", "127.0.0.1"}, "/etc/a: b.pem"};
  policy.network.allow[2] = {"xn--a", {8080}, NetworkProtocol::kHttp, {}, {}, {"10.0.0.0/8", "fd00::/8"}, ""};
  policy.network.secrets = {{"Y", "a.example.com", 443, "", "a~b", "{secret}", "env:NO"},
                            {"NO", "no", 65535, "*", "", " # {secret}: \"\\' ", "credential:-"},
                            {"_", "no", 65535, "off", "", "{{secret}}", "file:/a b/#c"}};
  policy.network.packages = {"https://no:8443/a,b/", {"*.no"}, {"127.0.0.1"}, "/x"};
  policy.network.call_bytes = 1025;
  policy.network.rate_bytes = 1024;
  policy.network.idle = absl::Milliseconds(1001);
  ExpectRoundTrip(policy);
}

TEST(RoundTripTest, KeepsOddTexts) {
  Policy policy;
  const std::vector<std::string> odd = {
      "true",     "null",   "none",   "~",      "NO",         "1e3",    "0x10", "-",    "- a",  "a: b",     "a #b", "#",    "*", "&a",
      "!!python", "%",      "@",      "`",      "{}",         "[]",     "a,b",  "'",    "\"",   "\\",       "\\n",  "?",    "|", ">",
      " a",       "a ",     "  ",     "<<",     "---",        "...",    "\n",   "a\n",  "\na",  "a\n\nb\n", "\t",   "a\tb", "ü", "数据",
      "📈",        "\u202e", "\u2028", "\ufeff", "\U0001FFFE", "\u00a0", "",     "2GiB", "120s", "off",      "=",    "key:", ":", "!"};
  for (size_t i = 0; i < odd.size(); ++i) {
    policy.environment.emplace_back(absl::StrCat("V", i), odd[i]);
    policy.redact.push_back(absl::StrCat("text", odd[i]));
  }
  policy.environment.emplace_back("NO", "x");
  policy.environment.emplace_back("null", "x");
  policy.redact.resize(64, "");
  policy.redact.erase(policy.redact.begin() + static_cast<std::ptrdiff_t>(odd.size()), policy.redact.end());
  ExpectRoundTrip(policy);
}

TEST(RoundTripTest, KeepsRandomTexts) {
  std::mt19937 random(20240501);  // NOLINT: the same texts every time
  auto character = [&] {
    while (true) {
      uint32_t code = random() % 4 == 0 ? random() % 0x110000 : 0x20 + random() % 0x300;
      if (code < 0x20 || (code >= 0x7F && code <= 0x9F) || (code >= 0xD800 && code <= 0xDFFF)) continue;
      std::string out;
      if (code < 0x80) return std::string(1, static_cast<char>(code));
      if (code >= 0x10000) out += static_cast<char>(0xF0 | code >> 18);
      if (code >= 0x10000) out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
      if (code >= 0x800 && code < 0x10000) out += static_cast<char>(0xE0 | code >> 12);
      out += code >= 0x800 ? static_cast<char>(0x80 | (code >> 6 & 0x3F)) : static_cast<char>(0xC0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 0x3F));
      return out;
    }
  };
  for (int round = 0; round < 200; ++round) {
    Policy policy;
    for (int i = 0; i < 8; ++i) {
      std::string text;
      for (unsigned n = random() % 40; n > 0; --n) text += random() % 16 == 0 ? "\n" : random() % 16 == 0 ? "\t" : character();
      policy.environment.emplace_back(absl::StrCat("V", i), text);
      policy.redact.push_back(absl::StrCat("t", i, "xx", text));
    }
    ExpectRoundTrip(policy);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace cellblock::policy
