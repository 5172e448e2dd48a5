// Bodies on their way in: JSON in memory up to a limit, files on the disk with their hash, and under no name there.
#include "front/http/body_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "service/errors.h"
#include "sys/files.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/policy/temp_directory.h"

namespace cellblock::front {
namespace {

using ::testing::HasSubstr;

class BodySinkTest : public ::testing::Test {
 protected:
  static std::string ContentOf(const ReceivedFile& file) { return *sys::ReadAll(file.content.get(), 1 << 20); }
  policy::TempDirectory folder_;
  HttpRequest request_;
};

TEST_F(BodySinkTest, KeepsJsonUpToItsBoundAndNoByteMore) {
  BodySink sink(folder_.path(), 8);
  EXPECT_THAT(sink.Write("1234"), IsOk());
  EXPECT_THAT(sink.Write("5678"), IsOk());
  const absl::Status more = sink.Write("9");
  EXPECT_THAT(more, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 8 bytes")));
  EXPECT_EQ(service::CodeOf(more), "body_too_large");
  ASSERT_THAT(sink.Finish(&request_), IsOk());
  EXPECT_EQ(request_.body, "12345678");
}

TEST_F(BodySinkTest, AFileGoesToTheDiskWithItsHashAndWithoutAName) {
  BodySink sink(folder_.path(), 8);
  ASSERT_THAT(sink.BeginFile("a/b.csv"), IsOk());
  EXPECT_THAT(sink.Write("hello "), IsOk());
  EXPECT_THAT(sink.Write("world"), IsOk()) << "the bound is of JSON alone";
  ASSERT_THAT(sink.Finish(&request_), IsOk());
  ASSERT_EQ(request_.files.size(), 1u);
  EXPECT_EQ(request_.files[0].path, "a/b.csv");
  EXPECT_EQ(request_.files[0].size_bytes, 11);
  EXPECT_EQ(request_.files[0].sha256, "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9");
  EXPECT_EQ(ContentOf(request_.files[0]), "hello world");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(BodySinkTest, AnEmptyFileIsAFile) {
  BodySink sink(folder_.path(), 8);
  ASSERT_THAT(sink.BeginFile("a"), IsOk());
  ASSERT_THAT(sink.Finish(&request_), IsOk());
  ASSERT_EQ(request_.files.size(), 1u);
  EXPECT_EQ(request_.files[0].size_bytes, 0);
}

std::string PartOf(const std::string& disposition, const std::string& content) { return absl::StrCat("--b\r\nContent-Disposition: form-data; ", disposition, "\r\n\r\n", content, "\r\n"); }

TEST_F(BodySinkTest, AFieldsNameSaysWhereItsFileGoesUnlessItIsCalledFile) {
  BodySink sink(folder_.path(), 64);
  ASSERT_THAT(sink.BeginMultipart("b"), IsOk());
  const std::string body = absl::StrCat(PartOf("name=\"request\"", "{}"), PartOf("name=\"file\"; filename=\"été.csv\"", "1"), PartOf("name=\"data/a.csv\"; filename=\"x\"", "22"), "--b--");
  for (char c : body) ASSERT_THAT(sink.Write(absl::string_view(&c, 1)), IsOk());
  ASSERT_THAT(sink.Finish(&request_), IsOk());
  EXPECT_EQ(request_.body, "{}");
  ASSERT_EQ(request_.files.size(), 2u);
  EXPECT_EQ(request_.files[0].path, "été.csv");
  EXPECT_EQ(request_.files[1].path, "data/a.csv");
  EXPECT_EQ(ContentOf(request_.files[1]), "22");
}

TEST_F(BodySinkTest, FieldsOfNoMeaningASecondRequestAndALongOneAreRefused) {
  auto read = [&](const std::string& body) {
    BodySink sink(folder_.path(), 8);
    EXPECT_THAT(sink.BeginMultipart("b"), IsOk());
    absl::Status status = sink.Write(body);
    return status.ok() ? sink.Finish(&request_) : status;
  };
  const std::string one = PartOf("name=request", "{}");
  EXPECT_THAT(read(one + "--b--"), IsOk());
  EXPECT_THAT(read(one + PartOf("name=other", "1") + "--b--"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has no meaning here")));
  EXPECT_THAT(read(one + one + "--b--"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("twice")));
  EXPECT_THAT(read(PartOf("name=request", "") + one + "--b--"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("twice"))) << "be the first one empty";
  EXPECT_THAT(read(PartOf("name=request", "123456789") + "--b--"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 8")));
  EXPECT_THAT(read(one), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ends before")));
}

TEST_F(BodySinkTest, MoreFilesThanMayComeAtOnceAreRefused) {
  BodySink sink(folder_.path(), 8);
  ASSERT_THAT(sink.BeginMultipart("b"), IsOk());
  for (size_t i = 0; i < kFilesMax; ++i) ASSERT_THAT(sink.Write(PartOf("name=file; filename=a", "1")), IsOk()) << i;
  EXPECT_THAT(sink.Write(PartOf("name=file; filename=a", "1")), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("files")));
}

TEST_F(BodySinkTest, EachFileHasItsLimitAndAllTogetherTheirShare) {
  IncomingBytes all(10);
  IncomingBytes::Share share(all), other(all);
  const auto limit = [] { return service::UploadLimit{6, service::Error(absl::StatusCode::kResourceExhausted, "file_too_large", "six bytes")}; };
  BodySink first(folder_.path(), 8);
  first.LimitFiles(limit(), &share);
  ASSERT_THAT(first.BeginFile("a"), IsOk());
  EXPECT_THAT(first.Write("123456"), IsOk());
  EXPECT_THAT(first.Write("7"), StatusIs(absl::StatusCode::kResourceExhausted, "six bytes"));
  EXPECT_THAT(other.Hold(5), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("10 bytes together")));
  EXPECT_THAT(other.Hold(4), IsOk());
  EXPECT_THAT(other.Hold(2), IsOk()) << "it has them";
  BodySink second(folder_.path(), 8);
  second.LimitFiles(limit(), &other);
  ASSERT_THAT(second.BeginFile("a"), IsOk());
  EXPECT_THAT(second.Write("1234"), IsOk());
  EXPECT_THAT(second.Write("5"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--incoming-bytes")));
  share.GiveBack();
  EXPECT_THAT(second.Write("56"), IsOk());
  IncomingBytes::Share third(all);
  EXPECT_THAT(third.Hold(4), IsOk());
  EXPECT_THAT(third.Hold(5), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("try again")));
}

TEST_F(BodySinkTest, AFolderThatCannotBeWrittenToIsTheServersError) {
  BodySink sink("/nonexistent", 8);
  EXPECT_FALSE(sink.BeginFile("a").ok());
  EXPECT_THAT(BodySink(folder_.path(), 8).BeginFile("a"), IsOk());
}

}  // namespace
}  // namespace cellblock::front
