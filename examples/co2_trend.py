"""Carbon dioxide at Mauna Loa: how fast does it rise, and is the rise speeding up?

The file has a trap: every row has one field more than the header names, so a plain read_csv makes the dates an index and
shifts every name by one column. What the header calls "Interpolated" is the mean with the season taken out. Missing values are
written -9.99, -0.99 and -01.

    tools/cellblock run examples/co2_trend.py --file examples/data/co2_monthly.csv --out out/co2_trend
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

names = ["month", "decimal_date", "average", "deseasonalized", "days", "spread", "uncertainty"]
co2 = pd.read_csv("co2_monthly.csv", skiprows=1, header=None, names=names, na_values=["-9.99", "-0.99", "-01", "-1"])
co2["month"] = pd.to_datetime(co2["month"], format="%Y-%m")
co2 = co2.set_index("month")
print(f"{len(co2)} months, {co2.index.min():%B %Y} to {co2.index.max():%B %Y}")
print("missing:", ", ".join(f"{name} {count}" for name, count in co2.isna().sum().items() if count))

# A quadratic trend with the year's rhythm (two harmonics), by least squares.
t = co2["decimal_date"] - 2000
design = np.column_stack([np.ones(len(t)), t, t**2] + [f(2 * np.pi * k * t) for k in (1, 2) for f in (np.sin, np.cos)])
weights, *_ = np.linalg.lstsq(design, co2["average"], rcond=None)
fitted = design @ weights
residual = co2["average"] - fitted
co2["trend"] = design[:, :3] @ weights[:3]
print(f"level in 2000: {weights[0]:.1f} ppm; rise then: {weights[1]:.2f} ppm a year, gaining {2 * weights[2]:.3f} ppm a year each year")
print(f"what the model leaves over: {residual.std():.2f} ppm")

decades = (co2["deseasonalized"].groupby(co2.index.year // 10 * 10).agg(["first", "last", "size"]))
decades["ppm a year"] = ((decades["last"] - decades["first"]) / (decades["size"] / 12)).round(2)
print("\n" + decades["ppm a year"].rename_axis("decade").to_string())

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), width_ratios=[2, 1], layout="constrained")
left.plot(co2.index, co2["average"], color="#7fa7c9", linewidth=0.8, label="monthly mean")
left.plot(co2.index, co2["trend"], color="#c8553d", linewidth=1.8, label="quadratic trend")
left.set_title("CO₂ at Mauna Loa", loc="left", fontweight="bold")
left.set_ylabel("parts per million")
left.legend(frameon=False)
season = (co2["average"] - co2["trend"]).groupby(co2.index.month)
right.fill_between(range(1, 13), season.quantile(0.1), season.quantile(0.9), color="#588b8b", alpha=0.25)
right.plot(range(1, 13), season.median(), color="#588b8b", marker="o", markersize=4)
right.axhline(0, color="black", linewidth=0.6)
right.set_xticks(range(1, 13), "JFMAMJJASOND")
right.set_title("the year's rhythm", loc="left", fontweight="bold")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
fig.savefig("co2.png", dpi=130)
plt.close(fig)   # kept under its name: closed, so that it is not captured as well

plt.figure(figsize=(11, 2.8), layout="constrained")
plt.bar(residual.index, residual, width=25, color=np.where(residual > 0, "#c8553d", "#4f7cac"))
plt.title("What trend and season do not explain (ppm)", loc="left", fontweight="bold")
plt.gca().spines[["top", "right"]].set_visible(False)

co2[["average", "trend"]].round(2).to_csv("co2_trend.csv")
round(float(weights[1]), 3)
