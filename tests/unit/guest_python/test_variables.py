# The list of a namespace tells what is there, bounded, and runs no code of the user's.

import builtins
import datetime
import json
import sys
import types
import unittest
import zoneinfo
from unittest import mock

import support

support.zygote()
import numpy
import pandas
from cellblock_guest import exact, tables, variables


def described(**namespace):
    answer = variables.describe(namespace)
    json.dumps(answer, allow_nan=False)
    return {entry["name"]: entry for entry in answer["variables"]}


def told(value):
    entry = described(value=value)["value"]
    return entry["type"], entry["shape"], entry["dtypes"], entry["bytes"], entry["repr"]


def dtype_of(values):
    return described(value=pandas.Series(values))["value"]["dtypes"][""]


ran = []  # what of the user's did


def touch(*args, **kwargs):
    ran.append(args)
    raise RuntimeError


class Meta(type):
    __eq__ = __hash__ = __instancecheck__ = __subclasscheck__ = __repr__ = __str__ = __getattribute__ = touch
    __name__ = __mro__ = __dict__ = property(touch)


class Trap(metaclass=Meta):
    __slots__ = ("__dict__",)
    __repr__ = __str__ = __len__ = __sizeof__ = __iter__ = __getattr__ = __getattribute__ = __eq__ = __hash__ = __bool__ = __index__ = __format__ = touch
    __class__ = property(touch)


class Key(str):
    """Hashed like the text that it is, so that a look-up of that text asks it whether it is the same."""

    quiet = True
    __hash__ = str.__hash__
    __eq__ = lambda self, other: False if Key.quiet else touch()
    __repr__ = __str__ = __len__ = __getitem__ = touch


class OwnDtype(pandas.api.extensions.ExtensionDtype):
    name, type = "own", object
    quiet = True
    __str__ = lambda self: "own" if OwnDtype.quiet else touch()


class OwnArray(pandas.api.extensions.ExtensionArray):
    quiet = True

    def _quiet(self, value):
        return value if OwnArray.quiet else touch()

    dtype = property(lambda self: self._quiet(OwnDtype()))
    nbytes = property(lambda self: self._quiet(8))
    __len__ = lambda self: self._quiet(3)
    copy = lambda self: self
    __getitem__ = lambda self, item: self._quiet(self)


