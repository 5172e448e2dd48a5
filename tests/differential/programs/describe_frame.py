# Shows everything of a frame that a person looks at first, and what would tell two frames apart. Goes before the reader's expression in
# a cell, in a session as in plain CPython.

import json  # noqa: F401 - for the reader's expression

import pandas as pd


def describe(read):
    frames = read if isinstance(read, dict) else {"": read}
    for name, frame in frames.items():
        print("##", name, frame.shape, type(frame.index).__name__)
        print(frame.dtypes.to_string())
        print(frame.head().to_string(), frame.tail(3).to_string(), sep="\n")
        try:
            print(frame.describe(include="all").to_string())
        except TypeError as error:  # cells that are lists or dicts cannot be counted
            print("describe:", error)
            print(frame.describe(include="number").to_string() if frame.select_dtypes("number").size else "no numbers")
        print(frame.isna().sum().sum(), pd.util.hash_pandas_object(frame.astype(str), index=True).sum())
