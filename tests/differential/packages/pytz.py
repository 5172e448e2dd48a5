# files: timezones.csv
from datetime import datetime

import pytz

with open("timezones.csv", encoding="utf-8") as file:
    print(file.read())
for name in ("Europe/Paris", "America/Chicago", "Asia/Kathmandu", "Australia/Lord_Howe"):
    zone = pytz.timezone(name)
    print(name, zone.localize(datetime(2024, 1, 1)).isoformat(), zone.localize(datetime(2024, 7, 1)).isoformat(), zone.normalize(zone.localize(datetime(2024, 3, 31, 2, 30))))
try:
    pytz.timezone("US/Eastern").localize(datetime(2024, 3, 10, 2, 30), is_dst=None)
except pytz.NonExistentTimeError as error:
    print(type(error).__name__, error)
print(len(pytz.all_timezones), pytz.country_timezones("nz"))
pytz.utc.localize(datetime(2024, 1, 1)).astimezone(pytz.timezone("Asia/Tokyo"))
