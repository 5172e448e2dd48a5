# files: banklist.csv
import csv
from datetime import datetime

from dateutil import parser, relativedelta, rrule, tz

with open("banklist.csv", encoding="utf-8") as file:
    closed = [parser.parse(row["Closing Date"]) for row in csv.DictReader(file)]
print(len(closed), min(closed), max(closed), relativedelta.relativedelta(max(closed), min(closed)))
print([str(day.date()) for day in rrule.rrule(rrule.MONTHLY, count=4, byweekday=rrule.FR(-1), dtstart=datetime(2024, 1, 1))])
for zone in ("America/New_York", "Europe/Berlin", "Asia/Kolkata"):
    print(zone, datetime(2024, 7, 1, 12, tzinfo=tz.gettz(zone)).isoformat())
print(parser.parse("10/11/12", dayfirst=True), parser.isoparse("2024-02-29T23:59:59.5Z"))
tz.tzlocal().tzname(datetime(2024, 1, 1))
