// See network.h.
#include "jail/network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sys/files.h"
#include "sys/mounts.h"
#include "wire/network.h"

namespace cellblock::jail {
namespace {

constexpr int kBacklog = 128;
// Where distributions keep them in one file; the first one that is there counts.
constexpr const char* kSystemCertificates[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
constexpr size_t kCertificatesBytesMax = 1 << 20;

absl::Status WriteNew(const std::string& path, absl::string_view text) {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd fd, sys::Open(path, O_WRONLY | O_CREAT | O_EXCL, 0444));
  return sys::WriteAll(fd.get(), text);
}

sockaddr_in At(uint32_t address, uint16_t port) {
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(address);
  at.sin_port = htons(port);
  return at;
}

absl::StatusOr<UniqueFd> MakeSocket(int type) {
  UniqueFd fd(socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return sys::ErrnoStatus("make a network socket");
  return fd;
}

// netdevice(7). An address of lo makes all of its prefix local (as 127.0.0.1/8 does).
absl::Status SetUpLoopback() {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd fd, MakeSocket(SOCK_DGRAM));
  ifreq device = {};
  std::memcpy(device.ifr_name, "lo", sizeof("lo"));
  device.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(fd.get(), SIOCSIFFLAGS, &device) != 0) return sys::ErrnoStatus("set the loopback device up");
  const std::pair<unsigned long, uint32_t> settings[] = {{SIOCSIFADDR, wire::kNetworkAddress}, {SIOCSIFNETMASK, wire::kNetworkMask}};
  for (const auto& [request, address] : settings) {
    ifreq alias = {};
    std::memcpy(alias.ifr_name, "lo:0", sizeof("lo:0"));
    const sockaddr_in at = At(address, 0);
    std::memcpy(&alias.ifr_addr, &at, sizeof(at));
    if (ioctl(fd.get(), request, &alias) != 0) return sys::ErrnoStatus("give the loopback device its second address");
  }
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> Listen(int type, uint32_t address, uint16_t port) {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd fd, MakeSocket(type));
  const int on = 1;
  if (setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) return sys::ErrnoStatus("set up a network socket");
  const sockaddr_in at = At(address, port);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof(at)) != 0) return sys::ErrnoStatus(absl::StrCat("take port ", port));
  if (type == SOCK_STREAM && listen(fd.get(), kBacklog) != 0) return sys::ErrnoStatus(absl::StrCat("listen on port ", port));
  return fd;
}

}  // namespace

absl::StatusOr<std::vector<UniqueFd>> EnterNetwork(const std::vector<std::string>& ports) {
  CELLBLOCK_RETURN_IF_ERROR(SetUpLoopback());
  std::vector<UniqueFd> sockets;
  CELLBLOCK_ASSIGN_OR_RETURN(sockets.emplace_back(), Listen(SOCK_DGRAM, wire::kNetworkAddress, wire::kResolverPort));
  CELLBLOCK_ASSIGN_OR_RETURN(sockets.emplace_back(), Listen(SOCK_STREAM, wire::kNetworkAddress, wire::kResolverPort));
  CELLBLOCK_ASSIGN_OR_RETURN(sockets.emplace_back(), Listen(SOCK_STREAM, wire::kNetworkAddress, wire::kProxyPort));
  if (ports.size() > wire::kSessionPortsMax) return absl::InvalidArgumentError(absl::StrCat("at most ", wire::kSessionPortsMax, " ports"));
  for (const std::string& text : ports) {
    uint32_t port = 0;
    if (!absl::SimpleAtoi(text, &port) || port == 0 || port > 65535) return absl::InvalidArgumentError("a port is no number");
    CELLBLOCK_ASSIGN_OR_RETURN(sockets.emplace_back(), Listen(SOCK_STREAM, INADDR_ANY, static_cast<uint16_t>(port)));
  }
  return sockets;
}

absl::Status MountNetworkFiles(const std::string& certificates) {
  const std::string folder = "/run";
  CELLBLOCK_RETURN_IF_ERROR(sys::Mount("tmpfs", folder, MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755,size=2m,nr_inodes=16"));
  const std::string resolver = folder + "/resolv.conf";
  CELLBLOCK_RETURN_IF_ERROR(WriteNew(resolver, "nameserver 198.18.0.1\noptions timeout:5 attempts:2\n"));
  if (mount(resolver.c_str(), "/etc/resolv.conf", nullptr, MS_BIND, nullptr) != 0) return sys::ErrnoStatus("bind /etc/resolv.conf");
  CELLBLOCK_RETURN_IF_ERROR(sys::MakeReadOnly("/etc/resolv.conf"));
  if (!certificates.empty()) {
    std::string system;  // none: then the session trusts its own alone, as a machine without any does
    for (const char* path : kSystemCertificates) {
      if (access(path, R_OK) != 0) continue;
      CELLBLOCK_ASSIGN_OR_RETURN(system, sys::ReadFile(path, kCertificatesBytesMax));
      break;
    }
    CELLBLOCK_RETURN_IF_ERROR(WriteNew(wire::kCertificatesPath, absl::StrCat(system, "\n", certificates)));
  }
  return sys::MakeReadOnly(folder);
}

}  // namespace cellblock::jail
