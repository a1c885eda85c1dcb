# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests results.py, report.py and the calls of peers.py, without PyTorch: test_report.py FILE. FILE is
testdata/peers_small.json."""

import contextlib
import io
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import cases
import peers
import report
from results import Result, Results

STORED = pathlib.Path(sys.argv.pop(1))


class Temporary(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.path = self.directory / "run.json"
        shutil.copy(STORED, self.path)


class Report(Temporary):
    def lines(self):
        with contextlib.redirect_stdout(io.StringIO()):
            report.write(Results(self.path), self.directory)
        return (self.directory / "run.txt").read_text().splitlines()

    def cells(self, shape):
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in self.lines()
                if line.startswith("|") and line.split("|")[1].strip() == shape]

    def test_ratios(self):
        softmax, logsumexp = self.cells("131072x1024")
        self.assertEqual(softmax, ["131072x1024", "256.0", "264.0", "0.97", "0.95", "0.96",
                                   "quack", "1.01"])
        self.assertEqual(logsumexp[3], "0.99")  # it moves half the bytes of the copy in half the time

    def test_what_was_not_timed_is_shown(self):
        self.assertEqual(self.cells("26843x5001")[0][5], "refused")
        self.assertEqual(self.cells("131072x1024")[1][4], "FAILED")
        self.assertEqual(self.cells("1048576x100")[0][4], "0.0002*")
        text = "\n".join(self.lines())
        self.assertIn("jax is missing: ModuleNotFoundError", text)
        self.assertIn("quack refused softmax/float32/large/26843x5001: AssertionError", text)
        self.assertIn("torch failed logsumexp/float32/large/131072x1024: wrong by 0.5", text)

    def test_pictures(self):
        if report.import_pyplot() is None:
            self.skipTest("no matplotlib")
        self.lines()
        self.assertEqual({path.name for path in self.directory.glob("*.png")},
                         {"run_softmax_float32.png", "run_logsumexp_float32.png"})


class Resume(Temporary):
    CASE = cases.all_cases()[0]

    def test_file_is_the_same_after_reading_and_writing(self):
        Results(self.path).write()
        self.assertEqual(json.loads(self.path.read_text()), json.loads(STORED.read_text()))

    def test_what_is_there_is_known(self):
        results = Results(self.path)
        results.add(Result(self.CASE, "torch", "ok", 1e-3))
        again = Results(self.path, results.machine, results.library)
        self.assertTrue(again.has(self.CASE, "torch"))
        self.assertFalse(again.has(self.CASE, "quack"))

    def test_end_of_the_process_is_the_peers_failure(self):
        Results(self.path).add(Result(self.CASE, "torch", "running"))
        result = Results(self.path).get(self.CASE, "torch")
        self.assertEqual((result.status, result.message),
                         ("failed", "the process ended during this case"))

    def test_file_of_another_library(self):
        with self.assertRaisesRegex(SystemExit, "can't be continued"):
            Results(self.path, {"device": "other"}, {})

    def test_file_of_something_else(self):
        self.path.write_text("[]")
        with self.assertRaisesRegex(SystemExit, "can't be read"):
            Results(self.path)


class Cases(unittest.TestCase):
    def test_selection(self):
        names = [case.name for case in cases.select(["softmax"], ["float32"], "axis0")]
        self.assertEqual(names, [f"softmax/float32/axis0/{shape}" for shape in
                                 ("21x6291456", "150x894784", "1024x262144", "32768x4096",
                                  "1048576x100")])

    def test_names_are_unique(self):
        names = [case.name for case in cases.all_cases()]
        self.assertEqual(len(names), len(set(names)))

    def test_large_cases_are_large(self):
        for case in cases.all_cases():
            if (case.group, case.type) == ("large", "float32"):
                self.assertGreaterEqual(case.copy_bytes, 2 * 512 * 2**20)


class FakeTorch:
    """Records the arguments of calls of its functions."""

    def __init__(self):
        self.calls = []
        for name in ("softmax", "log_softmax", "logsumexp", "sum"):
            setattr(self, name, self._function(name))

    def _function(self, name):
        def function(x, **options):
            self.calls.append((name, x, options))
            return options.get("out", "a new tensor")
        return function


class Peers(unittest.TestCase):
    def call_of(self, name, device, operation):
        """The calls that one call of a prepared peer makes, and its result."""
        torch = FakeTorch()
        case = cases.select([operation], ["float32"], "axis0")[0]
        call = peers.PEERS[name](torch, device, None).prepare(case, "x", "y")
        result = call()
        self.assertEqual(len(torch.calls), 1)
        return torch.calls[0], result

    def test_torch_on_a_host_allocates_nothing(self):
        for operation in cases.OPERATIONS:
            self.assertEqual(self.call_of("torch", "cpu", operation),
                             ((operation, "x", {"dim": 0, "out": "y"}), "y"))
        self.assertEqual(self.call_of("sum", "cpu", "logsumexp"),
                         (("sum", "x", {"dim": 0, "out": "y"}), "y"))

    def test_torch_on_a_gpu_is_called_as_users_do(self):
        for operation in cases.OPERATIONS:
            self.assertEqual(self.call_of("torch", "cuda", operation),
                             ((operation, "x", {"dim": 0}), "a new tensor"))


if __name__ == "__main__":
    unittest.main()
