# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests results.py, report.py, and the calls of peers.py and host_peers.py, without the libraries that are
compared: test_report.py FILE. FILE is testdata/peers_small.json."""

import contextlib
import io
import itertools
import json
import math
import pathlib
import shutil
import sys
import tempfile
import types
import unittest
import unittest.mock

import cases
import compare
import host_peers
import inputs
import operations
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


class HostReport(Temporary):
    """The tables of a host: with the rate of the limit, which is a read for logsumexp."""

    CASES = {operation: cases.Case(operation, "float32", "large", 1, (1024, 1000))
             for operation in ("softmax", "logsumexp")}

    def setUp(self):
        super().setUp()
        self.results = Results(self.directory / "host.json", {"device": "a host", "threads": 2}, {})
        self.add("softmax", "copy", 1e-3)
        self.add("softmax", "kokkos-softmax", 2e-3, runs=[1.5e-3, 2e-3, 2.5e-3])
        self.add("softmax", "onnxruntime", 3e-3)
        self.add("softmax", "exp", 1.6e-3)
        self.add("logsumexp", "exp", 4e-4)
        self.add("logsumexp", "copy", 1e-3)
        self.add("logsumexp", "read", 5e-4)
        self.add("logsumexp", "kokkos-softmax", 1.001e-3)

    def add(self, operation, peer, seconds, **others):
        self.results.add(Result(self.CASES[operation], peer, "ok", seconds, **others))

    def rows(self, results):
        with contextlib.redirect_stdout(io.StringIO()):
            report.write(results, self.directory)
        text = (self.directory / "host.txt").read_text()
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()
                if line.startswith("|")]

    def test_columns(self):
        head, _, softmax, head_of_read, _, logsumexp = self.rows(self.results)
        self.assertEqual(head, ["M x N", "copy GB/s", "copy us", "ours us", "fraction of best copy",
                                "onnxruntime", "of the roof", "best peer", "times the best peer"])
        self.assertEqual(softmax, ["1024x1000", "8.2", "1000.0", "2000.0", "0.50~", "0.33",
                                   "0.80", "onnxruntime", "1.50"])
        self.assertEqual(head_of_read[1:5],
                         ["read GB/s", "read us", "ours us", "fraction of best read"])
        self.assertEqual(logsumexp, ["1024x1000", "8.2", "500.0", "1001.0", "0.50", "0.50", "", ""])
        self.assertEqual(len(head_of_read), len(logsumexp))  # without onnxruntime

    def test_half_of_x_counts_with_lengths(self):
        case = self.CASES["softmax"]._replace(group="lengths")
        for peer, seconds in (("copy", 1e-3), ("exp", 2e-3), ("kokkos-softmax", 4e-3)):
            self.results.add(Result(case, peer, "ok", seconds))
        self.assertEqual(report.fraction_of_roof(self.results, case), 0.25)  # by half of the exponentials
        self.results.add(Result(case, "exp", "ok", 1e-3))
        self.assertEqual(report.fraction_of_roof(self.results, case), 0.1875)  # by three quarters of the copy

    def test_the_runs_are_in_the_file(self):
        again = Results(self.results.path)
        self.assertEqual(list(again.of.values()), list(self.results.of.values()))
        self.assertEqual(self.rows(again), self.rows(self.results))


class Resume(Temporary):
    CASE = cases.of_gpus()[0]

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
        names = [case.name for case in
                 cases.select(cases.of_gpus(), ["softmax"], ["float32"], "/axis0/")]
        self.assertEqual(names, [f"softmax/float32/axis0/{shape}" for shape in
                                 ("21x6291456", "150x894784", "1024x262144", "32768x4096",
                                  "1048576x100")])

    def test_bytes_of_inputs(self):
        def bytes_of(group):
            return cases.Case("softmax", "float32", group, 1, (4, 8)).bytes

        self.assertEqual(bytes_of("no_inputs"), 2 * 128)
        self.assertEqual(bytes_of("bias_axis0"), 3 * 128)
        self.assertEqual(bytes_of("mask"), 2 * 128 + 32)
        self.assertEqual(bytes_of("mask_per_column"), 2 * 128)
        self.assertEqual(bytes_of("lengths"), 64 + 128)
        self.assertEqual(bytes_of("mixed_lengths_axis0"), 64 + 128)

    def test_backward_passes_read_two_arrays(self):
        case = cases.Case("log_softmax_backward", "float32", "large", 1, (4, 8))
        self.assertEqual((case.function, case.bytes, case.copy_bytes), ("log_softmax", 3 * 128, 2 * 128))
        copy, ours = (Result(case, peer, "ok", seconds) for peer, seconds in (("copy", 2.0), ("kokkos-softmax", 4.0)))
        self.assertEqual(report.ratio_to_limit(ours, copy), 0.75)  # 3 arrays in twice the time of 2

    def test_numbers_per_row_count(self):
        """4 rows of 8 columns, with 8 bytes for each label."""
        for type_name, x, number in (("float32", 128, 4), ("float64", 256, 8), ("bfloat16", 64, 4)):
            def bytes_of(operation):
                return cases.Case(operation, type_name, "large", 1, (4, 8)).bytes

            self.assertEqual(bytes_of("logsumexp_backward"), 2 * x + 4 * 2 * number)
            self.assertEqual(bytes_of("cross_entropy"), x + 4 * 8 + 4 * 2 * number)
            self.assertEqual(bytes_of("cross_entropy_backward"), 2 * x + 4 * 8 + 4 * 2 * number)

    def test_results(self):
        for operation, extents in (("softmax", (4, 8)), ("logsumexp", (4,)), ("logsumexp_backward", (4, 8)),
                                   ("cross_entropy", (2, 4)), ("cross_entropy_backward", (4, 8))):
            case = cases.Case(operation, "bfloat16", "large", 1, (4, 8))
            self.assertEqual(case.result_extents, extents)
            self.assertEqual(case.result_type, "float32" if operation == "cross_entropy" else "bfloat16")

    def test_operations_that_read_one_size_of_arrays_have_the_shapes_of_functions_without_inputs(self):
        def shapes(operation):
            return [case[1:] for case in cases.of_gpus()
                    if case.operation == operation and inputs.kind_of(case.group) is None]

        for operation in set(operations.OF_MATRICES) - set(operations.READS_PER_ROW):
            self.assertEqual(shapes(operation), shapes("softmax"))
        self.assertEqual({inputs.kind_of(case.group) for case in cases.of_gpus() if case.reads}, {None})

    def test_shapes_of_losses(self):
        for every in (cases.of_gpus(), cases.of_hosts(2**28)):
            losses = [case for case in every if (case.operation, case.type) == ("cross_entropy", "float32")
                      and case.group != "in_cache"]
            self.assertEqual([case.columns for case in losses], [10, 128, 1000, 4096, 32000, 131072, 10, 128, 1000])
            self.assertEqual([case.axis for case in losses], [1] * 6 + [0] * 3)
        for case in cases.of_gpus():
            if case.operation in operations.READS_PER_ROW:
                elements = 2**24 if case.columns == 10 else 2**27
                self.assertTrue(elements <= case.rows * case.columns < elements + case.columns)

    def test_names_are_unique(self):
        for every in (cases.of_gpus(), cases.of_hosts(2**28), cases.of_hosts(1)):
            names = [case.name for case in every]
            self.assertEqual(len(names), len(set(names)))

    def test_large_cases_are_large(self):
        for case in cases.of_gpus():
            if (case.group, case.type) == ("large", "float32"):
                self.assertGreaterEqual(case.copy_bytes, 2 * 512 * 2**20)

    def test_cases_of_hosts_have_the_bytes_that_are_asked_for(self):
        for size in (2**28, 2**30):
            for case in cases.of_hosts(size):
                if case.group in ("large", "axis0") or inputs.kind_of(case.group):
                    self.assertTrue(0.99 * size < case.read_bytes <= size, case)

    def test_operands_on_hosts(self):
        for operation, type_name in itertools.product(cases.OPERATIONS, cases.HOST_COLUMNS):
            of_kind = {}
            for case in cases.select(cases.of_hosts(2**28), [operation], [type_name]):
                of_kind.setdefault(inputs.kind_of(case.group), []).append((case.group, case.axis, case.columns))
            kinds = set(inputs.KINDS) if operation in peers.FORWARD else set()
            kinds -= set() if operation == "logsumexp" else {"weights", "weights_per_column"}
            self.assertEqual(of_kind.keys() - {None}, kinds)
            for kind in kinds:
                self.assertEqual(of_kind[kind], [(group, axis, columns) for columns in (10, 128, 1000, 4096, 32768)
                                                 for group, axis in ((kind, 1), (f"{kind}_axis0", 0))])

    def test_logsumexp_on_hosts_has_many_columns(self):
        for case in cases.of_hosts(2**28):
            if (case.operation, case.group) == ("logsumexp", "large"):
                self.assertGreaterEqual(case.columns, 781)


class RaggedCases(unittest.TestCase):
    """Cases with ragged rows, which have offsets."""

    def case(self, operation, type_name="float32", extents=(3, 10)):
        return cases.Case(operation, type_name, "power_law", 1, extents)

    def test_properties(self):
        case = self.case("segment_softmax_backward", extents=(3, 35))
        self.assertTrue(case.is_ragged)
        self.assertEqual((case.function, case.first, case.reads), ("softmax", "y", ("dy", "offsets")))
        self.assertEqual((case.rows, case.entries, case.columns, case.x_extents), (3, 35, 11, (35,)))
        matrix = case._replace(operation="softmax_backward", axis=0)
        self.assertFalse(matrix.is_ragged)
        self.assertEqual((matrix.rows, matrix.entries, matrix.columns, matrix.x_extents), (35, 105, 3, (3, 35)))

    def test_bytes(self):
        """3 rows with 10 entries: 4 offsets of 4 bytes. Log-sum-exps of bfloat16 are of float32."""
        for type_name, x, lse in (("float32", 40, 12), ("float64", 80, 24), ("bfloat16", 20, 12)):
            for operation, size in (("segment_softmax", 2 * x + 16), ("segment_logsumexp", x + 16 + lse),
                                    ("segment_softmax_backward", 3 * x + 16)):
                case = self.case(operation, type_name)
                self.assertEqual((case.bytes, case.read_bytes, case.copy_bytes), (size, x, 2 * x), case.name)

    def test_results(self):
        for operation, extents, type_name in (("segment_softmax", (10,), "bfloat16"),
                                              ("segment_logsumexp", (3,), "float32"),
                                              ("segment_softmax_backward", (10,), "bfloat16")):
            case = self.case(operation, "bfloat16")
            self.assertEqual((case.result_extents, case.result_type), (extents, type_name))
        self.assertEqual(self.case("segment_logsumexp", "float64").result_type, "float64")

    def shapes(self, every, operation, type_name):
        """[(group, extents)]."""
        selected = cases.select(every, [operation], [type_name])
        self.assertEqual({case.axis for case in selected} - {1}, set())
        return [(case.group, case.extents) for case in selected]

    def test_shapes_on_gpus(self):
        wanted = [("uniform", (11184810, 134217720)), ("uniform", (2**20, 2**27)), ("uniform", (134217, 134217000)),
                  ("uniform", (2**15, 2**27)), ("power_law", (2**22, 2**27)), ("long_row", (1000001, 22000000))]
        for operation, type_name in itertools.product(operations.RAGGED, cases.TYPE_BYTES):
            shapes = self.shapes(cases.of_gpus(), operation, type_name)
            self.assertEqual(shapes, [] if type_name == "float16" else wanted)

    def test_shapes_on_hosts(self):
        sizes = (("float32", 2**28), ("float64", 2**22))
        for operation, (type_name, size) in itertools.product(operations.RAGGED, sizes):
            shapes = self.shapes(cases.of_hosts(size), operation, type_name)
            self.assertEqual([group for group, _ in shapes], 4 * ["uniform"] + ["power_law", "long_row"])
            for group, (rows, entries) in shapes:
                bytes_of_x = entries * cases.TYPE_BYTES[type_name]
                self.assertLessEqual(bytes_of_x, size)
                if group != "long_row" or size < 2**26:
                    self.assertLess(0.99 * size, bytes_of_x)
            self.assertEqual([entries / rows for _, (rows, entries) in shapes[:4]], [12, 128, 1000, 4096])
            self.assertEqual(shapes[4][1][1] // shapes[4][1][0], 32)
            # 2^19 doubles are enough for 23 831 rows of 12 and one of 238 310
            self.assertEqual(shapes[5][1], (1000001, 22000000) if size == 2**28 else (23832, 22 * 23831))

    def test_which_peers_they_have(self):
        of_gpus = ["copy", "kokkos-softmax", "torch", "torch.compile", "triton"]
        wanted = {"cuda": {"segment_softmax": [*of_gpus, "pyg"]},
                  "cpu": {"segment_softmax": ["copy", "exp", "kokkos-softmax", "torch", "torch.compile"],
                          "segment_logsumexp": ["copy", "read", "exp", "kokkos-softmax", "torch", "torch.compile"],
                          "segment_softmax_backward": ["copy", "kokkos-softmax", "torch", "torch.compile"]}}
        results = Results(pathlib.Path("there is no such file"))
        for (device, classes), operation in itertools.product(compare.CLASSES.items(), operations.RAGGED):
            arguments = types.SimpleNamespace(device=device, retry=False)
            names = list(compare.peers_to_do(self.case(operation), classes, results, arguments))
            self.assertEqual(names, wanted[device].get(operation, of_gpus))


class RaggedReport(Temporary):
    SHAPES = ((10, 10000), (100, 1200))

    def tables(self, machine, peers_of_all):
        """The lines of the tables of cases in which each peer takes a time per entry."""
        results = Results(self.directory / "ragged.json", {"device": "a device", **machine}, {})
        for operation, extents in itertools.product(operations.RAGGED, self.SHAPES):
            case = cases.Case(operation, "float32", "uniform", 1, extents)
            for peer, seconds in peers_of_all:
                results.add(Result(case, peer, "ok", seconds * case.entries))
        again = Results(results.path)
        self.assertEqual(again.cases(), results.cases())
        with contextlib.redirect_stdout(io.StringIO()):
            report.write(again, self.directory)
        return (self.directory / "ragged.txt").read_text().splitlines()

    def table(self, lines, title):
        begin = lines.index(title) + 1
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[begin:begin + 4]]

    def test_on_a_gpu(self):
        lines = self.tables({}, (("copy", 1e-9), ("kokkos-softmax", 2e-9), ("torch", 8e-9)))
        head, _, *rows = self.table(lines, "segment_softmax, float32, uniform")
        self.assertEqual(head, ["rows x entries", "copy us", "ours us", "kokkos-softmax", "torch", "best peer",
                                "its time / ours"])
        # By the lengths of the rows: 12, then 1000. 101 offsets beside 2400 numbers add 4 % to the bytes.
        self.assertEqual(rows, [["100x1200", "1.2", "2.4", "0.52", "0.13", "torch", "4.00"],
                                ["10x10000", "10.0", "20.0", "0.50", "0.13", "torch", "4.00"]])
        _, _, _, gradients = self.table(lines, "segment_softmax_backward, float32, uniform")
        self.assertEqual(gradients[3], "0.75")  # 3 arrays in twice the time of 2

    def test_on_a_host(self):
        lines = self.tables({"threads": 1}, (("copy", 1e-9), ("read", 5e-10), ("exp", 1e-9), ("kokkos-softmax", 2e-9)))
        head, _, row, _ = self.table(lines, "segment_logsumexp, float32, uniform")
        self.assertEqual(head[:5], ["rows x entries", "read GB/s", "read us", "ours us", "fraction of best read"])
        # 4800 bytes of x, 404 of offsets and 400 of results, in four times the time of a read of x
        self.assertEqual(row[:6], ["100x1200", "8.0", "0.6", "2.4", "0.29", "0.50"])


class FakeTorch(types.ModuleType):
    """Records the arguments of calls of its functions."""

    def __init__(self):
        super().__init__("torch")
        self.calls = []
        for name in ("softmax", "log_softmax", "logsumexp", "sum", "set_num_threads", "where"):
            setattr(self, name, self._function(name))
        operators = {f"_{name}_backward_data": types.SimpleNamespace(out=self._function(f"{name}_backward"))
                     for name in ("softmax", "log_softmax")}
        self.nn = types.SimpleNamespace(functional=types.SimpleNamespace(cross_entropy=self._function("cross_entropy")))
        self.ops = types.SimpleNamespace(aten=types.SimpleNamespace(**operators))

    def _function(self, name):
        def function(*arguments, **options):
            self.calls.append((name, *arguments, options))
            return options.get("out", options.get("grad_input", FakeTensor("a new tensor")))
        return function

    def from_numpy(self, array):
        return FakeTensor(f"tensor of {array}")


class FakeTensor(str):
    dtype = "its type"

    def reshape(self, extents):
        return self


class Peers(unittest.TestCase):
    GIVEN = {"dy": "dy"}  # what backward passes read besides x
    NAMES_OF_OUT = {"softmax_backward": "grad_input", "log_softmax_backward": "out"}

    def call_of(self, name, operation, given, group="axis0"):
        """What a call of a prepared peer on a GPU calls, and its result."""
        torch = FakeTorch()
        case = cases.select(cases.of_gpus(), [operation], ["float32"], group)[0]
        call = peers.prepare(peers.PEERS[name](peers.Setup(None, torch=torch)), case, FakeTensor("x"), "y", given)
        result = call()
        self.assertEqual(len(torch.calls), 1)
        return torch.calls[0], result

    def test_torch_on_a_gpu_is_called_as_users_do(self):
        for operation in peers.FORWARD:
            self.assertEqual(self.call_of("torch", operation, {}),
                             ((operation, "x", {"dim": 0}), "a new tensor"))
        self.assertEqual(self.call_of("sum", "logsumexp", {}), (("sum", "x", {"dim": 0}), "a new tensor"))

    def test_torch_on_a_gpu_computes_gradients_as_autograd_does(self):
        for operation, out in self.NAMES_OF_OUT.items():
            self.assertEqual(self.call_of("torch", operation, self.GIVEN),
                             ((operation, "dy", "x", 0, "its type", {out: "y"}), "y"))

    def test_torch_on_a_gpu_computes_each_loss(self):
        self.assertEqual(self.call_of("torch", "cross_entropy", {"labels": "labels"}, "large"),
                         (("cross_entropy", "x", "labels", {"reduction": "none"}), "a new tensor"))

    def test_the_library_gets_arrays_in_its_order(self):
        library, case = unittest.mock.Mock(), cases.Case("cross_entropy_backward", "float32", "large", 1, (4, 8))
        given = {name: name for name in ("dloss", "lse", "labels")}
        peers.prepare_ours(library, 0, case, "x", "dx", given, str.upper)
        library.prepare_cross_entropy_backward.assert_called_with(
            0, "X", "LABELS", "LSE", "DLOSS", "DX", stream=None, axis=1)
        peers.prepare_ours(library, 0, case._replace(operation="cross_entropy"), "x", ("loss", "lse"), given, str.upper)
        library.prepare_cross_entropy.assert_called_with(0, "X", "LABELS", "LOSS", "LSE", stream=None, axis=1)

    def test_the_library_gets_ragged_rows(self):
        library, case = unittest.mock.Mock(), cases.Case("segment_softmax", "float32", "uniform", 1, (2, 8))
        given = {"offsets": "offsets", "dy": "dy"}
        for name in ("softmax", "logsumexp"):
            peers.prepare_ours(library, 0, case._replace(operation=f"segment_{name}"), "x", "y", given, str.upper, "s")
            library.prepare_segment_apply.assert_called_with(name, 0, "X", "OFFSETS", "Y", stream="s")
        case = case._replace(operation="segment_softmax_backward")
        peers.prepare_ours(library, 0, case, "y", "dx", given, str.upper)
        library.prepare_segment_backward.assert_called_with("softmax", 0, "Y", "DY", "OFFSETS", "DX", stream=None)

    def test_the_library_gets_operands(self):
        library, case = unittest.mock.Mock(), cases.Case("softmax", "float32", "causal", 1, (4, 8))
        for given, operands in (({"mask": "m"}, {"mask": "M"}), ({"causal": 2}, {"causal": 2})):
            peers.prepare_ours(library, 0, case, "x", "y", given, str.upper)
            library.prepare.assert_called_with(
                "softmax", 0, "X", "Y", stream=None, axis=1, empty_rows="zero", **operands)

    def test_peers_without_operands_refuse_them(self):
        case = cases.Case("softmax", "float32", "causal", 1, (4, 8))
        for name in ("onednn", "onnxruntime", "jax", "scipy"):
            peer = object.__new__(host_peers.PEERS[name])
            with self.assertRaisesRegex(peers.Refused, "takes x alone"):
                peers.prepare(peer, case, "x", "y", {"causal": 2})

    def calls_on_a_host(self, operation, given):
        """What a call of PyTorch on a host calls, and its result."""
        torch = FakeTorch()
        with unittest.mock.patch.dict(sys.modules, torch=torch):
            peer = host_peers.Torch(peers.Setup(None, "cpu", threads=3))
        case = cases.select(cases.of_hosts(2**20), [operation], ["float32"], "axis0")[0]
        result = peers.prepare(peer, case, "x", "y", given)()
        return torch.calls, result

    def test_torch_on_a_host_has_the_threads_and_allocates_nothing(self):
        for operation in peers.FORWARD:
            self.assertEqual(self.calls_on_a_host(operation, {}), ([
                ("set_num_threads", 3, {}),
                (operation, "tensor of x", {"dim": 0, "out": "tensor of y"})], "tensor of y"))
        for operation, out in self.NAMES_OF_OUT.items():
            self.assertEqual(self.calls_on_a_host(operation, self.GIVEN)[0][1], (
                operation, "tensor of dy", "tensor of x", 0, "its type", {out: "tensor of y"}))

    def test_torch_on_a_host_computes_the_values_first(self):
        for operation in peers.FORWARD:
            calls, result = self.calls_on_a_host(operation, {"mask": "mask"})
            self.assertEqual(calls[1:], [
                ("where", "tensor of mask", "tensor of x", -math.inf, {}),
                (operation, "a new tensor", {"dim": 0, "out": "tensor of y"})])
            self.assertEqual(result, "tensor of y")

    def test_what_is_missing_is_reported(self):
        names = ["copy", "torch", "onnxruntime", "jax", "scipy"]
        absent = dict.fromkeys(("torch", "onnx", "onnxruntime", "jax", "scipy"))
        with unittest.mock.patch.dict(sys.modules, absent):
            loaded, missing = peers.load(names, host_peers.PEERS, peers.Setup(None, "cpu"))
        self.assertFalse(loaded)
        self.assertEqual(list(missing), names)
        self.assertRegex(missing["copy"], r"libkokkossoftmax_host_peers.so was not found .*--helper")


if __name__ == "__main__":
    unittest.main()
