# files: surplus_kansas.csv seattle_weather.csv
import polars as pl

items = pl.read_csv("surplus_kansas.csv")
print(items.schema, items.shape)
print(items.group_by("county").agg(pl.col("quantity").sum(), pl.col("acquisition_cost").mean().round(2)).sort(["quantity", "county"], descending=[True, False]).head(5))
lazy = pl.scan_csv("seattle_weather.csv", try_parse_dates=True).filter(pl.col("precipitation") > 0).group_by_dynamic("date", every="1y").agg(pl.len(), pl.col("wind").max())
print(lazy.collect())
items.write_parquet("items.parquet")
print(pl.read_parquet("items.parquet").equals(items), pl.SQLContext(items=items).execute("SELECT county, COUNT(*) AS n FROM items GROUP BY county ORDER BY n DESC, county LIMIT 3", eager=True))
print(items.select(pl.col("item_name").str.to_lowercase().str.slice(0, 8).unique().sort().head(3)).to_series().to_list())
items.join(items.group_by("county").agg(pl.col("quantity").max().alias("top")), on="county").filter(pl.col("quantity") == pl.col("top")).height
