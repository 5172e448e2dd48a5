// What the field reader accepts and refuses.
#include "wire/fields.h"

#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace cellblock::wire {
namespace {

TEST(FieldsTest, GivesBackWhatWasWritten) {
  FieldWriter writer;
  writer.Bytes(7, "text");
  writer.U64(8, std::numeric_limits<uint64_t>::max());
  writer.Bytes(9, "");
  FieldReader reader(writer.data());
  uint16_t tag;
  absl::string_view value;
  uint64_t number = 0;
  ASSERT_TRUE(reader.Next(&tag, &value));
  EXPECT_EQ(tag, 7);
  EXPECT_EQ(value, "text");
  ASSERT_TRUE(reader.Next(&tag, &value));
  EXPECT_EQ(tag, 8);
  ASSERT_TRUE(ParseU64(value, &number));
  EXPECT_EQ(number, std::numeric_limits<uint64_t>::max());
  ASSERT_TRUE(reader.Next(&tag, &value));
  EXPECT_EQ(value, "");
  EXPECT_FALSE(reader.Next(&tag, &value));
  EXPECT_TRUE(reader.status().ok());
}

TEST(FieldsTest, EveryCutIsAnErrorOrTheEnd) {
  FieldWriter writer;
  writer.Bytes(1, "abc");
  writer.Bytes(2, "defg");
  const std::string& whole = writer.data();
  for (size_t length = 0; length <= whole.size(); ++length) {
    FieldReader reader(absl::string_view(whole).substr(0, length));
    uint16_t tag;
    absl::string_view value;
    size_t read = 0;
    while (reader.Next(&tag, &value)) ++read;
    bool at_border = length == 0 || length == 9 || length == whole.size();
    EXPECT_EQ(reader.status().ok(), at_border) << "cut at " << length;
    EXPECT_LE(read, 2u);
  }
}

TEST(FieldsTest, ALengthBeyondTheMessageIsRefused) {
  std::string bytes("\x01\x00\xff\xff\xff\xff" "abc", 9);
  FieldReader reader(bytes);
  uint16_t tag;
  absl::string_view value;
  EXPECT_FALSE(reader.Next(&tag, &value));
  EXPECT_FALSE(reader.status().ok());
}

TEST(FieldsTest, ANumberHasExactlyEightBytes) {
  uint64_t number;
  EXPECT_FALSE(ParseU64("1234567", &number));
  EXPECT_FALSE(ParseU64("123456789", &number));
  EXPECT_TRUE(ParseU64("12345678", &number));
}

}  // namespace
}  // namespace cellblock::wire
