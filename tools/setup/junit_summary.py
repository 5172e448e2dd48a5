"""Prints one line for a ctest run (passed, failed, skipped) and below it each reason for a skip with its count; with --failures
each failed test instead, with the end of what it printed.

Runs at the end of a tier of tools/test; reads the JUnit file that ctest wrote. A run without a single test executed fails.
"""

import collections
import re
import sys
import xml.etree.ElementTree as ElementTree

REASONS_MAX = 40
FAILURES_MAX = 10
FAILURE_LINES_MAX = 40
LINE_LENGTH_MAX = 300
# GoogleTest prints "file:line: Skipped", then the message up to the line that marks the test.
GTEST_REASON = re.compile(r":\d+: Skipped\n(.*?)\n+\[ *SKIPPED *\]", re.DOTALL)


def reason_of(case):
    output = case.findtext("system-out") or ""
    found = GTEST_REASON.search(output)
    if found and found.group(1).strip():
        return " ".join(found.group(1).split())
    skipped = case.find("skipped")
    message = (skipped.get("message") or "") if skipped is not None else ""
    return message or "no reason given"


def has_failed(case):
    return case.find("failure") is not None or case.get("status") == "fail"


def print_failures(cases):
    for case in list(filter(has_failed, cases))[:FAILURES_MAX]:
        print(f"--- {case.get('name')}")
        for line in (case.findtext("system-out") or "").splitlines()[-FAILURE_LINES_MAX:]:
            print("   ", line[:LINE_LENGTH_MAX])


def main():
    try:
        cases = ElementTree.parse(sys.argv[-1]).getroot().findall("testcase")
    except (OSError, ElementTree.ParseError) as error:
        print(f"no result: {error}")
        return 1
    if "--failures" in sys.argv:
        print_failures(cases)
        return 0
    statuses = collections.Counter()
    reasons = collections.Counter()
    for case in cases:
        if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            statuses["skipped"] += 1
            reasons[reason_of(case)] += 1
        elif has_failed(case):
            statuses["failed"] += 1
        else:
            statuses["passed"] += 1
    print(f"{statuses['passed']} passed, {statuses['failed']} failed, {statuses['skipped']} skipped")
    for reason, count in reasons.most_common(REASONS_MAX):
        print(f"            {count} skipped: {reason}")
    return 0 if statuses["passed"] + statuses["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
