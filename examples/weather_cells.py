# %% [markdown]
# # Four years of Seattle weather
# A script in `# %%` cells: each cell runs by itself, one after the other, in one session. Editors show it as a notebook.
#
#     tools/cellblock run examples/weather_cells.py --file examples/data/seattle_weather.csv --out out/weather_cells

# %% Read
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

weather = pd.read_csv("seattle_weather.csv", parse_dates=["date"]).set_index("date")
weather.describe().round(1)

# %% How often does it rain?
wet = weather["precipitation"] > 0
by_month = pd.DataFrame({
    "wet days": wet.groupby(weather.index.month).mean().mul(100).round(0).astype(int).astype(str) + " %",
    "mm a month": (weather["precipitation"].groupby(weather.index.month).sum() / weather.index.year.nunique()).round(0).astype(int),
})
by_month.index = [pd.Timestamp(2000, month, 1).strftime("%b") for month in by_month.index]
by_month

# %% The longest dry spell
spell = wet.cumsum()[~wet].value_counts()
start = wet.cumsum()[~wet].loc[lambda s: s == spell.idxmax()].index[0]
print(f"The longest dry spell lasted {spell.max()} days, from {start:%d %B %Y}.")

# %% A chart: the band between the daily lows and highs
fig, ax = plt.subplots(figsize=(10, 4.5), layout="constrained")
day = weather.groupby(weather.index.dayofyear)[["temp_min", "temp_max"]].mean().rolling(7, center=True, min_periods=1).mean()
ax.fill_between(day.index, day["temp_min"], day["temp_max"], color="#f4a259", alpha=0.45, label="usual range (7-day mean)")
latest = weather.loc["2015", "temp_max"]
ax.plot(latest.index.dayofyear, latest, color="#bc4b51", linewidth=0.9, label="daily high in 2015")
ax.set_xticks(np.cumsum([1, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30]), list("JFMAMJJASOND"))
ax.set_ylabel("°C")
ax.set_title("2015 was warm from the first weeks on", loc="left", fontweight="bold")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %% Another chart: which weather comes in which month
kinds = pd.crosstab(weather.index.month, weather["weather"], normalize="index")
colors = {"sun": "#f6c85f", "fog": "#cfd8dc", "drizzle": "#9dc6e0", "rain": "#3a7ca5", "snow": "#6f4e7c"}
ax = kinds[list(colors)].plot.bar(stacked=True, width=0.95, figsize=(10, 4), color=list(colors.values()), rot=0)
ax.set(xlabel="month", ylabel="share of days", title="Weather by month, 2012 to 2015", ylim=(0, 1))
ax.legend(ncols=5, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.12))
ax.figure.tight_layout()

# %% Keep the monthly table
monthly = weather[["precipitation", "temp_max", "temp_min", "wind"]].resample("MS").agg(
    {"precipitation": "sum", "temp_max": "mean", "temp_min": "mean", "wind": "mean"}).round(2)
monthly.to_csv("weather_by_month.csv")
monthly.tail(3)
