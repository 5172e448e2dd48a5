# files: seattle_weather.csv
import math
import tempfile

import joblib
import pandas as pd
from joblib import Memory, Parallel, delayed

weather = pd.read_csv("seattle_weather.csv")


def mean_of(name):
    return name, round(weather[name].mean(), 6)


for backend in ("loky", "threading", "multiprocessing"):
    print(backend, Parallel(2, backend=backend)(delayed(mean_of)(name) for name in ("precipitation", "temp_max", "wind")))
print(Parallel(2)(delayed(math.sqrt)(i) for i in range(6)), sum(Parallel(n_jobs=-1)(delayed(abs)(-i) for i in range(50))))
memory = Memory(tempfile.mkdtemp(), verbose=0)
calls = []


@memory.cache
def slow(value):
    calls.append(value)
    return value * 2


print(slow(3), slow(3), calls)
joblib.dump({"frame": weather}, "frame.joblib", compress=3)
print(joblib.load("frame.joblib")["frame"].equals(weather), joblib.hash(weather) == joblib.hash(weather.copy()))
joblib.cpu_count() >= 1
