// MIME types by content, with the extension only where the content agrees.
#include "artifact/mime.h"

#include <random>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace cellblock::artifact {
namespace {

using namespace std::string_literals;

TEST(MimeTest, KnowsWhatDataCodeWrites) {
  MimeSniffer sniffer;
  EXPECT_EQ(sniffer.Sniff("\x89PNG\r\n\x1A\n\0\0\0\r", "plot.png"), "image/png");
  EXPECT_EQ(sniffer.Sniff("\xFF\xD8\xFF\xE0\0\x10JFIF"s, "a.jpg"), "image/jpeg");
  EXPECT_EQ(sniffer.Sniff("RIFF\x10\0\0\0WEBPVP8 "s, "a"), "image/webp");
  EXPECT_EQ(sniffer.Sniff("%PDF-1.7\n%\xE2\xE3\xCF\xD3", "report"), "application/pdf");
  EXPECT_EQ(sniffer.Sniff("a,b\n1,2\n", "out/t.CSV"), "text/csv");
  EXPECT_EQ(sniffer.Sniff("caf\xE9;1\n", "latin1.csv"), "text/csv");
  EXPECT_EQ(sniffer.Sniff("\xEF\xBB\xBF" "a,b\n", "bom.csv"), "text/csv");
  EXPECT_EQ(sniffer.Sniff("\xFF\xFE" "a\0,\0"s, "utf16.csv"), "text/csv");
  EXPECT_EQ(sniffer.Sniff("a\tb\n", "t.tsv"), "text/tab-separated-values");
  EXPECT_EQ(sniffer.Sniff("{\"a\": 1}", "t.json"), "application/json");
  EXPECT_EQ(sniffer.Sniff("<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\">", "p.svg"), "image/svg+xml");
  EXPECT_EQ(sniffer.Sniff("<!DOCTYPE html><p>", "page"), "text/html");
  EXPECT_EQ(sniffer.Sniff("plain words", "notes"), "text/plain");
  EXPECT_EQ(sniffer.Sniff("PAR1\x15\x04\0\x15"s, "t.parquet"), "application/vnd.apache.parquet");
  EXPECT_EQ(sniffer.Sniff("PK\x03\x04\x14\0\x06\0"s, "t.xlsx"), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
  EXPECT_EQ(sniffer.Sniff("PK\x03\x04\x14\0"s, "t.zip"), "application/zip");
  EXPECT_EQ(sniffer.Sniff("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "t.xls"), "application/vnd.ms-excel");
  EXPECT_EQ(sniffer.Sniff("SQLite format 3\0\x10\0"s, "t.db"), "application/vnd.sqlite3");
  EXPECT_EQ(sniffer.Sniff("\x93NUMPY\x01\0v\0{'descr'"s, "a.npy"), "application/x-npy");
}

TEST(MimeTest, ContentWinsOverTheName) {
  MimeSniffer sniffer;
  EXPECT_EQ(sniffer.Sniff("\x89PNG\r\n\x1A\n\0\0\0\r", "table.csv"), "image/png");
  EXPECT_EQ(sniffer.Sniff("not an image", "plot.png"), "text/plain");
  EXPECT_EQ(sniffer.Sniff("not a drawing", "plot.svg"), "text/plain");
  EXPECT_EQ(sniffer.Sniff("PAR1 is how this text starts", "a.parquet"), "text/plain");
  EXPECT_EQ(sniffer.Sniff("<html>error</html>", "data.json"), "text/html");
  EXPECT_EQ(sniffer.Sniff("\x01\x02\x03\x04\0\0"s, "data.csv"), "application/octet-stream");
}

TEST(MimeTest, AsksLibmagicForOtherBinaries) {
  MimeSniffer sniffer;
  EXPECT_EQ(sniffer.Sniff("RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xAC\0\0\x88\x58\x01\0\x02\0\x10\0data"s, "tone"), "audio/x-wav");
  EXPECT_EQ(sniffer.Sniff("\0\0\0\x20" "ftypisom\0\0\x02\0isomiso2avc1mp41"s, "film"), "video/mp4");
}

TEST(MimeTest, EmptyFilesGoByName) {
  MimeSniffer sniffer;
  EXPECT_EQ(sniffer.Sniff("", "a.csv"), "text/csv");
  EXPECT_EQ(sniffer.Sniff("", "a.txt"), "text/plain");
  EXPECT_EQ(sniffer.Sniff("", "a"), "application/octet-stream");
}

TEST(MimeTest, LooksAtBoundedBytesAndToleratesACutCharacter) {
  MimeSniffer sniffer;
  std::string head(kMimeHeadBytesMax - 1, 'a');
  EXPECT_EQ(sniffer.Sniff(head + "é", "notes"), "text/plain");
  EXPECT_EQ(sniffer.Sniff(head + "a\0\0"s, "notes"), "text/plain");  // beyond the bound: not seen
  EXPECT_NE(sniffer.Sniff(head + "\0"s, "notes"), "text/plain");
}

TEST(MimeTest, AnyBytesGiveAWellFormedType) {
  MimeSniffer sniffer;
  std::mt19937 random(4);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes;
    for (size_t i = random() % 600; i > 0; --i) bytes.push_back(static_cast<char>(random()));
    std::string mime = sniffer.Sniff(bytes, "x");
    EXPECT_TRUE(absl::StrContains(mime, "/"));
    EXPECT_LE(mime.size(), 127u);
    for (char c : mime) EXPECT_TRUE(c > ' ' && c < 0x7F && c != '"') << mime;
  }
}

}  // namespace
}  // namespace cellblock::artifact
