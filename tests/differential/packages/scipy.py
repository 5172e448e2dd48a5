# files: seattle_weather.csv
import numpy as np
import pandas as pd
from scipy import fft, integrate, interpolate, linalg, ndimage, optimize, signal, sparse, spatial, special, stats

weather = pd.read_csv("seattle_weather.csv")
high, low = weather["temp_max"].to_numpy(), weather["temp_min"].to_numpy()
print(stats.pearsonr(high, low), stats.ttest_ind(high, low), stats.ks_2samp(high, low).statistic, sep="\n")
print(optimize.curve_fit(lambda t, a, b, c: a + b * np.sin(2 * np.pi * t / 365.25 + c), np.arange(high.size), high, p0=(15, 10, 0))[0].round(5))
print(optimize.minimize(optimize.rosen, [1.3, 0.7, 0.8], method="BFGS").x.round(4), optimize.linprog([-1, -2], [[1, 1]], [4]).x)
print(integrate.quad(np.sin, 0, np.pi), integrate.solve_ivp(lambda t, y: -y, (0, 2), [1.0], rtol=1e-8).y[0, -1].round(8))
print(interpolate.CubicSpline(np.arange(10), high[:10])(2.5).round(6), signal.find_peaks(signal.savgol_filter(high, 51, 3), distance=200)[0])
print(np.abs(fft.rfft(high))[:4].round(3), ndimage.gaussian_filter1d(low, 5)[:3].round(6), special.gamma([0.5, 5]).round(8))
matrix = sparse.random_array((200, 200), density=0.02, rng=3).tocsr() + sparse.eye_array(200)
print(matrix.nnz, sparse.linalg.spsolve(matrix.tocsc(), np.ones(200)).sum().round(6), linalg.expm(np.diag([0.0, 1.0])).round(6))
tree = spatial.KDTree(np.column_stack([high, low]))
tree.query([20, 10], k=3)[1].tolist()
