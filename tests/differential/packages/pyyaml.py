# files: banklist.csv
import csv
from datetime import date

import yaml

with open("banklist.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))[:5]
text = yaml.safe_dump({"banks": rows, "when": date(2024, 2, 29), "text": "ü\nline two", "numbers": [1, 2.5, None, True]}, allow_unicode=True, sort_keys=False)
print(text, yaml.safe_load(text)["banks"] == rows, yaml.__with_libyaml__)
print(list(yaml.load_all("a: &x [1, 0x1F, 1e3]\nb: *x\n---\n- yes\n- 2024-01-01\n", Loader=yaml.CSafeLoader)))
for broken in ("a: [1", "!!python/object/apply:os.system [ls]", "a: b: c"):
    try:
        yaml.safe_load(broken)
    except yaml.YAMLError as error:
        print(type(error).__name__, str(error).splitlines()[0])
yaml.safe_load(text)["when"]
