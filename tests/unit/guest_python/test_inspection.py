# Questions between two cells are answered whatever a session did to its builtins, and leave these as they were.

import builtins
import json
import unittest
from unittest import mock

import support

support.zygote()
from cellblock_guest import inspection, session  # noqa: E402


def asked(question, argument, namespace=None):
    """The answer as the supervisor gets it."""
    with mock.patch.object(session.current, "emit_function") as emit:
        if question == "variables":
            inspection.list_variables(namespace, {})
        else:
            inspection.run(question, argument)
    (kind, fields), _ = emit.call_args
    (mime, data, _), = fields["mime"]
    assert (kind, mime) == ("result", "application/json")
    return json.loads(data, parse_constant=lambda constant: 1 / 0)


class InspectionTest(unittest.TestCase):
    def setUp(self):
        from preview_support import folder

        self.enterContext(folder())
        with open("a b.csv", "w", encoding="utf-8") as file:
            file.write("id;wert\n" + "1;2,5\n" * 40)

    def test_previews_a_file_with_as_many_rows_as_asked_for(self):
        for rows in (0, 3, 10):
            answer = asked("preview", f"{rows} {1 << 28} a b.csv")  # as host/session/session_inspect.cc asks
            self.assertEqual((answer["kind"], answer["rows"], answer["decimal"], len(answer["first_rows"])), ("csv", 40, ",", rows))

    def test_a_file_that_is_not_there_is_an_answer_and_a_bad_argument_is_an_error(self):
        self.assertEqual(asked("preview", f"10 {1 << 28} none.csv")["error"], "There is no such file.")
        for argument in ("", "10", "ten a b.csv"):
            with self.assertRaises(ValueError):
                asked("preview", argument)

    def test_replaced_builtins_stand_aside_and_come_back(self):
        def mine(*args, **kwargs):
            raise RuntimeError("not for you")

        with mock.patch.object(builtins, "sorted", mine), mock.patch.object(builtins, "min", mine):
            self.assertEqual(asked("preview", f"10 {1 << 28} a b.csv")["rows"], 40)
            self.assertIs(builtins.min, mine)

    def test_variables_are_listed_still(self):
        answer = asked("variables", "", {"x": 1, "ü": "\ud800\n\"", "t": {"a": 1.5}})
        self.assertEqual([entry["name"] for entry in answer["variables"]], ["x", "ü", "t"])
        with self.assertRaises(ValueError):
            asked("nothing", "")


if __name__ == "__main__":
    unittest.main()
