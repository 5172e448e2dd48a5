# files: seattle_weather.csv
import numpy as np

data = np.genfromtxt("seattle_weather.csv", delimiter=",", skip_header=1, usecols=(1, 2, 3, 4))
print(data.shape, data.dtype, data.mean(axis=0).round(6), data.std(axis=0, ddof=1).round(6))
print(np.corrcoef(data.T).round(8))
values, vectors = np.linalg.eigh(np.cov(data.T))
print(values.round(8), np.abs(vectors).round(8))
print(np.abs(np.fft.rfft(data[:, 1] - data[:, 1].mean()))[:6].round(4), np.histogram(data[:, 3], bins=5))
rng = np.random.default_rng(7)
print(rng.normal(size=3), rng.integers(0, 100, 5), np.random.RandomState(7).rand(3))
np.savez_compressed("data.npz", data=data, names=np.array(["rain", "max", "min", "wind"]))
with np.load("data.npz") as loaded:
    print(loaded["names"].tolist(), bool((loaded["data"] == data).all()))
np.linalg.svd(data, compute_uv=False).round(6).tolist()
