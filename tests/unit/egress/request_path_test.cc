// Paths of requests: prefixes at a "/", and no path that one server reads as this and another as that.
#include "egress/request_path.h"

#include "gtest/gtest.h"

namespace cellblock::egress {
namespace {

TEST(PathOfTest, IsTheTargetWithoutItsQuery) {
  EXPECT_EQ(PathOf("/a/b?c=/d?e"), "/a/b");
  EXPECT_EQ(PathOf("/"), "/");
  EXPECT_EQ(PathOf(""), "/");
  EXPECT_EQ(PathOf("?x"), "/");
  EXPECT_EQ(PathOf("*"), "*");
}

TEST(PathFitsTest, EndsAtASlash) {
  struct Case {
    absl::string_view prefix, path;
    bool fits;
  };
  const Case cases[] = {{"/v1", "/v1", true},      {"/v1", "/v1/", true},    {"/v1", "/v1/x", true},   {"/v1", "/v10", false},    {"/v1", "/v", false},   {"/v1", "/V1", false},
                        {"/v1", "/v1;x", false},   {"/v1", "/x/v1", false},  {"/v1/", "/v1", false},   {"/v1/", "/v1/", true},    {"/v1/", "/v1/x", true}, {"/v1/", "/v10/", false},
                        {"/", "/", true},          {"/", "/x", true},        {"/", "*", false},        {"/a/b", "/a/b/c", true},  {"/a/b", "/a/bc", false}, {"/a%20b", "/a%20b/c", true}};
  for (const Case& one : cases) EXPECT_EQ(PathFits(one.prefix, one.path), one.fits) << one.prefix << " " << one.path;
}

TEST(PathAmbiguityTest, OrdinaryPathsHaveNone) {
  for (absl::string_view path : {"/", "/v1/items", "/v1/items/", "/a.b/c..d/.e/f./...", "/caf%C3%A9%20x", "/a;b=c/d", "/a:b@c,d!$&'()*+=", "/~user/%7Euser", "/100%25", "/a%25", "/%2525", "*"}) {
    EXPECT_EQ(PathAmbiguity(path), "") << path;
  }
}

TEST(PathAmbiguityTest, WhatServersReadDifferentlyIsNamed) {
  for (absl::string_view path : {"/v1/../admin", "/..", "/v1/..", "/./v1", "/v1/.", "/v1/..;/admin", "/v1/..;x=y/admin", "/.;/", "//v1", "/v1//x", "/v1\\x", "\\v1", "/v1/%2e%2e/x", "/v1/.%2E/x",
                                 "/v1%2fx", "/v1%2Fx", "/v1%5cx", "/v1%5Cx", "/v1%00", "/%252e", "/%25252F", "/v1%c0%af", "/v1%C1%9c", "/%", "/%4", "/%zz", "/%u002f", "/a%2e", "/%2"}) {
    EXPECT_NE(PathAmbiguity(path), "") << path;
  }
}

}  // namespace
}  // namespace cellblock::egress
