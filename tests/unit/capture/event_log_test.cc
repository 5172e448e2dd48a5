// Merging of neighbouring text, and the maximum number of events.
#include "capture/event_log.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace cellblock::capture {
namespace {

using Type = Event::Type;

TEST(EventLogTest, MergesTextOfOneStreamThatComesSoon) {
  EventLog log;
  log.AddText(Type::kStdout, "a", absl::Milliseconds(0), false);
  log.AddText(Type::kStdout, "b", absl::Milliseconds(49), false);
  log.AddText(Type::kStdout, "c", absl::Milliseconds(99), false);
  ASSERT_EQ(log.events().size(), 2u);
  EXPECT_EQ(log.events()[0].text, "ab");
  EXPECT_EQ(log.events()[1].text, "c");
  EXPECT_EQ(log.events()[1].time, absl::Milliseconds(99));
}

TEST(EventLogTest, KeepsOrderBetweenStreamsFramesAndLateText) {
  EventLog log;
  log.AddText(Type::kStdout, "a", absl::ZeroDuration(), false);
  log.AddText(Type::kStderr, "b", absl::ZeroDuration(), false);
  log.AddText(Type::kStdout, "c", absl::ZeroDuration(), false);
  log.AddText(Type::kStdout, "late", absl::ZeroDuration(), true);
  Event display;
  display.type = Type::kDisplay;
  EXPECT_TRUE(log.Add(display));
  log.AddText(Type::kStdout, "d", absl::ZeroDuration(), true);
  log.AddText(Type::kStdout, "", absl::ZeroDuration(), true);
  ASSERT_EQ(log.events().size(), 6u);
  EXPECT_EQ(log.events()[3].text, "late");
  EXPECT_TRUE(log.events()[3].late);
  EXPECT_EQ(log.events()[5].text, "d");
}

TEST(EventLogTest, TextEventsStopAtTheMaximumAndLoseNothing) {
  EventLog log;
  size_t out = 0, err = 0;
  for (size_t i = 0; i < 2 * EventLog::kTextEventsMax; ++i) {
    absl::Duration time = absl::Seconds(static_cast<double>(i));
    log.AddText(Type::kStdout, "o", time, false);
    log.AddText(Type::kStderr, "e", time, false);
  }
  log.AddText(Type::kStdout, "L", absl::Hours(10), true);
  log.AddText(Type::kStderr, "L", absl::Hours(10), true);
  EXPECT_EQ(log.events().size(), EventLog::kTextEventsMax);
  for (const Event& event : log.events()) (event.type == Type::kStdout ? out : err) += event.text.size();
  EXPECT_EQ(out, 2 * EventLog::kTextEventsMax + 1);
  EXPECT_EQ(err, 2 * EventLog::kTextEventsMax + 1);
  EXPECT_TRUE(log.events().back().late);
}

TEST(EventLogTest, SlowTextOfOneStreamMergesFromHalfTheMaximum) {
  EventLog log;
  for (size_t i = 0; i < EventLog::kTextEventsMax; ++i) log.AddText(Type::kStdout, "x", absl::Seconds(static_cast<double>(i)), false);
  EXPECT_EQ(log.events().size(), EventLog::kAlwaysMergeFrom);
}

TEST(EventLogTest, OtherEventsStopAtTheMaximum) {
  EventLog log;
  Event display;
  display.type = Type::kDisplay;
  for (size_t i = 0; i < EventLog::kOtherEventsMax; ++i) ASSERT_TRUE(log.Add(display));
  EXPECT_FALSE(log.Add(display));
  EXPECT_EQ(log.events().size(), EventLog::kOtherEventsMax);
}

// A progress display that clears itself often ends as it must.
TEST(EventLogTest, WhatWasClearedGivesWayAtTheMaximum) {
  for (bool wait : {false, true}) {
    EventLog log;
    Event clear;
    clear.type = Type::kClear;
    clear.wait = wait;
    for (size_t i = 0; i < 3 * EventLog::kOtherEventsMax; ++i) {
      log.AddText(Type::kStdout, absl::StrCat(i, ";"), absl::Seconds(static_cast<double>(i)), false);
      ASSERT_TRUE(log.Add(clear)) << i;
    }
    log.AddText(Type::kStdout, "LAST", absl::Hours(10), false);
    ASSERT_GE(log.events().size(), 2u);
    EXPECT_LE(log.events().size(), EventLog::kTextEventsMax + EventLog::kOtherEventsMax);
    EXPECT_EQ(log.events().back().text, "LAST");
    EXPECT_EQ(log.events()[log.events().size() - 2].type, Type::kClear);
    EXPECT_EQ(log.events()[log.events().size() - 3].text, absl::StrCat(3 * EventLog::kOtherEventsMax - 1, ";"));
  }
}

}  // namespace
}  // namespace cellblock::capture
