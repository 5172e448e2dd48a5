// The order of events, what receipts say, and what happens to threads and processes that outlive their call. Tests only.
#include "absl/strings/str_cat.h"
#include "tests/support/helper_processes.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class EventsTest : public SessionTest {};

TEST_F(EventsTest, TextOfBothStreamsAndDisplaysComeInTheOrderOfTheCode) {
  Record record = Run(R"(
import sys
print('a')
display('one')
print('b', file=sys.stderr)
print('c')
sys.stdout.write('d')
sys.stderr.write('e')
display('two')
print('f')
'value')");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(EventLine(record), "stdout:a\n|display|stderr:b\n|stdout:c\nd|stderr:e|display|stdout:f\n|result");
  EXPECT_EQ(record.stdout_text, "a\nc\ndf\n");
  EXPECT_EQ(record.stderr_text, "b\ne");
  ASSERT_EQ(record.results.size(), 3u);
  EXPECT_EQ(MimeOf(record, 0, "text/plain"), "'one'");
  EXPECT_FALSE(record.results[1].is_value);
  EXPECT_TRUE(record.results[2].is_value);
}

TEST_F(EventsTest, ManySwitchesBetweenTheStreamsKeepTheirOrder) {
  Record record = Run("import sys\nfor i in range(200):\n    print(i, file=sys.stdout)\n    print(i, file=sys.stderr)");
  std::string expected;
  for (int i = 0; i < 200; ++i) absl::StrAppend(&expected, i == 0 ? "" : "|", "stdout:", i, "\n|stderr:", i, "\n");
  EXPECT_EQ(EventLine(record), expected);
}

TEST_F(EventsTest, CCodeAndProgramsAreHeardInOrder) {
  Record record = Run(R"(
import ctypes, os, subprocess
print('python')
os.write(1, b'descriptor\n')
libc = ctypes.CDLL(None)
libc.printf(b'C\n')
libc.fflush(None)
subprocess.run(['echo', 'program'])
os.system('echo shell')
print('python again'))");
  EXPECT_EQ(record.stdout_text, "python\ndescriptor\nC\nprogram\nshell\npython again\n");
}

TEST_F(EventsTest, WhatCCodeStillBuffersAtTheEndBelongsToTheCall) {
  Record record = Run("import ctypes\nn = ctypes.CDLL(None).printf(b'buffered')");
  EXPECT_EQ(record.stdout_text, "buffered");
  EXPECT_EQ(Run("1").stdout_text, "");
}

TEST_F(EventsTest, EventsComeWhileTheCellRuns) {
  std::vector<std::string> seen;
  bool waiting = true;
  ExecuteOptions options;
  options.on_event = [&](const Event& event, const Record& so_far) {
    seen.push_back(absl::StrCat(std::string(EventTypeName(event.type).data(), EventTypeName(event.type).size()), ":", event.text));
    if (event.type == Event::Type::kDisplay) {
      EXPECT_EQ(so_far.results.size(), 1u);
    }
    if (event.type == Event::Type::kStdout && waiting) {
      waiting = false;
      EXPECT_THAT(session().DescribeVariables(), StatusIs(absl::StatusCode::kResourceExhausted, testing::_));  // queue of none: the call runs
    }
  };
  Policy policy;
  policy.session.queue = 0;
  Use(policy);
  Record record = Run("print('now', flush=True)\nimport time; time.sleep(0.3)\ndisplay(1)\n1/0", options);
  EXPECT_THAT(seen, testing::ElementsAre("stdout:now\n", "display:", "error:"));
  EXPECT_FALSE(waiting);
  EXPECT_EQ(EventLine(record), "stdout:now\n|display|error");
}

TEST_F(EventsTest, TimesOfEventsRiseAndLieWithinTheCall) {
  Record record = Run("import time, sys\nfor i in range(3):\n    print(i, flush=True)\n    time.sleep(0.1)\nprint('e', file=sys.stderr)\n1");
  absl::Duration last;
  for (const Event& event : record.events) {
    EXPECT_GE(event.time, last);
    last = event.time;
  }
  EXPECT_GE(last, absl::Milliseconds(300));
  EXPECT_LE(last, record.receipt.wall);
  EXPECT_GE(record.receipt.wall, absl::Milliseconds(300));
}

