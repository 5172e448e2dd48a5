# files: seattle_weather.csv
import io
import sys

import pandas as pd
from tqdm import tqdm, trange
from tqdm.auto import tqdm as auto

out = io.StringIO()
for _ in tqdm(range(1000), file=out, ascii=True, desc="rows"):
    pass
print(out.getvalue().split("\r")[-1].split("[")[0])
with trange(5, file=sys.stderr) as bar:
    for step in bar:
        bar.set_postfix(step=step)
print(sum(auto(range(10), disable=True)), bar.n, bar.total)
tqdm.pandas(file=io.StringIO())
print(pd.read_csv("seattle_weather.csv")["wind"].progress_apply(lambda value: value * 2).sum().round(4))
tqdm.format_meter(5, 10, 2.0, ncols=60)
