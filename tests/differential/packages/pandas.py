# files: surplus_kansas.csv seattle_weather.csv
import io

import pandas as pd

items = pd.read_csv("surplus_kansas.csv")
print(items.dtypes, items.describe(include="all"), sep="\n")
items["total"] = items["quantity"] * items["acquisition_cost"]
print(items.groupby("county")["total"].agg(["count", "sum", "median"]).sort_values("sum", ascending=False).head(8))
print(items.pivot_table(index="county", columns="ui", values="total", aggfunc="sum", fill_value=0).iloc[:5, :5])
weather = pd.read_csv("seattle_weather.csv", parse_dates=["date"]).set_index("date")
print(weather.resample("QE").agg({"precipitation": "sum", "temp_max": "max"}), weather["wind"].rolling("30D").mean().tail(3))
text = weather.to_json(orient="split", date_format="iso")
print(pd.read_json(io.StringIO(text), orient="split").equals(weather.reset_index(drop=False).set_index("date")), len(text))
merged = items.merge(items.groupby("county", as_index=False)["total"].max(), on=["county", "total"])
print(merged[["county", "item_name", "total"]].head(), pd.to_datetime(items["ship_date"], format="mixed").dt.year.value_counts().sort_index())
weather.to_pickle("weather.pkl")
pd.read_pickle("weather.pkl").tail(4)
