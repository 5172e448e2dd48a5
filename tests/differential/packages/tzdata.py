import importlib.resources
import zoneinfo
from datetime import datetime

import tzdata

zoneinfo.reset_tzpath(to=[])  # so that the package is what answers
zoneinfo.ZoneInfo.clear_cache()
for name in ("Europe/Lisbon", "America/St_Johns", "Pacific/Apia", "Africa/Casablanca"):
    print(name, datetime(1995, 6, 1, tzinfo=zoneinfo.ZoneInfo(name)).isoformat(), datetime(2025, 1, 1, tzinfo=zoneinfo.ZoneInfo(name)).utcoffset())
names = importlib.resources.files(tzdata).joinpath("zones").read_text().split()
print(len(names), tzdata.IANA_VERSION, names[:3])
zoneinfo.reset_tzpath()
len(zoneinfo.available_timezones()) >= len(names)