TEST_F(EventsTest, DisplaysCanBeUpdatedAndCleared) {
  Record record = Run(R"(
from IPython.display import clear_output
handle = display('first', display_id='d1')
handle.update('second')
clear_output(wait=True)
display('third'))");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(EventLine(record), "display|update|clear|display");
  ASSERT_EQ(record.results.size(), 3u);
  EXPECT_EQ(record.results[0].display_id, "d1");
  EXPECT_EQ(record.results[1].display_id, "d1");
  EXPECT_EQ(MimeOf(record, 1, "text/plain"), "'second'");
  EXPECT_TRUE(record.events[2].wait);
}

TEST_F(EventsTest, AnErrorComesAfterWhatWasPrintedBefore) {
  Record record = Run("print('before')\n1/0");
  EXPECT_EQ(EventLine(record), "stdout:before\n|error");
  EXPECT_EQ(record.stderr_text, "");
}

TEST_F(EventsTest, AFinishedFigureComesBetweenTheTexts) {
  Record record = Run("import matplotlib.pyplot as plt\nprint('a')\nplt.plot([1, 2]); plt.show()\nprint('b')");
  EXPECT_EQ(EventLine(record), "stdout:a\n|display|stdout:b\n");
  EXPECT_EQ(CountMime(record, "image/png"), 1u);
}

TEST_F(EventsTest, TextWrittenBetweenCallsIsShownLaterAndMarked) {
  EXPECT_THAT(Run("import os, threading, time\ndef late():\n    while not os.path.exists('go'): time.sleep(0.01)\n    os.write(1, b'late\\n')\nthreading.Thread(target=late).start()"), EndedWell());
  EXPECT_THAT(Put(session(), "go", ""), IsOk());
  absl::SleepFor(absl::Milliseconds(500));
  Record record = Run("print('mine')");
  EXPECT_EQ(EventLine(record), "late stdout:late\n|stdout:mine\n");
  EXPECT_EQ(record.stdout_text, "mine\n");
}

TEST_F(EventsTest, AThreadOfAnEarlierCallSaysSoWhereItWrites) {
  EXPECT_THAT(Run("import threading, time\ngo = threading.Event()\ndef later():\n    go.wait()\n    print('from the thread')\nt = threading.Thread(target=later); t.start()"), EndedWell());
  Record record = Run("print('mine'); go.set(); t.join(); print('mine again')");
  EXPECT_EQ(record.stdout_text, "mine\n[thread started in call 1] from the thread\nmine again\n");
}

TEST_F(EventsTest, AnEndlessWriterBetweenCallsHarmsNobody) {
  EXPECT_THAT(Run("import threading, os\nrunning = True\ndef flood():\n    while running: os.write(1, b'x' * 65536)\nt = threading.Thread(target=flood); t.start()"), EndedWell());
  absl::SleepFor(absl::Milliseconds(500));
  Record record = Run("running = False\nt.join()\n'stopped'");
  EXPECT_EQ(ValueText(record), "'stopped'");
  size_t late = 0;
  for (const Event& event : record.events) late += event.late ? event.text.size() : 0;
  EXPECT_GT(late, 0u);
  EXPECT_LE(late, (size_t{256} << 10) + 1024);
}

