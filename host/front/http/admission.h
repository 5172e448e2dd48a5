// Who may ask: the checks of Host, Origin and token that come before anything else. Supervisor; pure.
#ifndef CELLBLOCK_FRONT_HTTP_ADMISSION_H_
#define CELLBLOCK_FRONT_HTTP_ADMISSION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "front/http/message.h"
#include "service/access.h"

namespace cellblock::front {

class Admission {
 public:
  // `hosts`: names that this server goes by, lower case; empty: any (a unix socket has no name). `tokens`: null when none is asked for.
  Admission(std::vector<std::string> hosts, std::vector<std::string> origins, const service::Tokens* tokens, const service::Token* anonymous)
      : hosts_(std::move(hosts)), origins_(std::move(origins)), tokens_(tokens), anonymous_(anonymous) {}

  // A page of another site that a browser was told to take for this server (DNS rebinding) sends a foreign Host; one that just calls
  // sends its Origin. Neither gets as far as the token. Sets request->token unless the route is open.
  std::optional<HttpReply> Refuse(absl::string_view host, absl::string_view origin, absl::string_view authorization, bool is_open, HttpRequest* request) const;

 private:
  const std::vector<std::string> hosts_, origins_;
  const service::Tokens* const tokens_;
  const service::Token* const anonymous_;
};

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_ADMISSION_H_
