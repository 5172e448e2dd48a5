# files: seattle_weather.csv
import json

import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
import plotly.io as pio

weather = pd.read_csv("seattle_weather.csv")
figure = px.scatter(weather, x="temp_min", y="temp_max", color="weather", trendline="ols", title="Seattle")
content = json.loads(figure.to_json())
print(len(content["data"]), content["layout"]["title"], [trace["name"] for trace in content["data"]][:4])
bars = go.Figure(go.Bar(x=["a", "b"], y=[1, 3])).update_layout(yaxis_title="n")
text = pio.to_html(bars, include_plotlyjs=False, full_html=False, div_id="d")
print(len(text), "Plotly.newPlot" in text, px.get_trendline_results(figure).iloc[0, 1].params.round(6))
try:
    go.Scatter(color="red")
except ValueError as error:
    print(type(error).__name__, str(error).splitlines()[0])
bars.data[0].y
