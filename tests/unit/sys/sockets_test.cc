// Control messages with descriptors: borders kept, sizes bounded, the peer's end seen.
#include "sys/sockets.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "tests/support/status_matchers.h"

namespace cellblock::sys {
namespace {

TEST(SocketsTest, CarriesBytesAndDescriptors) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto pair, MakeSocketPair(SOCK_SEQPACKET));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(PipePair pipe, MakePipe());
  ASSERT_THAT(SendMessage(pair.first.get(), "take this", {pipe.write.get()}), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Message message, ReceiveMessage(pair.second.get()));
  EXPECT_EQ(message.bytes, "take this");
  ASSERT_EQ(message.descriptors.size(), 1u);
  ASSERT_THAT(WriteAll(message.descriptors[0].get(), "x"), IsOk());
  char byte;
  EXPECT_EQ(read(pipe.read.get(), &byte, 1), 1);
}

TEST(SocketsTest, AMessageAtTheMaximumPassesAndOneByteMoreIsRefused) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto pair, MakeSocketPair(SOCK_SEQPACKET));
  EXPECT_THAT(SendMessage(pair.first.get(), std::string(kMessageBytesMax + 1, 'x')), StatusIs(absl::StatusCode::kResourceExhausted, ::testing::HasSubstr("at most")));
  ASSERT_THAT(SendMessage(pair.first.get(), std::string(kMessageBytesMax, 'x')), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Message message, ReceiveMessage(pair.second.get()));
  EXPECT_EQ(message.bytes.size(), kMessageBytesMax);
}

TEST(SocketsTest, SaysWhenThePeerHasGone) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto pair, MakeSocketPair(SOCK_SEQPACKET));
  pair.first.Reset();
  EXPECT_THAT(ReceiveMessage(pair.second.get()), StatusIs(absl::StatusCode::kUnavailable, ::testing::HasSubstr("ended")));
  EXPECT_THAT(SendMessage(pair.second.get(), "x"), StatusIs(absl::StatusCode::kUnavailable, ::testing::HasSubstr("ended")));
}

}  // namespace
}  // namespace cellblock::sys
