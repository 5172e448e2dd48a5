# The list of a namespace tells what is there, bounded, and runs no code of the user's.

import json
import unittest

import support  # noqa: F401: finds the packages
import numpy
import pandas
from cellblock_guest import variables


def described(**namespace):
    answer = variables.describe(namespace)
    json.dumps(answer, allow_nan=False)
    return {entry["name"]: entry for entry in answer["variables"]}


class Touched(BaseException):
    pass


def touch(*args, **kwargs):
    raise Touched


class Meta(type):
    __eq__ = __hash__ = __instancecheck__ = __subclasscheck__ = __repr__ = __str__ = touch


class Trap(metaclass=Meta):
    __repr__ = __str__ = __len__ = __sizeof__ = __iter__ = __getattr__ = __getattribute__ = __eq__ = __hash__ = __bool__ = touch
    __class__ = property(touch)


class VariablesTest(unittest.TestCase):
    def test_tells_type_shape_and_size_of_what_people_hold(self):
        shown = described(t=pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]}), s=pandas.Series([1.5]), a=numpy.zeros((3, 4)), n=7, text="é" * 1000, f=lambda x, y: x)
        self.assertEqual((shown["t"]["type"], shown["t"]["shape"], shown["t"]["dtypes"]), ("pandas.DataFrame", [2, 2], {"a": "int64", "b": "object"}))
        self.assertEqual((shown["s"]["shape"], shown["s"]["dtypes"]), ([1], {"": "float64"}))
        self.assertEqual((shown["a"]["shape"], shown["a"]["bytes"]), ([3, 4], 96))
        self.assertEqual((shown["n"]["repr"], shown["text"]["length"], len(shown["text"]["repr"])), ("7", 1000, variables.TEXT_MAX))
        self.assertEqual(shown["f"]["repr"], "<lambda>(x, y)")

    def test_runs_no_code_of_what_it_lists(self):
        frame = type("DataFrame", (pandas.DataFrame,), {"shape": property(touch)})({"a": [1]})
        shown = described(trap=Trap(), kind=Trap, among=[Trap()], keys={1: Trap()}, frame=frame, text=type("S", (str,), {"__len__": touch, "__getitem__": touch})("x"))
        self.assertEqual(shown["trap"]["type"], "Trap" if Trap.__module__ == "__main__" else f"{Trap.__module__}.Trap")
        self.assertEqual(shown["frame"]["shape"], None)

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
        self.assertEqual(len(wide["t"]["dtypes"]), variables.COLUMNS_MAX)

    def test_leaves_out_what_is_not_the_users(self):
        self.assertEqual(described(_=1, _1=2, In=[], exit=1, json=json), {})
        self.assertEqual(variables.describe({"a": 1, "b": 2}, hidden={"a": 1})["total"], 1)

    def test_survives_a_frame_that_was_tampered_with(self):
        frame = pandas.DataFrame({"a": [1]})
        object.__setattr__(frame, "_mgr", None)
        self.assertEqual(described(t=frame)["t"]["repr"], "<pandas.DataFrame>")


if __name__ == "__main__":
    unittest.main()
