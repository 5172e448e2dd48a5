"""Short-link clicks, one JSON object a line: fields differ from line to line, some lines are only heartbeats.

Takes the number of time zones to show as its argument (arguments come after `--`):

    tools/cellblock run examples/clicks.py --file examples/data/usagov_clicks.jsonl --out out/clicks -- 8
"""

import json
import sys
from collections import Counter
from urllib.parse import urlsplit

import matplotlib.pyplot as plt
import pandas as pd

count = int(sys.argv[1]) if len(sys.argv) > 1 else 10

clicks, heartbeats = [], 0
with open("usagov_clicks.jsonl", encoding="utf-8") as lines:
    for line in lines:
        record = json.loads(line)
        if "_heartbeat_" in record:
            heartbeats += 1
        else:
            clicks.append(record)
print(f"{len(clicks)} clicks and {heartbeats} heartbeats")

fields = Counter(key for record in clicks for key in record)
print("fields not on every line:", ", ".join(f"{k} ({v})" for k, v in sorted(fields.items()) if v < len(clicks)))

frame = pd.json_normalize(clicks)
frame["time"] = pd.to_datetime(frame["t"], unit="s", utc=True)
frame["zone"] = frame["tz"].replace("", None).fillna("(unknown)")
frame["system"] = frame["a"].str.extract(r"(Windows|Macintosh|iPhone|iPad|Android|Linux)", expand=False).fillna("other")
frame["host"] = frame["u"].map(lambda url: urlsplit(url).netloc if isinstance(url, str) else None)

top = frame["zone"].value_counts().head(count)
print(f"\nThe {count} commonest time zones:")
print(top.to_string())
print("\nMost clicked hosts:")
print(frame["host"].value_counts().head(5).to_string())

share = pd.crosstab(frame["zone"], frame["system"]).loc[top.index[::-1]]
ax = share.plot.barh(stacked=True, figsize=(10, 5), colormap="tab20c", width=0.85)
ax.set(title="Clicks by time zone and system", xlabel="clicks", ylabel="")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
ax.figure.tight_layout()

frame[["time", "zone", "system", "host"]].to_csv("clicks_clean.csv", index=False)
len(frame)
