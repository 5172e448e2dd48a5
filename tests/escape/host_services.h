// What a session must not reach of the machine that it runs on: a server on loopback, one under an abstract name, a piece of System V's
// shared memory. Tests only.
#ifndef CELLBLOCK_TESTS_ESCAPE_HOST_SERVICES_H_
#define CELLBLOCK_TESTS_ESCAPE_HOST_SERVICES_H_

#include <netinet/in.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/unique_fd.h"
#include "gtest/gtest.h"

namespace cellblock {

class HostServices {
 public:
  HostServices() : tcp_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), abstract_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(tcp_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(tcp_.get(), 8), 0);
    socklen_t length = sizeof(address);
    EXPECT_EQ(getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
    name_ = absl::StrCat("cellblock-escape-", getpid());
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path + 1, name_.data(), name_.size());
    EXPECT_EQ(bind(abstract_.get(), reinterpret_cast<sockaddr*>(&name), static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size())), 0);
    EXPECT_EQ(listen(abstract_.get(), 8), 0);
    segment_ = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
    EXPECT_GE(segment_, 0);
    arguments_ = {absl::StrCat(ntohs(address.sin_port)), name_, absl::StrCat(segment_)};
  }
  HostServices(const HostServices&) = delete;
  ~HostServices() { shmctl(segment_, IPC_RMID, nullptr); }

  // For a cell: the port, the abstract name, the segment's id.
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  UniqueFd tcp_, abstract_;
  std::string name_;
  int segment_ = -1;
  std::vector<std::string> arguments_;
};

}  // namespace cellblock

#endif  // CELLBLOCK_TESTS_ESCAPE_HOST_SERVICES_H_