TEST_F(EventsTest, ReceiptsMeasureTheCall) {
  Record record = Run(R"(
import time
end = time.process_time() + 0.3
while time.process_time() < end: pass
time.sleep(0.2)
print('x' * 999)
n = open('f', 'wb').write(bytes(1_000_000)))");
  const Receipt& receipt = record.receipt;
  EXPECT_GE(receipt.wall, absl::Milliseconds(500));
  EXPECT_GE(receipt.cpu, absl::Milliseconds(290));
  EXPECT_LE(receipt.cpu, receipt.wall);
  EXPECT_EQ(receipt.output_bytes, 1000);
  EXPECT_GE(receipt.written_bytes, 1'001'000);
  EXPECT_LE(receipt.written_bytes, 1'100'000);
  EXPECT_GT(receipt.memory_peak_bytes, 1 << 20);
  EXPECT_EQ(receipt.processes_peak, 1);
  EXPECT_EQ(receipt.processes_killed, 0);
  EXPECT_EQ(receipt.threads_kept, 0);
  EXPECT_EQ(receipt.egress_bytes, 0);
  std::vector<std::string> names;
  for (const auto& limit : receipt.limits) names.push_back(limit.first);
  EXPECT_THAT(names, testing::IsSupersetOf({"wall", "memory", "processes", "open_files", "workspace", "workspace_files", "file_size", "output", "results", "artifacts"}));
  std::vector<std::string> layers;
  for (const Layer& layer : receipt.layers) layers.push_back(layer.name);
  EXPECT_THAT(layers, testing::IsSupersetOf({"user_namespace", "pid_namespace", "mount_namespace", "network_namespace", "seccomp", "landlock", "memory", "processes"}));
}

TEST_F(EventsTest, CpuOfChildrenStandsInTheReceipt) {
  Record record = Run("import subprocess\nn = subprocess.run(['/usr/bin/python3', '-c', 'import time\\nwhile time.process_time() < 0.4: pass'])");
  EXPECT_GE(record.receipt.cpu, absl::Milliseconds(390));
  EXPECT_LT(Run("1").receipt.cpu, absl::Milliseconds(200));
}

TEST_F(EventsTest, ProcessesThatOutliveTheCallAreKilledAndCounted) {
  Record record = Run("import subprocess\nchildren = [subprocess.Popen(['sleep', '300']) for i in range(3)]\n[c.pid for c in children]");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.receipt.processes_killed, 3);
  EXPECT_GE(record.receipt.processes_peak, 4);
  EXPECT_EQ(Value("[c.wait() for c in children]"), "[-9, -9, -9]");
}

TEST_F(EventsTest, DaemonsAreKilledTooAndCounted) {
  Record record = Run(R"(
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(300)
    os._exit(0)
os.wait()[1])");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.receipt.processes_killed, 1);
  record = Run("import os; [p for p in os.listdir('/proc') if p.isdigit()]");
  EXPECT_EQ(record.receipt.processes_killed, 0);
  EXPECT_EQ(ValueText(record), "['1', '2']") << "the jail's init and the worker";
}

TEST_F(EventsTest, TheyLiveOnWhereThePolicyKeepsThem) {
  Policy policy;
  policy.keep_processes = true;
  Use(policy);
  Record record = Run("import subprocess; child = subprocess.Popen(['sleep', '300'])");
  EXPECT_EQ(record.receipt.processes_killed, 0);
  EXPECT_EQ(Value("child.poll() is None"), "True");
  EXPECT_EQ(RunBash("sleep 300 & echo $!").receipt.processes_killed, 0);
  EXPECT_TRUE(Eventually([this] { return RunBash("pgrep -c sleep").stdout_text == "2\n"; })) << "bash's child is called so from its execve on";
  // They end with the session.
  std::vector<pid_t> before = ProcessesNamed(getpid(), "sleep", "cellblock-guest");
  EXPECT_EQ(before.size(), 1u);
  End();
  EXPECT_TRUE(Eventually([] { return ProcessesNamed(getpid(), "sleep", "cellblock-guest").empty() && ProcessesNamed(getpid(), "sleep", "cellblock-init").empty(); }));
}

TEST_F(EventsTest, ThreadsLiveOnAndAreCounted) {
  Record record = Run("import threading\nstop = threading.Event()\nthreads = [threading.Thread(target=stop.wait) for i in range(3)]\nfor t in threads: t.start()");
  EXPECT_EQ(record.receipt.threads_kept, 3);
  EXPECT_EQ(Run("1").receipt.threads_kept, 3);
  EXPECT_THAT(Run("stop.set()\nfor t in threads: t.join()"), EndedWell());
  EXPECT_TRUE(Eventually([this] { return Run("1").receipt.threads_kept == 0; })) << "a joined thread is the kernel's for a moment longer";
}

}  // namespace
}  // namespace cellblock
