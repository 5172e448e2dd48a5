// Messages: what is written comes back, and everything else is refused.
#include "wire/messages.h"

#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MessagesTest, EveryKindOfFieldComesBack) {
  ExecuteCell cell;
  cell.code = std::string("print(1)\n\xc3\xa9\x00z", 13);
  cell.arguments = {"a", "", "c"};
  cell.call = 42;
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ExecuteCell back, DecodeBody<ExecuteCell>(EncodeBody(cell)));
  EXPECT_EQ(back.code, cell.code);
  EXPECT_THAT(back.arguments, ElementsAre("a", "", "c"));
  EXPECT_EQ(back.call, 42u);
  EXPECT_EQ(back.file_name, "");
}

TEST(MessagesTest, ControlMessagesCarryTheirType) {
  KillOthers request;
  request.worker_pid = 2;
  std::string bytes = EncodeMessage(request);
  EXPECT_EQ(MessageType(bytes), KillOthers::kType);
  EXPECT_THAT(DecodeMessage<KillOthers>(bytes), IsOk());
  EXPECT_THAT(DecodeMessage<SignalGroup>(bytes), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a message of type 18")));
  EXPECT_EQ(MessageType("nonsense"), 0u);
  EXPECT_EQ(MessageType(""), 0u);
}

TEST(MessagesTest, MissingRepeatedAndUnknownFieldsAreRefused) {
  FieldWriter missing;
  missing.U64(1, 0);
  EXPECT_THAT(DecodeBody<CellDone>(missing.data()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("missing")));
  CellDone done;
  FieldWriter again;
  again.U64(1, 0);
  EXPECT_THAT(DecodeBody<CellDone>(EncodeBody(done) + again.data()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("twice")));
  FieldWriter unknown;
  unknown.U64(99, 0);
  EXPECT_THAT(DecodeBody<CellDone>(EncodeBody(done) + unknown.data()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("unknown field")));
}

TEST(MessagesTest, ANumberInTextsPlaceIsText_ButTextInANumbersPlaceIsRefused) {
  FieldWriter text;
  text.Bytes(1, "abc");
  EXPECT_THAT(DecodeBody<GuestClear>(text.data()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no number")));
}

TEST(MessagesTest, AListAtItsMaximumIsTakenAndOneMoreIsRefused) {
  GuestOutput output;
  output.mime.assign(kListEntriesMax, "x");
  EXPECT_THAT(DecodeBody<GuestOutput>(EncodeBody(output)), IsOk());
  output.mime.push_back("x");
  EXPECT_THAT(DecodeBody<GuestOutput>(EncodeBody(output)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 4096")));
}

TEST(MessagesTest, StatusesTravel) {
  absl::Status status = absl::FailedPreconditionError("no user namespaces");
  EXPECT_EQ(StatusOf(ReplyFor(status)), status);
  EXPECT_TRUE(StatusOf(ReplyFor(absl::OkStatus())).ok());
  Reply odd;
  odd.code = 4711;
  EXPECT_EQ(StatusOf(odd).code(), absl::StatusCode::kUnknown);
}

TEST(MessagesTest, DecodingIsTotal) {
  std::mt19937 random(7);
  std::string good = EncodeBody(GuestError{});
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    (void)DecodeBody<GuestError>(bytes);
    (void)DecodeMessage<ForkWorker>(bytes);
  }
}

}  // namespace
}  // namespace cellblock::wire
