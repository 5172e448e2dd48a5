// See admission.h.
#include "front/http/admission.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "front/http/target.h"

namespace cellblock::front {
namespace {

bool Holds(const std::vector<std::string>& list, absl::string_view text) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& item) { return absl::EqualsIgnoreCase(item, text); });
}

}  // namespace

std::optional<HttpReply> Admission::Refuse(absl::string_view host, absl::string_view origin, absl::string_view authorization, bool is_open, HttpRequest* request) const {
  if (!hosts_.empty() && !Holds(hosts_, HostOf(host))) {
    return ProblemReply(421, "host_not_served", absl::StrCat("this server does not go by the name \"", absl::Utf8SafeCHexEscape(host.substr(0, 100)), "\" (Host); its operator can add it (--host)"), request->id);
  }
  if (!origin.empty() && !Holds(origins_, origin)) {
    return ProblemReply(403, "origin_not_allowed", absl::StrCat("pages of \"", absl::Utf8SafeCHexEscape(origin.substr(0, 100)), "\" may not call this server (Origin); its operator can allow it (--origin)"), request->id);
  }
  if (is_open) return std::nullopt;
  if (tokens_ == nullptr) {
    request->token = anonymous_;
    return std::nullopt;
  }
  const bool is_bearer = absl::StartsWithIgnoreCase(authorization, "Bearer ");
  if (is_bearer) request->token = tokens_->Find(absl::StripAsciiWhitespace(authorization.substr(7)));
  if (request->token != nullptr) return std::nullopt;
  return ProblemReply(401, "unauthenticated", is_bearer ? "the token is not known here" : "a token is wanted: Authorization: Bearer …", request->id);
}

}  // namespace cellblock::front
