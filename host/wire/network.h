// What a session's network namespace holds, as its maker (cellblock-init), the egress proxy and the supervisor all must know it, and
// the messages between supervisor and proxy. All are trusted; decoding is total all the same.
#ifndef CELLBLOCK_WIRE_NETWORK_H_
#define CELLBLOCK_WIRE_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cellblock::wire {

// In host byte order. Names get addresses from kFirstNameAddress to the end of the range, in the order in which they are asked for.
inline constexpr uint32_t kNetworkAddress = 0xC6120001;   // 198.18.0.1: resolver and HTTP proxy
inline constexpr uint32_t kNetworkMask = 0xFFFE0000;      // /15
inline constexpr uint32_t kFirstNameAddress = 0xC6120100; // 198.18.1.0
inline constexpr uint16_t kResolverPort = 53;
inline constexpr uint16_t kProxyPort = 3128;
inline constexpr char kCertificatesPath[] = "/run/certificates.pem";  // what clients trust, where the session has an authority
inline constexpr size_t kSessionPortsMax = 32;            // of all rules of a policy

// One of Network::allow, or with `label` saying so, of what Network::packages stands for.
struct EgressRule {
  static constexpr uint64_t kType = 80;
  std::string host;
  std::vector<std::string> ports;        // decimal
  uint64_t protocol = 0;                 // NetworkProtocol
  std::vector<std::string> methods, paths, addresses;
  uint64_t has_authorities = 0;          // its file is among the descriptors
  template <typename A>
  void Fields(A& a) {
    a(1, host), a(2, ports), a(3, protocol), a(4, methods), a(5, paths), a(6, addresses), a(7, has_authorities);
  }
};

struct EgressSecret {
  static constexpr uint64_t kType = 81;
  std::string name, host;
  uint64_t port = 0;
  std::string header, query, format;
  std::string variable;                  // of the proxy's environment; empty: the value's file is among the descriptors
  template <typename A>
  void Fields(A& a) {
    a(1, name), a(2, host), a(3, port), a(4, header), a(5, query), a(6, format), a(7, variable);
  }
};

// ---- supervisor → egress proxy ----

// The proxy's first message: lock yourself down. Descriptor: the seccomp program. Answered by a Reply once it is locked.
struct StartEgress {
  static constexpr uint64_t kType = 82;
  std::string spec;                      // confine::EncodeSpec
  template <typename A>
  void Fields(A& a) {
    a(1, spec);
  }
};

// A session's rules. Descriptors: one for each rule with authorities, in order, then one for each secret without a variable. Answered by
// a Reply whose message is an EgressOpened.
struct OpenEgress {
  static constexpr uint64_t kType = 83;
  uint64_t session = 0;                  // the supervisor's number for it
  std::vector<std::string> rules;        // EgressRule
  std::vector<std::string> secrets;      // EgressSecret
  std::string package_url;
  std::vector<std::string> package_hosts, package_addresses;
  uint64_t package_has_authorities = 0;  // their descriptor stands behind those of the rules
  uint64_t call_bytes = 0;
  uint64_t rate_bytes = 0;               // 0: unlimited
  uint64_t connections = 0;
  uint64_t requests = 0;
  uint64_t idle_milliseconds = 0;
  template <typename A>
  void Fields(A& a) {
    a(1, session), a(2, rules), a(3, secrets), a(4, package_url), a(5, package_hosts), a(6, package_addresses), a(7, package_has_authorities), a(8, call_bytes), a(9, rate_bytes),
        a(10, connections), a(11, requests), a(12, idle_milliseconds);
  }
};

// Begin to answer. Descriptors: where to send EgressNotes, then the session's sockets (jail/network.h). Answered by a Reply.
struct ServeEgress {
  static constexpr uint64_t kType = 84;
  uint64_t session = 0;
  std::vector<std::string> ports;        // of the sockets behind the first three
  template <typename A>
  void Fields(A& a) {
    a(1, session), a(2, ports);
  }
};

// A call begins or has ended: counts start anew. Answered by a Reply whose message is an EgressCount, once every note of the call is
// sent.
struct CountEgress {
  static constexpr uint64_t kType = 85;
  uint64_t session = 0;
  template <typename A>
  void Fields(A& a) {
    a(1, session);
  }
};

// Forget a session: its connections end. Answered by a Reply.
struct CloseEgress {
  static constexpr uint64_t kType = 86;
  uint64_t session = 0;
  template <typename A>
  void Fields(A& a) {
    a(1, session);
  }
};

// ---- egress proxy → supervisor ----

struct EgressOpened {
  static constexpr uint64_t kType = 89;
  std::string certificates;              // PEM: the session's own authority, where something is inspected, and those that the rules name
  std::vector<std::string> ports;        // that its network namespace must listen on
  template <typename A>
  void Fields(A& a) {
    a(1, certificates), a(2, ports);
  }
};

struct EgressCount {
  static constexpr uint64_t kType = 87;
  uint64_t bytes = 0;                    // both ways, since the last count
  uint64_t notes_lost = 0;               // the supervisor did not read them in time
  uint64_t over_bytes = 0, over_requests = 0, over_connections = 0;  // how often each limit refused something
  template <typename A>
  void Fields(A& a) {
    a(1, bytes), a(2, notes_lost), a(3, over_bytes), a(4, over_requests), a(5, over_connections);
  }
};

// One lookup, connection or request: once when it is decided, before anything of it is answered, and again with the same id when it has
// ended.
struct EgressNote {
  static constexpr uint64_t kType = 88;
  uint64_t id = 0;                       // counts up within the session
  uint64_t has_ended = 0;
  uint64_t monotonic_nanoseconds = 0;    // CLOCK_MONOTONIC, of this note
  std::string protocol;                  // "dns", "http", "https" (inspected), "tls", "tcp"
  std::string host;
  uint64_t port = 0;
  std::string method, path;              // of requests; the path without its query
  uint64_t allowed = 0;
  std::string rule, reason;              // reason: why it was refused or failed
  uint64_t status = 0;                   // of a response; 0: none
  uint64_t sent_bytes = 0, received_bytes = 0;  // by the session; once it has ended
  std::vector<std::string> secrets;      // names of those that were put in
  template <typename A>
  void Fields(A& a) {
    a(1, id), a(2, has_ended), a(3, monotonic_nanoseconds), a(4, protocol), a(5, host), a(6, port), a(7, method), a(8, path), a(9, allowed), a(10, rule), a(11, reason), a(12, status),
        a(13, sent_bytes), a(14, received_bytes), a(15, secrets);
  }
};

}  // namespace cellblock::wire

#endif  // CELLBLOCK_WIRE_NETWORK_H_
