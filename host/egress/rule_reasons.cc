// See rule_reasons.h.
#include "egress/rule_reasons.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "egress/http_fields.h"
#include "egress/http_head.h"

namespace cellblock::egress {
namespace {

using Rules = std::vector<const PreparedRule*>;

// The first kListedMax of what `text_of` makes of the items, each text once.
template <typename Items, typename TextOf>
std::string Listed(const Items& items, absl::string_view between, const TextOf& text_of) {
  std::vector<std::string> texts;
  for (const auto& item : items) {
    std::string text = text_of(item);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
  }
  std::string list;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i == kListedMax) return absl::StrCat(list, between, "…");
    absl::StrAppend(&list, i == 0 ? "" : between, texts[i]);
  }
  return list;
}

std::string Ports(const NetworkRule& rule) {
  return absl::StrCat(rule.ports.size() == 1 ? "port " : "ports ", Listed(rule.ports, ", ", [](int64_t port) { return absl::StrCat(port); }));
}

std::string Requests(const NetworkRule& rule) {
  std::string text;
  if (!rule.methods.empty()) text = absl::StrCat("methods ", Listed(rule.methods, ", ", [](const std::string& method) { return method; }));
  if (!rule.paths.empty()) absl::StrAppend(&text, text.empty() ? "" : "; ", "paths ", Listed(rule.paths, ", ", [](const std::string& path) { return path; }));
  return text;
}

std::string Schemes(const NetworkRule& rule, uint16_t port) {
  if (rule.protocol == NetworkProtocol::kHttp || (rule.protocol == NetworkProtocol::kAny && port == 80)) return "plain HTTP alone: use http://";
  if (rule.protocol == NetworkProtocol::kTls || port == 443) return "TLS alone: use https://";
  return "HTTP and TLS alone, since it names methods or paths";
}

// "network.allow[0] (ports 443) or network.allow[2] (ports 80, 443)".
template <typename Detail>
std::string Each(const Rules& rules, const Detail& detail) {
  return Listed(rules, " or ", [&detail](const PreparedRule* rule) { return absl::StrCat(rule->key, " (", detail(rule->rule), ")"); });
}

std::string Sources(const std::vector<PreparedRule>& rules) {
  const bool has_allow = absl::StartsWith(rules.front().key, "network.allow"), has_packages = absl::StartsWith(rules.back().key, "network.packages");
  return has_allow && has_packages ? "network.allow and network.packages" : has_allow ? "network.allow" : "network.packages";
}

// The rule, where there is one alone.
std::string Place(const Rules& rules) {
  if (rules.size() == 1) return rules.front()->Label();
  return absl::StartsWith(rules.front()->key, "network.allow") ? "network.allow" : "network.packages";
}

std::string MethodOf(const Request& request) { return IsToken(request.method) && request.method.size() <= kMethodBytesMax ? std::string(request.method) : Shown(request.method); }

Verdict Refused(std::string rule, std::string reason) { return {.allowed = false, .rule = std::move(rule), .reason = std::move(reason)}; }

}  // namespace

Verdict UnknownHost(const std::vector<PreparedRule>& rules, absl::string_view host) {
  if (rules.empty()) return Refused("network: off", absl::StrCat(Shown(host), " cannot be reached: this session has no network (network: off)"));
  const std::string sources = Sources(rules);
  std::string reason = absl::StrCat(Shown(host), " is not among the hosts of ", sources, " (", Listed(rules, ", ", [](const PreparedRule& rule) { return rule.rule.host; }), ")");
  const std::string below = absl::StrCat("*.", host);
  const bool only_below = std::any_of(rules.begin(), rules.end(), [&below](const PreparedRule& rule) { return rule.rule.host == below; });
  if (only_below) absl::StrAppend(&reason, "; \"", below, "\" stands for the names below it, not for itself");
  return Refused(absl::StartsWith(sources, "network.allow") ? "network.allow" : sources, std::move(reason));
}

Verdict UnknownPort(const Rules& rules, absl::string_view host, uint16_t port) {
  return Refused(Place(rules), absl::StrCat("port ", port, " of ", host, " is not in ", Each(rules, Ports)));
}

Verdict WrongScheme(const Rules& rules, const Request& request) {
  const absl::string_view what = request.scheme == Scheme::kHttp ? "plain HTTP" : request.scheme == Scheme::kTls ? "TLS" : "a connection that is neither HTTP nor TLS";
  return Refused(Place(rules), absl::StrCat(what, " to ", request.host, ":", request.port, " is not in ", Each(rules, [&](const NetworkRule& rule) { return Schemes(rule, request.port); })));
}

Verdict NeverMethod(const Request& request) {
  return Refused("network", absl::StrCat("the method ", MethodOf(request), " is refused everywhere: it would show or lead around what the proxy adds and checks"));
}

Verdict WrongRequest(const Rules& rules, const Request& request) {
  return Refused(Place(rules), absl::StrCat(MethodOf(request), " of ", Shown(request.path), " at ", request.host, " is not in ", Each(rules, Requests)));
}

Verdict AmbiguousPath(const Rules& rules, const Request& request) {
  return Refused(Place(rules), absl::StrCat("the path ", Shown(request.path), " has ", PathAmbiguity(request.path), ", which servers read differently: ", Each(rules, Requests), " takes none such"));
}

Verdict WrongAddress(const Rules& rules, absl::string_view host, const policy::Address& address, const std::vector<policy::Address>& fixed) {
  const absl::string_view kind = policy::SpecialUse(address);
  std::string reason = absl::StrCat(host, " leads to ", address.ToString(), kind.empty() ? "" : absl::StrCat(" (", kind, ")"));
  if (policy::NeverAllowed(address)) {
    absl::StrAppend(&reason, ", which no policy can open");
  } else if (!fixed.empty()) {
    absl::StrAppend(&reason, ", which is not among its fixed addresses (", Listed(fixed, ", ", [](const policy::Address& one) { return one.ToString(); }), ")");
  } else {
    absl::StrAppend(&reason, ", which is no public address and not in the addresses of ", Listed(rules, " or ", [](const PreparedRule* rule) { return rule->key; }));
  }
  return Refused(Place(rules), std::move(reason));
}

}  // namespace cellblock::egress
