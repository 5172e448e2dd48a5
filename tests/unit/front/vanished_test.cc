// Clients that go away while their call runs: it is taken back, once, and nobody else's is.
#include "front/http/vanished.h"

#include <sys/socket.h>

#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::front {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Connection {
  Connection() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    server.Reset(ends[0]);
    client.Reset(ends[1]);
  }
  UniqueFd server, client;
};

class VanishedTest : public ::testing::Test {
 protected:
  std::vector<std::string> cancelled_;
  VanishedClients clients_{[this](const std::string& id) { cancelled_.push_back(id); }};
};

TEST_F(VanishedTest, TheCallOfAClientThatIsGoneIsTakenBackOnce) {
  Connection gone, stays;
  VanishedClients::Watch first(clients_, gone.server.get()), second(clients_, stays.server.get());
  first.Began("x-1");
  second.Began("x-2");
  clients_.Look();
  EXPECT_THAT(cancelled_, IsEmpty());
  gone.client.Reset();
  clients_.Look();
  clients_.Look();
  EXPECT_THAT(cancelled_, ElementsAre("x-1")) << "a second interrupt would kill what may be ending by itself";
}

TEST_F(VanishedTest, AClientThatClosesItsSendingHalfCountsAsGone) {
  Connection connection;
  VanishedClients::Watch watch(clients_, connection.server.get());
  watch.Began("x-1");
  ASSERT_EQ(shutdown(connection.client.get(), SHUT_WR), 0);
  clients_.Look();
  EXPECT_THAT(cancelled_, ElementsAre("x-1"));
}

TEST_F(VanishedTest, OneThatSendsItsNextRequestEarlyIsStillThere) {
  Connection connection;
  VanishedClients::Watch watch(clients_, connection.server.get());
  watch.Began("x-1");
  ASSERT_EQ(send(connection.client.get(), "GET", 3, 0), 3);
  clients_.Look();
  EXPECT_THAT(cancelled_, IsEmpty());
}

TEST_F(VanishedTest, BeforeItsCallIsKnownAndAfterItsEndNothingIsTakenBack) {
  Connection connection;
  {
    VanishedClients::Watch watch(clients_, connection.server.get());
    connection.client.Reset();
    clients_.Look();
    EXPECT_THAT(cancelled_, IsEmpty());
    watch.Began("x-1");
    clients_.Look();
    EXPECT_THAT(cancelled_, ElementsAre("x-1")) << "a client that was gone before is noticed as soon as its call is known";
  }
  {
    VanishedClients::Watch watch(clients_, connection.server.get());
    watch.Began("x-2");
  }
  clients_.Look();
  EXPECT_THAT(cancelled_, ElementsAre("x-1"));
}

TEST_F(VanishedTest, ItsCancelMayTouchTheClients) {
  Connection connection;
  std::optional<VanishedClients> clients;
  int cancels = 0;
  clients.emplace([&](const std::string&) {
    VanishedClients::Watch another(*clients, connection.server.get());
    ++cancels;
  });
  VanishedClients::Watch watch(*clients, connection.server.get());
  watch.Began("x-1");
  connection.client.Reset();
  clients->Look();
  EXPECT_EQ(cancels, 1);
}

}  // namespace
}  // namespace cellblock::front
