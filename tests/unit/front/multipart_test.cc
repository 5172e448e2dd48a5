#include "front/http/multipart.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::front {
namespace {

struct Got {
  Part part;
  std::string data;
  bool ended = false;
};

// Reads `body` in pieces of so many bytes.
absl::Status Read(const std::string& body, size_t piece, std::vector<Got>* got) {
  MultipartReader reader("b", {[&](const Part& part) {
                                 got->push_back({part, "", false});
                                 return absl::OkStatus();
                               },
                               [&](absl::string_view data) {
                                 absl::StrAppend(&got->back().data, data);
                                 return absl::OkStatus();
                               },
                               [&] {
                                 got->back().ended = true;
                                 return absl::OkStatus();
                               }});
  for (size_t at = 0; at < body.size(); at += piece) {
    if (absl::Status status = reader.Read(absl::string_view(body).substr(at, piece)); !status.ok()) return status;
  }
  return reader.Finish();
}

constexpr char kTwoParts[] =
    "--b\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{}\r\n"
    "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a \\\"b\\\".csv\"\r\nContent-Type: text/csv\r\n\r\nx\r\n--\r\n-y\r\n\r\n--b--\r\n";

TEST(MultipartTest, GivesTheSamePartsHoweverTheBodyIsCut) {
  for (size_t piece : {1, 2, 3, 7, 64, 4096}) {
    std::vector<Got> got;
    ASSERT_TRUE(Read(kTwoParts, piece, &got).ok()) << piece;
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].part.name, "request");
    EXPECT_FALSE(got[0].part.is_file);
    EXPECT_EQ(got[0].data, "{}");
    EXPECT_EQ(got[1].part.file_name, "a \"b\".csv");
    EXPECT_TRUE(got[1].part.is_file);
    EXPECT_TRUE(got[1].ended);
  }
}

TEST(MultipartTest, QuotesInNamesComeAsBrowsersAndAsOthersSendThem) {
  for (const char* sent : {"a %22b%22.csv", "a \\\"b\\\".csv"}) {
    std::vector<Got> got;
    ASSERT_TRUE(Read(absl::StrCat("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"", sent, "\"\r\n\r\n1\r\n--b--"), 64, &got).ok());
    EXPECT_EQ(got.at(0).part.file_name, "a \"b\".csv") << sent;
  }
  std::vector<Got> got;
  ASSERT_TRUE(Read("--b\r\nContent-Disposition: form-data; name=\"%41\"; filename=\"C:\\x%\"\r\n\r\n1\r\n--b--", 64, &got).ok());
  EXPECT_EQ(got.at(0).part.name, "%41");
  EXPECT_EQ(got.at(0).part.file_name, "C:\\x%");
}

TEST(MultipartTest, TakesAnEmptyPart) {
  std::vector<Got> got;
  ASSERT_TRUE(Read("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\"\r\n\r\n\r\n--b--", 5, &got).ok());
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].data, "");
  EXPECT_TRUE(got[0].ended);
}

TEST(MultipartTest, RefusesABodyThatIsCutShort) {
  const std::string body = kTwoParts;
  for (size_t end = 0; end + 4 < body.size(); ++end) {
    std::vector<Got> got;
    EXPECT_FALSE(Read(body.substr(0, end), 16, &got).ok()) << end;
  }
}

TEST(MultipartTest, RefusesPartsWithoutNamesLongHeadersAndTooManyParts) {
  std::vector<Got> got;
  EXPECT_FALSE(Read("--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--", 64, &got).ok());
  EXPECT_FALSE(Read(absl::StrCat("--b\r\nX: ", std::string(kPartHeaderBytesMax + 1, 'x'), "\r\n\r\n"), 64, &got).ok());
  std::string many;
  for (size_t i = 0; i <= kPartsMax; ++i) many += "--b\r\nContent-Disposition: form-data; name=f\r\n\r\n\r\n";
  EXPECT_FALSE(Read(many + "--b--", 4096, &got).ok());
  EXPECT_FALSE(Read(std::string(3 * kPartHeaderBytesMax, 'x'), 4096, &got).ok());
}

// A bound that looked at what had just come would refuse in pieces what it takes as a whole.
TEST(MultipartTest, BoundsDoNotDependOnHowTheBodyIsCut) {
  const std::string part = "\r\nContent-Disposition: form-data; name=f\r\n\r\n1\r\n--b--";
  const struct {
    std::string body;
    bool taken;
  } cases[] = {{std::string(kPartHeaderBytesMax - 2, 'x') + "\r\n--b" + part, true}, {std::string(kPartHeaderBytesMax - 1, 'x') + "\r\n--b" + part, false},
               {"--b" + std::string(70, ' ') + part, true},                           {"--b" + std::string(71, ' ') + part, false},
               {"--b\r\nX: " + std::string(7000, 'x') + part, true},                  {"--b\r\nX: " + std::string(kPartHeaderBytesMax, 'x') + part, false}};
  for (const auto& expected : cases) {
    for (size_t piece : {size_t{1}, size_t{7}, size_t{4096}, expected.body.size()}) {
      std::vector<Got> got;
      EXPECT_EQ(Read(expected.body, piece, &got).ok(), expected.taken) << expected.body.substr(0, 10) << expected.body.size() << " in pieces of " << piece;
    }
  }
}

TEST(MultipartTest, FindsTheBoundaryOfAContentType) {
  EXPECT_EQ(*BoundaryOf("multipart/form-data; boundary=----x1"), "----x1");
  EXPECT_EQ(*BoundaryOf("Multipart/Form-Data; charset=utf-8; boundary=\"a b\""), "a b");
  EXPECT_EQ(*BoundaryOf("application/json"), "");
  EXPECT_FALSE(BoundaryOf("multipart/form-data").ok());
  EXPECT_FALSE(BoundaryOf(absl::StrCat("multipart/form-data; boundary=", std::string(71, 'x'))).ok());
}

}  // namespace
}  // namespace cellblock::front
