# files: surplus_kansas.csv seattle_weather.csv usagov_clicks.jsonl
import duckdb
import pandas as pd

print(duckdb.sql("SELECT county, COUNT(*) AS n, SUM(quantity * acquisition_cost) AS total FROM 'surplus_kansas.csv' GROUP BY county ORDER BY total DESC, county LIMIT 4").fetchall())
base = duckdb.connect("base.db")
base.execute("CREATE TABLE weather AS SELECT * FROM read_csv('seattle_weather.csv')")
print(base.execute("SELECT year(date), round(avg(temp_max), 3), max(wind) FROM weather GROUP BY 1 ORDER BY 1").fetchall())
base.execute("COPY (SELECT * FROM weather WHERE weather = 'snow') TO 'snow.parquet' (FORMAT parquet)")
print(base.sql("SELECT count(*), min(temp_min) FROM 'snow.parquet'").fetchall())
base.close()
frame = pd.DataFrame({"k": ["a", "b", "a"], "v": [1, 2, 3]})
print(duckdb.sql("SELECT k, sum(v) AS s FROM frame GROUP BY k ORDER BY k").df())
print(duckdb.sql("SELECT tz, count(*) AS n FROM read_json('usagov_clicks.jsonl', format = 'newline_delimited') WHERE tz <> '' GROUP BY tz ORDER BY n DESC, tz LIMIT 3").fetchall())
duckdb.sql("SELECT current_setting('threads') >= 1, date_trunc('month', DATE '2024-02-29')").fetchall()
