# files: seattle_weather.csv
import pandas as pd
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

monthly = pd.read_csv("seattle_weather.csv", parse_dates=["date"]).groupby(lambda i: i % 12)["temp_max"].mean().round(3)
deck = Presentation()
slide = deck.slides.add_slide(deck.slide_layouts[5])
slide.shapes.title.text = "Seattle"
data = CategoryChartData()
data.categories = [str(i) for i in monthly.index]
data.add_series("high", monthly.tolist())
slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(6), Inches(4), data)
table = slide.shapes.add_table(2, 2, Inches(7), Inches(2), Inches(2), Inches(1)).table
table.cell(0, 0).text = "first"
slide.notes_slide.notes_text_frame.text = "said aloud"
deck.save("deck.pptx")
again = Presentation("deck.pptx").slides[0]
print([(shape.shape_type, shape.has_chart, shape.has_table) for shape in again.shapes], again.notes_slide.notes_text_frame.text)
chart = next(shape.chart for shape in again.shapes if shape.has_chart)
print(list(chart.plots[0].categories), list(chart.plots[0].series[0].values))
again.shapes.title.text
