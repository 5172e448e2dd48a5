# files: seattle_weather.csv
import hashlib
import io

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

weather = pd.read_csv("seattle_weather.csv", parse_dates=["date"])
fig, axes = plt.subplots(2, 2, figsize=(8, 6), layout="constrained")
axes[0, 0].plot(weather["date"], weather["temp_max"], lw=0.5)
axes[0, 1].hist(weather["wind"], bins=20)
axes[1, 0].scatter(weather["temp_min"], weather["temp_max"], c=weather["precipitation"], s=3)
axes[1, 1].boxplot([weather.loc[weather["weather"] == kind, "temp_max"] for kind in ("sun", "rain")], tick_labels=["sun", "rain"])
axes[0, 0].set_title("Température — Ω ж")
buffer = io.BytesIO()
fig.savefig(buffer, format="rgba", dpi=60)
pixels = np.frombuffer(buffer.getvalue(), np.uint8)
print(matplotlib.get_backend().lower(), pixels.size, hashlib.sha256(pixels.tobytes()).hexdigest())
for kind in ("png", "svg", "pdf"):
    fig.savefig(f"chart.{kind}", metadata={"Date": None} if kind == "svg" else None)
print(open("chart.png", "rb").read(8), open("chart.pdf", "rb").read(5), "<svg" in open("chart.svg").read())
plt.figure()
plt.bar(["a", "b"], [1, 2])
len(plt.get_fignums())
