# files: seattle_weather.csv
import pandas as pd
import seaborn as sns

weather = pd.read_csv("seattle_weather.csv", parse_dates=["date"])
weather["month"] = weather["date"].dt.month
sns.set_theme(style="whitegrid")
grid = sns.relplot(weather, x="temp_min", y="temp_max", hue="weather", height=3)
print(sorted(text.get_text() for text in grid.legend.texts))
axes = sns.boxplot(weather, x="month", y="precipitation")
print(axes.get_xlabel(), axes.get_ylabel(), len(axes.patches))
heat = sns.clustermap(weather[["precipitation", "temp_max", "temp_min", "wind"]].corr(), figsize=(3, 3))
print(heat.dendrogram_row.reordered_ind, sns.color_palette("deep", 2).as_hex())
plot = sns.regplot(weather, x="temp_min", y="temp_max", ci=None)
plot.lines[0].get_xydata()[:2].round(5).tolist()
