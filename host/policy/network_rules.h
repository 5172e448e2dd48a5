// What single values of a policy's network part may be: hosts, addresses, ports, methods, paths, headers, sources of secrets. Each
// function returns what is wrong, or empty. Every process; trusts nothing.
#ifndef CELLBLOCK_POLICY_NETWORK_RULES_H_
#define CELLBLOCK_POLICY_NETWORK_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cellblock::policy {

// A canonical name (host_name.h), or "*." and one.
std::string HostPatternProblem(absl::string_view host);
// A canonical name.
std::string HostProblem(absl::string_view host);
// An address or a range that a policy may open (address.h), in the spelling in which it is printed.
std::string AddressProblem(absl::string_view range);
// 1 – 65535 but for 53: that is the session's own resolver.
std::string PortProblem(int64_t port);
// An HTTP method in capitals, at most 32 bytes; not CONNECT, TRACE or TRACK.
std::string MethodProblem(absl::string_view method);
// The start of a path, 1 – 1,024 bytes of printable ASCII: begins with "/"; no empty, "." or ".." part within, no "%", "?", "#", "\".
std::string PathPrefixProblem(absl::string_view path);
// The name of a header that a secret may go into: a token of at most 64 bytes, none that is about the connection or the message's form.
std::string HeaderProblem(absl::string_view header);
// The name of a query parameter, 1 – 64 letters, digits, "-", ".", "_" and "~": no other needs no encoding.
std::string QueryProblem(absl::string_view query);
// Printable ASCII with "{secret}" in it once, at most 256 bytes.
std::string FormatProblem(absl::string_view format);
// The variable of a secret's placeholder: [A-Za-z_][A-Za-z0-9_]*, at most 64 bytes.
std::string SecretNameProblem(absl::string_view name);
// "file:/path", "env:NAME" or "credential:NAME". What it returns never holds the text: somebody may have written the value itself.
std::string SourceProblem(absl::string_view source);
// ParseIndexUrl() of package_index.h. What it returns never holds the text either.
std::string IndexUrlProblem(absl::string_view url);

// Whether there are addresses, and each is a single one of this machine's loopback: nothing sent there leaves it.
bool AreFixedLoopback(const std::vector<std::string>& addresses);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_NETWORK_RULES_H_