class VariablesTest(unittest.TestCase):
    def setUp(self):
        ran.clear()
        self.addCleanup(lambda: self.assertEqual(ran, []))

    def test_tells_type_shape_and_size_of_what_people_hold(self):
        shown = described(t=pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]}), s=pandas.Series([1.5]), a=numpy.zeros((3, 4)), n=7, text="é" * 1000, f=lambda x, y: x)
        self.assertEqual((shown["t"]["type"], shown["t"]["shape"], shown["t"]["dtypes"]), ("pandas.DataFrame", [2, 2], {"a": "int64", "b": "object"}))
        self.assertEqual((shown["s"]["shape"], shown["s"]["dtypes"]), ([1], {"": "float64"}))
        self.assertEqual((shown["a"]["shape"], shown["a"]["bytes"]), ([3, 4], 96))
        self.assertEqual((shown["n"]["repr"], shown["text"]["length"], len(shown["text"]["repr"])), ("7", 1000, exact.TEXT_MAX))
        self.assertEqual(shown["f"]["repr"], "<lambda>(…)")
        self.assertEqual(described(d={"a": (1,), 2: {3}}, s=set())["d"]["repr"], "{'a': (1,), 2: {3}}")

    def test_tells_a_frame_as_pandas_does(self):
        times = pandas.date_range("2024-01-01", periods=3)
        frame = pandas.DataFrame({
            "n": [1, 2, 3], "t": ["a", "b", "c"], "x": [1.0, 2.0, 3.0], "c": pandas.Categorical(["u", "v", "u"]), "d": times, "z": times.tz_localize("Europe/Berlin"),
            "s": pandas.array(["a", None, "c"], dtype="string"), "i": pandas.array([1, None, 3]), "b": pandas.array([True, None, False]), "m": [4, 5, 6], "e": times - times[0],
        })  # fmt: skip
        for shape in (frame, frame.copy(), frame[["m", "z", "t"]], frame[::2], frame.T.T, frame.iloc[:0], frame.set_index(["n", "t"]), frame.set_index("d"), frame.groupby("c", observed=True).agg({"x": ["sum", "max"]})):
            kind, size, dtypes, stored, text = told(shape)
            self.assertEqual((kind, size, text), ("pandas.DataFrame", list(shape.shape), "{} rows × {} columns".format(*shape.shape)))
            self.assertEqual(dtypes, {str(column): str(dtype) for column, dtype in shape.dtypes.items()})
            self.assertEqual(stored, sum(block.values.nbytes for block in shape._mgr.blocks))
        self.assertEqual(told(pandas.DataFrame({})), ("pandas.DataFrame", [0, 0], {}, 0, "0 rows × 0 columns"))
        self.assertEqual(told(pandas.DataFrame([[1, 2.5]]))[2], {"0": "int64", "1": "float64"})
        self.assertEqual(told(pandas.DataFrame([[1, 2]], columns=pandas.CategoricalIndex(["v", "u"])))[2], {"v": "int64", "u": "int64"})
        self.assertEqual(told(pandas.DataFrame([[1, 2]], columns=pandas.Index(["v", "u"], dtype="string[python]")))[2], {"v": "int64", "u": "int64"})
        self.assertEqual(told(pandas.DataFrame([[1]], columns=pandas.MultiIndex.from_tuples([("a", numpy.nan)])))[2], {"('a', None)": "int64"})
        for index in (pandas.Index(pandas.arrays.SparseArray([0, 1])), pandas.CategoricalIndex(["a", "b"]), pandas.interval_range(0, 2), pandas.Index([1, 2], dtype="int64[pyarrow]")):
            self.assertEqual(told(pandas.DataFrame({"a": [1, 2]}, index=index))[1], [2, 1])
        self.assertEqual(told(frame[["x"]].rename(columns=lambda name: times[0]).pipe(lambda t: t.set_axis(pandas.DatetimeIndex(t.columns), axis=1)))[2], {"column 0": "float64"})

    def test_tells_the_dtypes_of_series_and_arrays_as_pandas_and_numpy_do(self):
        times = pandas.date_range("2024-01-01", periods=2)
        zones = "UTC", "Europe/Berlin", zoneinfo.ZoneInfo("Asia/Tokyo"), datetime.timezone.utc, datetime.timezone(datetime.timedelta(hours=2))
        several = [pandas.Series(times.tz_localize(zone)) for zone in zones]
        several += [pandas.Series([1, 0], dtype=name) for name in "int8 uint16 float32 complex64 bool object Int64 UInt8 Float32 boolean category string".split()]
        several += [pandas.Series(["a", "b"], dtype=name) for name in ("string[python]", "string[pyarrow]", pandas.StringDtype(na_value=numpy.nan))]
        several += [pandas.Series([1, 2], dtype=name) for name in ("int64[pyarrow]", "timestamp[ns][pyarrow]")]
        for series in several:
            self.assertEqual(told(series), ("pandas.Series", [2], {"": str(series.dtype)}, series.array.nbytes, f"2 values of {series.dtype}"))
        for values, dtype in ((times.to_period("M"), "period"), (pandas.arrays.SparseArray([0.0, 1]), "Sparse[float64]"), (pandas.interval_range(0, 2), "interval")):
            self.assertEqual(dtype_of(values), dtype)
            self.assertEqual(told(pandas.Series(values))[1], [2])
        for name in "int8 uint64 float16 float128 complex128 bool object datetime64[s] timedelta64[D] <U5 |S3 >i4".split():
            array = numpy.zeros((2, 3), name)
            self.assertEqual(told(array), ("numpy.ndarray", [2, 3], {"": str(array.dtype)}, array.nbytes, "array of 2 × 3"))
        self.assertEqual(told(numpy.array(1))[1:], ([], {"": "int64"}, 8, "array of one"))

    def test_tells_of_tables_of_other_libraries(self):
        import polars
        import pyarrow

        frame = pandas.DataFrame({"a": [1, 2], "t": ["x", "y"]})
        self.assertEqual(told(polars.DataFrame({"a": [1, 2], "t": ["x", "y"]})), ("polars.DataFrame", [2, 2], {"a": "i64", "t": "str"}, None, "2 rows × 2 columns"))
        own = type("Own", (pyarrow.ExtensionType,), {"__arrow_ext_serialize__": lambda self: b"", "__arrow_ext_deserialize__": touch, "__str__": touch, "__eq__": touch})
        array = pyarrow.ExtensionArray.from_storage(own(pyarrow.int64(), "own"), pyarrow.array([1]))
        for inside, name in ((array, f"{exact.type_name(own)}[pyarrow]"), (pyarrow.StructArray.from_arrays([array], ["x"]), "pyarrow.StructType[pyarrow]")):
            series = pandas.Series(pandas.arrays.ArrowExtensionArray(pyarrow.chunked_array([inside])))
            self.assertEqual(told(series)[1:4], ([1], {"": name}, 8))
        table = pyarrow.table({"o": array})
        del array, inside, series  # and with them the type, which is made anew for whoever asks for it
        self.assertEqual(told(table)[1:3], ([1, 1], {"o": "?"}))
        table = pyarrow.Table.from_pandas(frame)
        self.assertEqual(told(table), ("pyarrow.Table", [2, 2], {"a": "?", "t": "?"}, None, "2 rows × 2 columns"))

    def test_runs_no_code_of_what_it_lists(self):
        namespace = {"trap": Trap(), "kind": Trap, "among": [Trap()], "keys": {1: Trap()}}
        namespace["claims"] = type("Claims", (), {"__class__": property(touch)})()
        for base, value in ((str, "x"), (int, 1), (list, [1]), (dict, {}), (tuple, (1,)), (float, 1.0), (bytes, b"x"), (type(pandas.DataFrame), None)):
            own = type("Own", (base,), {"__len__": touch, "__getitem__": touch, "__repr__": touch, "__iter__": touch, "bit_length": touch, "__sizeof__": touch})
            namespace[base.__name__] = own(value) if value is not None else own("Own", (), {})
        for base, value in ((pandas.DataFrame, {"a": [1]}), (pandas.Series, [1])):
            namespace[base.__name__] = type(base.__name__, (base,), {"shape": property(touch), "dtype": property(touch), "dtypes": property(touch), "_mgr": touch})(value)
        own = type("ndarray", (numpy.ndarray,), {"shape": property(touch), "dtype": property(touch), "__getitem__": touch, "nbytes": property(touch)})
        namespace["array"] = numpy.zeros(3).view(own)
        shown = described(**namespace)
        self.assertEqual(shown["trap"]["type"], "Trap" if __name__ == "__main__" else f"{__name__}.Trap")
        for name in ("DataFrame", "Series", "array"):
            self.assertEqual((shown[name]["shape"], shown[name]["dtypes"]), (None, None))

    def test_asks_no_key_whether_it_is_the_one_that_is_looked_for(self):
        frame, series = pandas.DataFrame({"a": [1]}), pandas.Series([1])
        for table in (frame, series):
            object.__setattr__(table, "__dict__", {Key("_mgr"): 1, **table.__dict__})
        odd = type("Odd", (), {Key("__module__"): 1, Key("zone"): 1})
        namespace = {Key("x"): 1, Key("In"): 2, "x": 3, "frame": frame, "series": series, "odd": odd(), "keys": {Key("a"): 1, (Key("b"),): 2}}
        Key.quiet = False
        self.addCleanup(setattr, Key, "quiet", True)
        shown = {entry["name"]: entry for entry in variables.describe(namespace, {Key("x"): 1})["variables"]}
        self.assertEqual((shown["x"]["repr"], shown["frame"]["shape"], shown["series"]["shape"], shown["odd"]["type"]), ("3", [1, 1], [1], exact.type_name(odd)))

    def test_runs_no_code_of_an_array_of_the_users_inside_a_series_or_a_frame(self):
        series = pandas.Series(OwnArray())
        frame = pandas.DataFrame({"a": [1, 2, 3], "own": series})
        OwnArray.quiet = OwnDtype.quiet = False
        self.addCleanup(setattr, OwnArray, "quiet", True)
        own = exact.type_name(OwnArray)
        self.assertEqual(told(series), ("pandas.Series", [3], {"": own}, 0, f"3 values of {own}"))
        self.assertEqual(told(frame), ("pandas.DataFrame", [3, 2], {"a": "int64", "own": own}, 24, "3 rows × 2 columns"))

    def test_runs_nothing_that_took_the_place_of_what_a_library_offers(self):
        values = {
            "frame": pandas.DataFrame({"a": [1], "c": pandas.Categorical(["x"]), "i": pandas.array([1]), "z": pandas.to_datetime(["2024-01-01"]).tz_localize("Europe/Berlin")}),
            "series": pandas.Series([1]), "array": numpy.zeros(2), "arrow": pandas.Series([1], dtype="int64[pyarrow]"),
        }  # fmt: skip
        zone = values["frame"].z.dtype.tz
        usual = described(**values)
        mgr, index = type(values["frame"]._mgr), type(values["frame"].index)
        kinds = [pandas.DataFrame, pandas.Series, mgr, type(values["series"]._mgr), index, pandas.Index, pandas.Categorical, pandas.arrays.IntegerArray, pandas.ArrowDtype]
        kinds += [pandas.DatetimeTZDtype, pandas.CategoricalDtype, pandas.arrays.DatetimeArray, type(zone), *[type(block) for block in values["frame"]._mgr.blocks]]
        names = "shape columns dtypes index _mgr blocks axes _data _range dtype nbytes _dtype name values __len__ __str__ __repr__ __getattribute__ __getattr__ zone"
        with mock.patch.dict(sys.modules, pandas=types.ModuleType("pandas"), numpy=types.ModuleType("numpy")):
            for kind in kinds:
                for name in names.split():
                    kept = {name: vars(kind)[name]} if name in vars(kind) else {}
                    if kind is type(zone) and name == "zone":
                        continue  # read as what it is: a text in the class
                    setattr(kind, name, property(touch))
                    try:
                        answer = described(**values)
                    finally:
                        setattr(kind, name, kept[name]) if kept else delattr(kind, name)
                    self.assertEqual((answer, ran), (usual, []), (kind, name))
            from numpy._core import _dtype

            with mock.patch.multiple(_dtype, __str__=touch, _name_get=touch, __repr__=touch), mock.patch.object(json, "dumps", touch):
                self.assertEqual(variables.describe(values)["variables"], list(usual.values()))

    def test_runs_nothing_that_took_the_place_of_a_builtin(self):
        from cellblock_guest import inspection, session

        values = {"t": pandas.DataFrame({"a": [1]}), "s": pandas.Series(["x"], dtype="string"), "n": [{1: (2,)}], "k": Trap, "f": touch}
        usual, sent = described(**values), []
        theirs = vars(builtins)
        own, kept = {name: touch for name, value in theirs.items() if callable(value) and name != "__build_class__"}, dict(theirs)
        with mock.patch.object(session.current, "emit_function", lambda kind, fields: sent.append(fields)), mock.patch.object(sys, "getsizeof", touch):
            theirs.update(own)
            try:
                inspection.list_variables(values, {})
            finally:
                theirs.update(kept)
        self.assertEqual(json.loads(sent[0]["mime"][0][1])["variables"], list(usual.values()))

    def test_raises_no_audit_event(self):
        values = {"t": pandas.DataFrame({"a": [1]}), "s": pandas.Series([1], dtype="category"), "f": touch, "k": Trap, "o": OwnDtype(), "a": numpy.zeros(2), "d": {1: touch}}
        events, listening = [], []
        sys.addaudithook(lambda event, arguments: events.append(event) if listening else None)
        listening.append(True)
        variables.describe(values)
        listening.clear()
        self.assertEqual(events, [])

    def test_is_bounded_by_number_depth_and_size(self):
        deep = []
        for _ in range(100_000):
            deep = [deep]
        cycle = []
        cycle.append(cycle)
        shown = described(deep=deep, cycle=cycle, large=list(range(10**6)), number=10**5000)
        self.assertEqual(shown["deep"]["repr"], "[[[…]]]")
        self.assertEqual(shown["number"]["repr"], "<int of 16610 bits>")
        many = variables.describe({f"v{i}": "x" * 1000 for i in range(100_000)})
        self.assertEqual((len(many["variables"]), many["total"], many["cut"]), (variables.VARIABLES_MAX, 100_000, True))
        wide = described(t=pandas.DataFrame(numpy.zeros((1, 10_000))))
        self.assertEqual(len(wide["t"]["dtypes"]), tables.COLUMNS_MAX)

    def test_leaves_out_what_is_not_the_users(self):
        self.assertEqual(described(_=1, _1=2, In=[], exit=1, json=json), {})
        self.assertEqual(variables.describe({"a": 1, "b": 2}, hidden={"a": 1})["total"], 1)

    def test_survives_a_frame_that_was_tampered_with(self):
        for manager in (None, Trap(), pandas.Series([1])._mgr):
            frame = pandas.DataFrame({"a": [1]})
            object.__setattr__(frame, "_mgr", manager)
            self.assertEqual(described(t=frame)["t"]["repr"], "<pandas.DataFrame>")


if __name__ == "__main__":
    unittest.main()
