# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests host_machine.py, the C functions of HostPeers.cpp and, if NumPy is installed, measure_host.py:
test_host.py HELPER. HELPER is libkokkossoftmax_host_peers.so."""

import argparse
import contextlib
import ctypes
import io
import itertools
import math
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import cases
import compare
import host_machine
import host_peers
import inputs
import operations
import peers
import ragged
from results import Result, Results

try:
    import measure_host
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

SETUP = peers.Setup(None, "cpu", helper=sys.argv.pop(1))
HELPER = host_peers.Helper(SETUP.helper)


class Machine(unittest.TestCase):
    def cache(self, **sizes):
        """The last-level cache of a system that says these sizes."""
        with tempfile.TemporaryDirectory() as directory:
            for number, (level, size) in enumerate(sizes.items()):
                index = pathlib.Path(directory) / f"index{number}"
                index.mkdir()
                (index / "level").write_text(level[-1] + "\n")
                (index / "size").write_text(size + "\n")
            return host_machine.last_level_cache(pathlib.Path(directory))

    def test_last_level_cache(self):
        self.assertEqual(self.cache(a1="48K", b1="32K", c3="36M", d2="2048K"), 36 * 2**20)
        self.assertEqual(self.cache(a1="32K", b2="512"), 512)
        self.assertEqual(self.cache(a1="32K", b2="large"), 32 * 2**10)
        self.assertIsNone(self.cache())

    def test_default_bytes(self):
        mib = 2**20
        for cache, size in ((None, 256), (mib, 64), (36 * mib, 72), (128 * mib, 256),
                            (260 * mib, 256)):
            self.assertEqual(host_machine.default_bytes(cache)[0], size * mib)

    def test_environment_of_threads(self):
        for threads in (1, 2):
            wanted = host_machine.thread_environment(threads, {"XLA_FLAGS": "--xla_dump_to=here"})
            self.assertEqual(wanted["OMP_NUM_THREADS"], str(threads))
            self.assertEqual(wanted["OMP_PROC_BIND"], "spread")
            self.assertEqual("XLA_FLAGS" in wanted, threads == 1)
            environment = {"XLA_FLAGS": "--xla_dump_to=here", **wanted}
            self.assertIn("--xla_dump_to=here", environment["XLA_FLAGS"])
            self.assertTrue(host_machine.is_set_up(threads, environment))
            self.assertFalse(host_machine.is_set_up(threads + 1, environment))

    def test_settings_of_the_user_are_kept(self):
        environment = {"OMP_PROC_BIND": "close", "OMP_WAIT_POLICY": "active"}
        wanted = host_machine.thread_environment(2, environment)
        self.assertFalse({"OMP_PROC_BIND", "OMP_PLACES", "GOMP_SPINCOUNT"} & wanted.keys())

    @unittest.skipUnless(hasattr(os, "sched_setaffinity"), "this system has no affinity")
    def test_processors_are_one_for_each_thread(self):
        before = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, before)
        allowed = host_machine.Processors(1)
        with allowed.free():
            self.assertEqual(os.sched_getaffinity(0), {min(before)})
        self.assertEqual(os.sched_getaffinity(0), {min(before)})


class Resume(unittest.TestCase):
    """A run that continues: peers that take turns are measured together."""

    def test_what_is_left_to_do(self):
        case = cases.of_hosts(2**20)[0]
        loaded = {"a": object(), "b": object(), "c": object(), "read": host_peers.Read(SETUP)}
        with tempfile.TemporaryDirectory() as directory:
            results = Results(pathlib.Path(directory) / "run.json")
            results.add(Result(case, "a", "ok", 1.0))
            results.add(Result(case, "b", "failed"))

            def to_do(**options):
                arguments = argparse.Namespace(**{"device": "cpu", "retry": False, **options})
                return list(compare.peers_to_do(case, loaded, results, arguments))

            self.assertEqual(to_do(), ["a", "c"])  # read is for logsumexp
            self.assertEqual(to_do(retry=True), ["a", "b", "c"])
            self.assertEqual(to_do(device="cuda"), ["c"])
            results.add(Result(case, "c", "slow", 1.0))
            self.assertEqual(to_do(), [])
            self.assertEqual(to_do(retry=True), ["a", "b", "c"])

    def test_an_interrupt_leaves_no_result(self):
        class Interrupted:
            def measure(self, case, loaded):
                yield "a", {"status": "ok", "seconds": 1.0}
                yield "b", {"status": "running"}
                raise KeyboardInterrupt

        case = cases.of_hosts(2**20)[0]
        with tempfile.TemporaryDirectory() as directory:
            results = Results(pathlib.Path(directory) / "run.json")
            with self.assertRaises(KeyboardInterrupt):
                compare.run_case(case, {"a": None, "b": None, "c": None}, results, Interrupted())
            self.assertEqual(list(Results(results.path).of), [(case.name, "a")])


class List(unittest.TestCase):
    def listed(self, *arguments):
        output = io.StringIO()
        with unittest.mock.patch.object(sys, "argv", ["compare.py", "--list", *arguments]):
            with unittest.mock.patch("signal.signal"), contextlib.redirect_stdout(output):
                compare.main()
        return output.getvalue().splitlines()

    def test_ragged_rows_on_a_gpu(self):
        self.assertEqual(self.listed("--operations", "segment_softmax,segment_logsumexp", "--types", "bfloat16,float16",
                                     "--cases", "l"), [
            f"{operation}/bfloat16/{name}" for operation in ("segment_softmax", "segment_logsumexp") for name in (
                "uniform/11184810x134217720", "uniform/1048576x134217728", "uniform/134217x134217000",
                "uniform/32768x134217728", "power_law/4194304x134217728", "long_row/1000001x22000000")])

    def test_ragged_rows_on_a_host(self):
        self.assertEqual(self.listed("--device", "cpu", "--bytes", "64M", "--operations", "segment_softmax_backward",
                                     "--types", "float64"), [
            f"segment_softmax_backward/float64/{name}" for name in (
                "uniform/699050x8388600", "uniform/65536x8388608", "uniform/8388x8388000", "uniform/2048x8388608",
                "power_law/262144x8388608", "long_row/381301x8388600")])

    def test_nothing_is_selected(self):
        for device in ("cuda", "cpu"):
            for name, value in (("--types", "float16"), ("--cases", "in_cache")):
                with self.assertRaisesRegex(SystemExit, "no case is selected"):
                    self.listed("--device", device, "--bytes", "1M", "--operations", "segment_softmax", name, value)


class CFunctions(unittest.TestCase):
    def test_copies(self):
        for number in range(HELPER.copies()):
            for size in (0, 1, 63, 64, 1000, 100001):
                x, y = (ctypes.create_string_buffer(size + 1) for _ in range(2))
                x.raw = bytes(i * 37 % 251 + 1 for i in range(size)) + b"x"
                HELPER.copy(number, ctypes.addressof(x), ctypes.addressof(y), size)
                self.assertEqual(y.raw, x.raw[:size] + b"\0", HELPER.copy_name(number))

    def test_reads(self):
        for number in range(HELPER.reads()):
            for size in (0, 1, 8, 63, 64, 1000, 100001):
                data = bytes(i * 37 % 251 + 1 for i in range(size))
                x = ctypes.create_string_buffer(data, size + 1)
                words = [data[i:i + 8] for i in range(0, size, 8)]
                expected = 0
                for word in words:
                    expected ^= int.from_bytes(word, "little")
                self.assertEqual(HELPER.read(number, ctypes.addressof(x), size), expected,
                                 HELPER.read_name(number))

    def prepare_onednn(self, operation, axis, x, y):
        return HELPER.prepare_onednn(operation, 2, 3, axis, ctypes.addressof(x), ctypes.addressof(y))

    def test_onednn(self):
        if reason := HELPER.why_no_onednn().decode():
            self.skipTest(reason)
        self.assertRegex(HELPER.onednn_version().decode(), r"^\d+\.\d+\.\d+$")
        x, y = (ctypes.c_float * 6)(1, 2, 4, 0.5, -1, 3), (ctypes.c_float * 6)()
        for is_log in (0, 1):
            for axis, rows in ((1, ((0, 1, 2), (3, 4, 5))), (0, ((0, 3), (1, 4), (2, 5)))):
                prepared = self.prepare_onednn(is_log, axis, x, y)
                if not prepared:
                    self.assertIn(b"only a reference implementation", HELPER.last_error())
                    continue
                self.assertTrue(prepared and HELPER.run(prepared), HELPER.last_error())
                HELPER.free(prepared)
                for row in rows:
                    total = math.log(math.fsum(math.exp(x[i]) for i in row))
                    for i in row:
                        want = x[i] - total if is_log else math.exp(x[i] - total)
                        self.assertAlmostEqual(y[i], want, delta=1e-5)

    def test_without_onednn(self):
        if not HELPER.why_no_onednn():
            self.skipTest("there is oneDNN")
        x = (ctypes.c_float * 6)()
        self.assertFalse(self.prepare_onednn(0, 1, x, x))
        self.assertIn(b"without oneDNN", HELPER.last_error())
        self.assertIsNone(host_peers.onednn_version(SETUP.helper))
        with self.assertRaisesRegex(RuntimeError, "without oneDNN"):
            host_peers.OneDnn(SETUP)


class Definition:
    """A peer that computes by the definition, independently of operations.py. Its results are multiplied by
    `factor`."""

    def __init__(self, factor=1.0, into_y=True):
        self.factor, self.into_y, self.calls = factor, into_y, 0

    def prepare(self, case, x, y):
        return self.prepare_with(case, x, y, {})

    def prepare_with(self, case, x, y, given):
        def call():
            self.calls += 1
            got = (self.factor * self.compute(case, x.astype(numpy.float64), given)).astype(case.type)
            if not self.into_y:
                return got
            y[...] = got
            return None
        return call

    def compute(self, case, v, given):
        if "offsets" in given:
            return numpy.concatenate(list(self.of_ragged_rows(case, v, given)))
        v = self.with_operands(case, v, given)
        with numpy.errstate(divide="ignore"):  # the logarithm of 0
            total = numpy.log(numpy.exp(v).sum(case.axis, keepdims=True))
        if case.first == "y":
            dy = given["dy"].astype(numpy.float64)
            p, t = (v, v * dy) if case.function == "softmax" else (numpy.exp(v), dy)
            return t - p * t.sum(case.axis, keepdims=True)
        if case.operation in ("softmax", "log_softmax"):
            with numpy.errstate(invalid="ignore"):  # rows without visible entries give NaN
                log_y = v - total
            return numpy.exp(log_y) if case.operation == "softmax" else log_y
        if case.operation == "logsumexp":
            return total.squeeze(case.axis)
        if case.operation == "cross_entropy":
            of_label = (v * self.is_label(case, given)).sum(case.axis)
            return numpy.stack([total.squeeze(case.axis) - of_label, total.squeeze(case.axis)])
        target = 0 if case.function == "logsumexp" else self.is_label(case, given)
        return numpy.expand_dims(given[case.reads[-1]], case.axis) * (numpy.exp(v - total) - target)

    def of_ragged_rows(self, case, v, given):
        """Yields the result of each row, which is a matrix."""
        for begin, end in zip(given["offsets"], given["offsets"][1:]):
            of_row = case._replace(operation=case.operation.removeprefix("segment_"), extents=(1, end - begin))
            row, *others = (array[None, begin:end] for array in (v, *([given["dy"]] if "dy" in given else [])))
            yield self.compute(of_row, row, dict(zip(["dy"], others))).reshape(-1)

    def with_operands(self, case, v, given):
        if "bias" in given:
            v = v + given["bias"]
        if "weights" in given:
            v = v + numpy.log(given["weights"].astype(numpy.float64))
        if "mask" in given:
            v = numpy.where(given["mask"], v, -math.inf)
        if "lengths" in given or "causal" in given:
            for number, row in enumerate(numpy.moveaxis(v, case.axis, -1)):
                end = given["lengths"][number] if "lengths" in given else number + given["causal"] + 1
                row[max(end, 0):] = -math.inf
        return v

    def is_label(self, case, given):
        """1 for the entries of labels, and 0 for the others."""
        columns = numpy.expand_dims(numpy.arange(case.columns), 1 - case.axis)
        return (columns == numpy.expand_dims(given["labels"], case.axis)).astype(numpy.float64)


class WithoutLabels(Definition):
    def is_label(self, case, given):
        return 0


class WithoutDerivative(Definition):
    """Computes as if the derivatives of the loss were 1."""

    def prepare_with(self, case, x, y, given):
        ones = {case.reads[-1]: numpy.ones(case.rows, case.type)}
        return super().prepare_with(case, x, y, {**given, **ones})


class LossAlone(Definition):
    def compute(self, case, v, given):
        return super().compute(case, v, given)[0]


class Incomplete(Definition):
    """Leaves the last row of y as it is."""

    def prepare_with(self, case, x, y, given):
        whole, result = super().prepare_with(case, x, y, given), y.copy()

        def call():
            result[...] = y
            whole()
            y[-1] = result[-1]
        return call


class WrongEntry(Definition):
    """One of the results is wrong."""

    def compute(self, case, v, given):
        got = super().compute(case, v, given)
        got[3 * len(got) // 4] += 0.01 * (1 + abs(got[3 * len(got) // 4]))
        return got


class WrongRow(Definition):
    """The results of one ragged row are wrong. It is the one in the middle."""

    def of_ragged_rows(self, case, v, given):
        for number, row in enumerate(super().of_ragged_rows(case, v, given)):
            yield row * (1.01 if number == case.rows // 2 else 1)


class WithoutOperands(Definition):
    def with_operands(self, case, v, given):
        return v


class InEmptyRows(Definition):
    """The results of rows without visible entries are a number."""

    def __init__(self, number):
        super().__init__()
        self.number = number

    def compute(self, case, v, given):
        got = super().compute(case, v, given)
        return numpy.where(numpy.isnan(got), self.number, got)


class NanInLongRows(Definition):
    """The rows whose entries are all visible have a NaN."""

    def compute(self, case, v, given):
        got = super().compute(case, v, given)
        is_long = given["lengths"] == case.columns
        numpy.moveaxis(got, case.axis, -1)[is_long, 0] = math.nan
        return got


class NanEverywhere(Definition):
    def compute(self, case, v, given):
        return numpy.full(case.result_extents, math.nan)


class WithoutSum(Definition):
    """Computes gradients without the sum."""

    def prepare_with(self, case, x, y, given):
        def call():
            y[...] = x * given["dy"] if case.function == "softmax" else given["dy"]
        return call


class Refusing:
    def prepare(self, case, x, y):
        raise peers.Refused("knows no softmax")


class MeasureTest(unittest.TestCase):
    def measure(self, case, loaded, time_limit=100.0):
        """{peer: result}; and the order of what the session yields."""
        session = measure_host.Session(time_limit, 3, contextlib.nullcontext)
        results, order = {}, []
        for name, result in session.measure(case, loaded):
            order.append((name, result and result["status"]))
            results[name] = result
        return results, order

    def messages(self, case, checked):
        """What is wrong with the results of peers, which are not timed."""
        bench, messages = self.bench(case), []
        for peer in checked:
            bench.check(peer)
            messages.append(bench.message)
        return messages

    def bench(self, case):
        return measure_host.Session(100.0, 3, contextlib.nullcontext).bench(case)


@unittest.skipIf(numpy is None, "there is no NumPy")
class Measure(MeasureTest):
    def case(self, operation="softmax", axis=1, type_name="float32", extents=(20, 30)):
        return cases.Case(operation, type_name, "large", axis, extents)

    def test_right_results_of_every_operation_type_and_axis(self):
        for operation in operations.OF_MATRICES:
            for type_name in ("float32", "float64"):
                for axis in (0, 1):
                    results, _ = self.measure(self.case(operation, axis, type_name),
                                              {"a": Definition(), "b": Definition(into_y=False)})
                    for name in ("a", "b"):
                        self.assertEqual(results[name]["status"], "ok", results)
                        self.assertEqual(len(results[name]["runs"]), 3)
                        self.assertGreater(results[name]["seconds"], 0)

    def test_wrong_results_are_not_timed(self):
        for wrong in (Definition(1.01), Incomplete()):
            for operation in operations.OF_MATRICES:
                results, _ = self.measure(self.case(operation), {"wrong": wrong})
                self.assertEqual(results["wrong"]["status"], "failed", operation)
                self.assertIn("wrong by", results["wrong"]["message"])

    def test_labels_and_derivatives_are_checked(self):
        wrong = {"cross_entropy": [WithoutLabels()], "logsumexp_backward": [WithoutDerivative()],
                 "cross_entropy_backward": [WithoutLabels(), WithoutDerivative()]}
        for operation, axis, extents in itertools.product(wrong, (0, 1), ((20, 30), (1000, 1000))):
            for peer in wrong[operation]:
                results, _ = self.measure(self.case(operation, axis, extents=extents), {"wrong": peer})
                self.assertIn("wrong by", results["wrong"]["message"])

    def cases_with_operands(self, names=peers.FORWARD, kinds=inputs.KINDS, shapes=((20, 30), (200, 3))):
        """The second shape has rows without visible entries. extents: of rows and columns."""
        for operation, kind, type_name, axis, extents in itertools.product(
                names, kinds, ("float32", "float64"), (0, 1), shapes):
            if inputs.are_of(operation, kind):
                group, extents = (kind, extents) if axis == 1 else (f"{kind}_axis0", extents[::-1])
                yield self.case(operation, axis, type_name, extents)._replace(group=group)

    def test_right_results_with_operands(self):
        for case in self.cases_with_operands():
            self.assertEqual(self.messages(case, [Definition(), Definition(into_y=False)]), ["", ""], case.name)

    def test_operands_are_checked(self):
        for case in self.cases_with_operands(shapes=[(20, 30)]):
            for message in self.messages(case, [WithoutOperands(), Definition(1.01)]):
                self.assertIn("wrong by", message, case.name)

    def test_rows_without_visible_entries(self):
        right = {"softmax": 0.0, "log_softmax": -math.inf}
        for case in self.cases_with_operands(right, ("mixed_lengths", "causal"), [(200, 3)]):
            message, of_one = self.messages(case, [InEmptyRows(right[case.operation]), InEmptyRows(1.0)])
            self.assertEqual(message, "", case.name)
            self.assertIn("wrong by", of_one, case.name)

    def test_nan_is_found_beside_rows_without_visible_entries(self):
        for case in self.cases_with_operands(kinds=["mixed_lengths"], shapes=[(200, 3)]):
            wrong = NanEverywhere() if case.operation == "logsumexp" else NanInLongRows()
            self.assertIn("wrong by nan", self.messages(case, [wrong])[0], case.name)

    def operand(self, case):
        """(name, operand) of a case that has one."""
        (operand,) = self.bench(case).given.items()
        return operand

    def test_operands_are_as_the_library_takes_them(self):
        for case in self.cases_with_operands(["logsumexp"]):
            kind, (name, operand) = inputs.kind_of(case.group), self.operand(case)
            self.assertEqual(name, "lengths" if kind == "mixed_lengths" else kind.removesuffix("_per_column"))
            if name == "causal":
                self.assertIs(type(operand), int)
                continue
            of_column = (case.columns,) if case.axis == 1 else (case.columns, 1)
            self.assertEqual(operand.dtype, {"mask": "bool", "lengths": "int32"}.get(name, case.type), case.name)
            self.assertEqual(operand.shape, (case.rows,) if name == "lengths" else
                             of_column if kind.endswith("_per_column") else case.extents, case.name)
            self.assertEqual(operand.ctypes.data % measure_host.ALIGNMENT, 0)

    def test_lengths(self):
        for case in self.cases_with_operands(["softmax"], ("lengths", "mixed_lengths"), [(200, 3)]):
            wanted = {0, 1, 2, 3} if "mixed" in case.group else {1}
            self.assertEqual(set(self.operand(case)[1].tolist()), wanted, case.name)

    def test_peers_of_one_array_refuse_operands(self):
        results, _ = self.measure(self.case()._replace(group="bias"), {"a": Refusing()})
        self.assertEqual((results["a"]["status"], results["a"]["message"]), ("refused", peers.ONE_ARRAY))

    def test_the_loss_can_be_returned_alone(self):
        for factor, status in ((1.0, "ok"), (1.01, "failed")):
            results, _ = self.measure(self.case("cross_entropy"), {"a": LossAlone(factor, into_y=False)})
            self.assertEqual(results["a"]["status"], status, results)

    @unittest.skipIf(torch is None, "there is no PyTorch")
    def test_torch(self):
        loaded = {"torch": host_peers.Torch(SETUP)}
        for operation, type_name, axis in itertools.product(operations.OF_MATRICES, ("float32", "float64"), (0, 1)):
            results, _ = self.measure(self.case(operation, axis, type_name), loaded)
            self.assertEqual(results["torch"]["status"], "ok", (operation, results))

    @unittest.skipIf(torch is None, "there is no PyTorch")
    def test_torch_with_operands(self):
        for case in self.cases_with_operands():
            self.assertEqual(self.messages(case, [host_peers.Torch(SETUP)]), [""], case.name)

    def test_sums_of_gradients_are_checked(self):
        for operation in ("softmax_backward", "log_softmax_backward"):
            for axis, extents in ((1, (2, 2**17)), (0, (2**17, 2))):
                results, _ = self.measure(self.case(operation, axis, extents=extents),
                                          {"wrong": WithoutSum(), "right": Definition()})
                self.assertEqual(results["right"]["status"], "ok", results)
                self.assertIn("wrong by", results["wrong"]["message"])

    def test_what_is_yielded(self):
        _, order = self.measure(self.case(), {"a": Definition(), "no": Refusing(),
                                              "b": Definition(1.01), "c": Definition()})
        self.assertEqual(order, [
            ("a", "running"), ("a", None), ("no", "running"), ("no", "refused"),
            ("b", "running"), ("b", "failed"), ("c", "running"), ("c", None),
            ("a", "ok"), ("c", "ok")])

    def test_slow_peers_are_timed_once(self):
        peer = Definition()
        results, _ = self.measure(self.case(), {"a": peer}, time_limit=1e-9)
        self.assertEqual(results["a"]["status"], "slow")
        self.assertEqual(peer.calls, 2)  # to check it and to time it

    def test_peers_take_turns(self):
        calls = []

        def contender(name):
            def call():
                calls.append(name)
                measure_host.time.sleep(0.0012)
            return measure_host.Contender(name, "", call)

        times = measure_host.times_in_turn([contender(name) for name in "abc"], 4)
        self.assertEqual("".join(calls), "aabbcc" + "abccba" * 2)
        self.assertEqual([len(runs) for runs in times], [4, 4, 4])

    def test_the_best_way_counts(self):
        contender = measure_host.Contender
        ways = [contender("copy", "slow", None), contender("copy", "fast", None),
                contender("a", "", None)]
        results = dict(measure_host.best_ways(ways, [[3, 9, 4], [2, 1, 3], [5, 6, 7]]))
        self.assertEqual(results["copy"]["seconds"], 2)
        self.assertEqual(results["copy"]["runs"], [2, 1, 3])
        self.assertTrue(results["copy"]["message"].startswith("fast 2000000.0 us, slow 4000000.0"))
        self.assertEqual((results["a"]["seconds"], results["a"]["message"]), (6, ""))

    def test_limits(self):
        loaded = {"copy": host_peers.Copy(SETUP), "read": host_peers.Read(SETUP), "exp": host_peers.Exp(SETUP)}
        for extents in ((20, 30), (3, 7)):  # with 7 floats, the last word is incomplete
            results, _ = self.measure(self.case("logsumexp", extents=extents), loaded)
            for name in loaded:
                self.assertEqual(results[name]["status"], "ok", results)
            for name in ("copy", "read"):
                self.assertIn(" us", results[name]["message"])

    def test_wrong_copies_reads_and_numbers_of_exponentials_are_found(self):
        for limit in (host_peers.Copy, host_peers.Read, host_peers.Exp):
            class Nothing(limit):
                def alternatives(self, case, x, y):
                    return {"doing nothing": lambda: 1}

            results, _ = self.measure(self.case("logsumexp"), {"limit": Nothing(SETUP)})
            self.assertEqual(results["limit"]["status"], "failed")
            self.assertRegex(results["limit"]["message"], "doing nothing: ")


@unittest.skipIf(numpy is None, "there is no NumPy")
class RaggedRows(MeasureTest):
    def cases(self, names=operations.RAGGED, entries=5000, types=("float32", "float64")):
        for operation, type_name, shape in itertools.product(names, types, cases.ragged_shapes(entries)):
            yield cases.Case(operation, type_name, *shape)

    def test_lengths(self):
        for entries in (1, 100, 5000, 2**17 + 1, 22 * 10**6):
            for group, (rows, all_entries) in ragged.shapes(entries):
                offsets = ragged.offsets(group, rows, all_entries)
                lengths = numpy.diff(offsets)
                self.assertEqual((offsets.dtype, len(lengths)), ("int32", rows))
                self.assertEqual((offsets[0], offsets[-1]), (0, all_entries))
                self.assertGreaterEqual(lengths.min(), 1)
                if group == "uniform":
                    self.assertEqual(lengths.min(), lengths.max())
                elif group == "long_row" and entries > 1:
                    middle = numpy.argmax(lengths)
                    self.assertEqual(lengths[middle], 10 * (rows - 1))
                    self.assertEqual(middle, (rows - 1) // 2)
                    self.assertEqual(set(numpy.delete(lengths, middle)), {12})

    def test_power_law(self):
        rows = 2**20
        offsets = ragged.offsets("power_law", rows, 32 * rows)
        lengths = numpy.diff(offsets)
        numpy.testing.assert_array_equal(offsets, ragged.offsets("power_law", rows, 32 * rows))
        self.assertIn(lengths.min(), (2, 3))
        self.assertTrue(8 * 10**5 < lengths.max() < 10**6)
        # With a density of 1 / length^2, the part of the rows that is longer falls with the length.
        for length in (25, 250, 2500):
            self.assertAlmostEqual((lengths > length).mean() * length, 2.5, delta=0.1)
        for half in numpy.split(lengths, 2):  # in random order
            self.assertAlmostEqual((half > 25).mean(), 0.1, delta=0.005)

    def test_reductions(self):
        for module in filter(None, (numpy, torch)):
            rows = ragged.Rows(module, module.asarray([0, 2, 3, 6], dtype=module.int32))
            v = module.asarray([1.0, 5.0, -2.0, 0.0, 3.0, 2.0])
            self.assertEqual(rows.max(v).tolist(), [5, -2, 3])
            self.assertEqual(rows.sum(v).tolist(), [6, -2, 5])
            self.assertEqual(rows.expand(rows.sum(v)).tolist(), [6, 6, -2, 5, 5, 5])

    def test_right_results(self):
        for case in self.cases():
            self.assertEqual(self.messages(case, [Definition(), Definition(into_y=False)]), ["", ""], case.name)

    def test_wrong_results_are_found(self):
        for case in self.cases():
            for message in self.messages(case, [Definition(1.01), Incomplete(), WrongEntry(), WrongRow()]):
                self.assertIn("wrong by", message, case.name)

    def test_nan_is_found(self):
        for case in self.cases():
            self.assertIn("wrong by nan", self.messages(case, [NanEverywhere()])[0], case.name)

    def test_sums_of_gradients_are_checked(self):
        for case in self.cases(["segment_softmax_backward"], entries=2**18):
            self.assertIn("wrong by", self.messages(case, [WithoutSum()])[0], case.name)

    def test_y_is_a_softmax(self):
        for case in self.cases(["segment_softmax_backward"]):
            bench = self.bench(case)
            sums = [row.sum() for row in numpy.split(bench.x, bench.given["offsets"][1:-1])]
            numpy.testing.assert_allclose(sums, numpy.ones(case.rows), rtol=1e-5)

    def test_given_arrays_are_as_the_library_takes_them(self):
        for case in self.cases():
            given = self.bench(case).given
            self.assertEqual(set(given), set(case.reads))
            self.assertEqual((given["offsets"].dtype, given["offsets"].shape), ("int32", (case.rows + 1,)))
            for array in given.values():
                self.assertEqual(array.ctypes.data % measure_host.ALIGNMENT, 0)
            if "dy" in given:
                self.assertEqual((given["dy"].dtype, given["dy"].shape), (case.type, (case.entries,)))

    def test_limits(self):
        loaded = {"copy": host_peers.Copy(SETUP), "read": host_peers.Read(SETUP), "exp": host_peers.Exp(SETUP)}
        case = cases.Case("segment_logsumexp", "float32", "power_law", 1, (31, 999))
        results, _ = self.measure(case, loaded)
        self.assertEqual([results[name]["status"] for name in loaded], 3 * ["ok"], results)

    @unittest.skipIf(torch is None, "there is no PyTorch")
    def test_torch(self):
        for case in self.cases():
            self.assertEqual(self.messages(case, [host_peers.Torch(SETUP)]), [""], case.name)

    @unittest.skipIf(torch is None, "there is no PyTorch")
    def test_torch_by_index(self):
        """As on a GPU, also with new results, as of torch.compile, and with half types."""
        functions = peers.torch_functions(torch)
        for case in self.cases(types=("float32", "bfloat16")):
            of_float = self.bench(case._replace(type="float32"))
            given = {name: torch.from_numpy(array) for name, array in of_float.given.items()}
            x, value_type = torch.from_numpy(of_float.x), getattr(torch, case.type)
            if "dy" in given:
                given["dy"] = given["dy"].to(value_type)
            expected, size = operations.definition(torch, case.operation, x.to(value_type), given, 1)
            y = torch.empty(case.result_extents, dtype=getattr(torch, case.result_type))
            call = peers.TorchEager(peers.Setup(None, torch=torch)).prepare_with(case, x.to(value_type), y, given)
            self.assertIs(call(), y)
            first, others = peers.torch_arguments(torch, case, x.to(value_type), given)
            new = functions[case.operation](first, dim=1, **others)
            self.assertEqual(new.dtype, y.dtype)
            for got in (y, new):
                error = ((got.double() - expected).abs() / size).max().item()
                self.assertLess(error, 1e-5 if y.dtype == torch.float32 else 0.01, case.name)

    @unittest.skipIf(torch is None, "there is no PyTorch")
    def test_definition_for_torch(self):
        for case in self.cases(types=["float32"]):
            bench = self.bench(case)
            given = {name: torch.from_numpy(array) for name, array in bench.given.items()}
            of_torch = operations.definition(torch, case.operation, torch.from_numpy(bench.x), given, 1)
            for got, wanted in zip(of_torch, operations.definition(numpy, case.operation, bench.x, bench.given, 1)):
                numpy.testing.assert_allclose(got.numpy(), wanted, rtol=1e-12, atol=1e-15)


if __name__ == "__main__":
    unittest.main()
