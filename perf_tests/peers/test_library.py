# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests library.py on the host, with ctypes arrays and, if NumPy is installed, its arrays:
test_library.py LIBRARY"""

import ctypes
import math
import pathlib
import re
import struct
import sys
import unittest

try:
    import numpy
except ImportError:
    numpy = None

import library

HOST = library.HOST
ROWS, COLUMNS = 5, 37
TOLERANCE = {ctypes.c_float: 1e-6, ctypes.c_double: 1e-14}


def matrix(c_type, rows=ROWS, columns=COLUMNS):
    return ((c_type * columns) * rows)()


def filled(c_type):
    x = matrix(c_type)
    for i in range(ROWS):
        for j in range(COLUMNS):
            x[i][j] = ((7 * i + 11 * j) % 23 - 11) / 3
    return x


def transposed(array):
    extents, strides = array.extents[::-1], array.strides[::-1]
    return array._replace(extents=extents, strides=strides)


def expected(x, operation, axis, scale):
    """The function of the rows along an axis: {(i, j): value}, or {row: value} for logsumexp."""
    values = {}
    for row in range(ROWS if axis == 1 else COLUMNS):
        indices = [(row, j) for j in range(COLUMNS)] if axis == 1 else [
            (i, row) for i in range(ROWS)]
        lse = math.log(math.fsum(math.exp(scale * x[i][j]) for i, j in indices))
        for i, j in indices:
            difference = scale * x[i][j] - lse
            values[i, j] = math.exp(difference) if operation == "softmax" else difference
        if operation == "logsumexp":
            values[row] = lse
    return values


def expected_backward(y, dy, operation, axis, scale):
    """The derivative by x, from the output y of the operation and the derivative dy by y: {(i, j): value}."""
    values = {}
    for row in range(ROWS if axis == 1 else COLUMNS):
        indices = [(row, j) for j in range(COLUMNS)] if axis == 1 else [
            (i, row) for i in range(ROWS)]
        if operation == "softmax":
            total = math.fsum(y[i][j] * dy[i][j] for i, j in indices)
            values.update({(i, j): scale * y[i][j] * (dy[i][j] - total) for i, j in indices})
        else:
            total = math.fsum(dy[i][j] for i, j in indices)
            values.update({(i, j): scale * (dy[i][j] - math.exp(y[i][j]) * total) for i, j in indices})
    return values


def expected_gradient(x, lse, derivative, axis, scale, target=lambda row, column: 0):
    """The derivative by x, from the log-sum-exp of each row and the derivative by its number: {(i, j): value}."""
    values = {}
    for i in range(ROWS):
        for j in range(COLUMNS):
            row, column = (i, j) if axis == 1 else (j, i)
            above = math.exp(scale * x[i][j] - lse[row]) - target(row, column)
            values[i, j] = scale * derivative[row] * above
    return values


def of_header(pattern):
    """The first group of a pattern in kokkossoftmax.h."""
    header = pathlib.Path(__file__).parents[2] / "include" / "kokkossoftmax.h"
    return re.search(pattern, header.read_text(), re.DOTALL).group(1)


class Enumerations(unittest.TestCase):
    """The numbers of library.py are those of kokkossoftmax.h."""

    def check(self, numbers, enumeration, prefix):
        body = of_header(rf"enum {enumeration} {{(.*?)}}")
        want = {name.lower(): int(number)
                for name, number in re.findall(rf"{prefix}(\w+) = (\d+)", body)}
        self.assertTrue(want)
        self.assertEqual(numbers, want)

    def test_operations(self):
        self.check(library.OPERATIONS, "kokkossoftmax_operation", "KOKKOSSOFTMAX_")

    def test_algorithms(self):
        self.check(library.ALGORITHMS, "kokkossoftmax_algorithm", "KOKKOSSOFTMAX_ALGORITHM_")

    def test_empty_rows(self):
        self.check(library.EMPTY_ROWS, "kokkossoftmax_empty_rows", "KOKKOSSOFTMAX_EMPTY_ROWS_")

    def test_types(self):
        in_c = {"float32": "float", "float64": "double", "float16": "half"}
        numbers = {in_c.get(name, name): number for name, number in library.TYPES.items()}
        self.check(numbers, "kokkossoftmax_type", "KOKKOSSOFTMAX_")


class Structs(unittest.TestCase):
    """The members of the structs of library.py are those of kokkossoftmax.h."""

    SCALARS = {"size_t": ctypes.c_size_t, "double": ctypes.c_double, "int": ctypes.c_int,
               "int64_t": ctypes.c_int64, "void*": ctypes.c_void_p,
               "const int*": ctypes.POINTER(ctypes.c_int),
               "const int64_t*": ctypes.POINTER(ctypes.c_int64),
               "const kokkossoftmax_tensor*": ctypes.POINTER(library._Tensor),
               "const kokkossoftmax_causal*": ctypes.POINTER(library._Causal)}

    def check(self, struct, name):
        body = re.sub(r"///.*", "", of_header(rf"typedef struct {name} {{(.*?)}} {name};"))
        want = [(member, self.SCALARS[type_name])
                for type_name, member in re.findall(r"\s*(\S[^;]*?) (\w+);", body)]
        self.assertTrue(want)
        self.assertEqual([tuple(field) for field in struct._fields_], want)

    def test_tensor(self):
        self.check(library._Tensor, "kokkossoftmax_tensor")

    def test_options(self):
        self.check(library._Options, "kokkossoftmax_options")

    def test_cross_entropy_options(self):
        self.check(library._CrossEntropyOptions, "kokkossoftmax_cross_entropy_options")

    def test_causal(self):
        self.check(library._Causal, "kokkossoftmax_causal")

    def test_operands(self):
        self.check(library._Operands, "kokkossoftmax_operands")


class Values(unittest.TestCase):
    def check(self, got, want, c_type):
        error = abs(got - want) / max(abs(want), 1 if want < 0 else 0)
        self.assertLessEqual(error, TOLERANCE[c_type])

    def test_algorithms_have_the_numbers_of_the_library(self):
        x, y = filled(ctypes.c_float), matrix(ctypes.c_float)

        def force(algorithm):
            LIBRARY.apply("softmax", HOST, library.of_buffer(x), library.of_buffer(y),
                          algorithm=algorithm, reproducible=True)
            LIBRARY.fence(HOST)

        for algorithm in ("automatic", "online", "column", "host"):
            force(algorithm)
        for algorithm in ("split", "split_online", "cluster", "split_column",
                          "two_pass_column"):  # never reproducible
            with self.assertRaisesRegex(library.Error, f"algorithm = {algorithm} "):
                force(algorithm)

    def test_every_operation_type_and_axis(self):
        for c_type in TOLERANCE:
            x, scale = filled(c_type), 0.5
            for operation in ("softmax", "log_softmax"):
                for axis in (0, 1):
                    y = matrix(c_type)
                    LIBRARY.apply(operation, HOST, library.of_buffer(x), library.of_buffer(y),
                                  axis=axis, scale=scale)
                    LIBRARY.fence(HOST)
                    want = expected(x, operation, axis, scale)
                    for i in range(ROWS):
                        for j in range(COLUMNS):
                            self.check(y[i][j], want[i, j], c_type)
            for axis in (0, 1):
                lse = (c_type * (ROWS if axis == 1 else COLUMNS))()
                LIBRARY.apply("logsumexp", HOST, library.of_buffer(x), library.of_buffer(lse),
                              axis=axis, scale=scale)
                LIBRARY.fence(HOST)
                want = expected(x, "logsumexp", axis, scale)
                for row, value in enumerate(lse):
                    self.check(value, want[row], c_type)

    def test_both_axes(self):
        for c_type in TOLERANCE:
            x, scale = filled(c_type), 0.5
            row_lse, column_lse = (c_type * ROWS)(), (c_type * COLUMNS)()
            of = library.of_buffer
            LIBRARY.logsumexp_both_axes(HOST, of(x), of(row_lse), of(column_lse), scale=scale)
            LIBRARY.fence(HOST)
            for axis, lse in ((1, row_lse), (0, column_lse)):
                want = expected(x, "logsumexp", axis, scale)
                for row, value in enumerate(lse):
                    self.check(value, want[row], c_type)
            with self.assertRaisesRegex(library.Error, r"both_axes: the extents \(5\) of column_lse"):
                LIBRARY.logsumexp_both_axes(HOST, of(x), of(row_lse), of(row_lse))
            with self.assertRaisesRegex(ValueError, "column_lse is read-only"):
                LIBRARY.logsumexp_both_axes(HOST, of(x), of(row_lse), of(column_lse)._replace(writable=False))

    def test_axes_together(self):
        """Both axes of a matrix are one axis of a vector with the same entries."""
        c_type = ctypes.c_double
        x, y = filled(c_type), matrix(c_type)
        vector = (c_type * (ROWS * COLUMNS)).from_buffer(x)
        want = (c_type * (ROWS * COLUMNS))()
        LIBRARY.apply("softmax", HOST, library.of_buffer(x), library.of_buffer(y), axes=(1, 0), scale=0.5)
        LIBRARY.apply("softmax", HOST, library.of_buffer(vector), library.of_buffer(want), scale=0.5)
        LIBRARY.fence(HOST)
        for i in range(ROWS):
            for j in range(COLUMNS):
                self.check(y[i][j], want[i * COLUMNS + j], c_type)
        with self.assertRaisesRegex(library.Error, "are the same axis"):
            LIBRARY.apply("softmax", HOST, library.of_buffer(x), library.of_buffer(y), axes=(1, -1))

    def test_backward_passes(self):
        for c_type in TOLERANCE:
            x, dy, scale = filled(c_type), matrix(c_type), 0.5
            for i in range(ROWS):
                for j in range(COLUMNS):
                    dy[i][j] = ((5 * i + 3 * j) % 17 - 8) / 4
            for operation in ("softmax", "log_softmax"):
                for axis in (0, 1):
                    y, dx = matrix(c_type), matrix(c_type)
                    LIBRARY.apply(operation, HOST, library.of_buffer(x), library.of_buffer(y),
                                  axis=axis, scale=scale)
                    LIBRARY.backward(operation, HOST, library.of_buffer(y), library.of_buffer(dy),
                                     library.of_buffer(dx), axis=axis, scale=scale)
                    LIBRARY.fence(HOST)
                    want = expected_backward(y, dy, operation, axis, scale)
                    for i in range(ROWS):
                        for j in range(COLUMNS):
                            # the terms of the sums are at most 1 (softmax) or 2 * COLUMNS in all
                            self.assertLessEqual(abs(dx[i][j] - want[i, j]), 20 * TOLERANCE[c_type])

    def test_backward_passes_that_fail(self):
        y = library.of_buffer(filled(ctypes.c_float))
        with self.assertRaisesRegex(library.Error, "kokkossoftmax_backward: operation = 2"):
            LIBRARY.backward("logsumexp", HOST, y, y, y)
        with self.assertRaisesRegex(library.Error, "log_softmax_backward: algorithm = packed"):
            LIBRARY.backward("log_softmax", HOST, y, y, y, algorithm="packed")
        with self.assertRaisesRegex(ValueError, "dx is read-only"):
            LIBRARY.backward("softmax", HOST, y, y, y._replace(writable=False))

    def check_gradient(self, dx, want, c_type):
        """Exponents of at most 15 make a relative error of some roundings each."""
        for i in range(ROWS):
            for j in range(COLUMNS):
                self.assertLessEqual(abs(dx[i][j] - want[i, j]), 10 * TOLERANCE[c_type])

    def test_cross_entropy(self):
        """With int32 and int64 labels: the first is ignored, the second is no column."""
        scale, smoothing = 0.5, 0.25
        for c_type, label_type in ((ctypes.c_float, ctypes.c_int32), (ctypes.c_double, ctypes.c_int64)):
            for axis in (0, 1):
                x, dx = filled(c_type), matrix(c_type)
                rows, columns = (ROWS, COLUMNS) if axis == 1 else (COLUMNS, ROWS)
                labels = (label_type * rows)(*[7 * row % columns for row in range(rows)])
                labels[0], labels[1] = -1, columns
                loss, lse = (c_type * rows)(), (c_type * rows)()
                dloss = (c_type * rows)(*[row - 1.5 for row in range(rows)])
                options = dict(axis=axis, scale=scale, ignore_index=-1, label_smoothing=smoothing)
                of = library.of_buffer
                LIBRARY.cross_entropy(HOST, of(x), of(labels), of(loss), of(lse), **options)
                LIBRARY.cross_entropy_backward(HOST, of(x), of(labels), of(lse), of(dloss), of(dx), **options)
                LIBRARY.fence(HOST)
                want_lse = expected(x, "logsumexp", axis, scale)
                of_row = (lambda row: x[row]) if axis == 1 else (lambda row: [line[row] for line in x])
                for row in range(2, rows):
                    self.check(lse[row], want_lse[row], c_type)
                    mean = math.fsum(of_row(row)) / columns
                    target = (1 - smoothing) * of_row(row)[labels[row]] + smoothing * mean
                    self.assertLessEqual(abs(loss[row] - (want_lse[row] - scale * target)),
                                         10 * TOLERANCE[c_type])
                self.assertEqual(loss[0], 0)
                self.assertTrue(math.isnan(loss[1]))
                want = expected_gradient(x, lse, dloss, axis, scale, lambda row, column: smoothing / columns + (
                    1 - smoothing if column == labels[row] else 0))
                for i in range(ROWS):
                    for j in range(COLUMNS):
                        row = i if axis == 1 else j
                        if row > 1:
                            self.assertLessEqual(abs(dx[i][j] - want[i, j]), 400 * TOLERANCE[c_type])
                        else:
                            self.assertTrue(dx[i][j] == 0 if row == 0 else math.isnan(dx[i][j]))

    def test_backward_pass_of_logsumexp(self):
        for c_type in TOLERANCE:
            for axis in (0, 1):
                x, dx, scale = filled(c_type), matrix(c_type), 0.5
                rows = ROWS if axis == 1 else COLUMNS
                lse, dlse = (c_type * rows)(), (c_type * rows)(*[row % 5 - 1.5 for row in range(rows)])
                of = library.of_buffer
                LIBRARY.apply("logsumexp", HOST, of(x), of(lse), axis=axis, scale=scale)
                LIBRARY.logsumexp_backward(HOST, of(x), of(lse), of(dlse), of(dx), axis=axis, scale=scale)
                LIBRARY.fence(HOST)
                self.check_gradient(dx, expected_gradient(x, lse, dlse, axis, scale), c_type)

    def test_backward_pass_of_logsumexp_with_a_mask(self):
        x, dx = filled(ctypes.c_double), matrix(ctypes.c_double)
        mask = (ctypes.c_bool * COLUMNS)(*(j % 3 != 0 for j in range(COLUMNS)))
        lse, dlse = (ctypes.c_double * ROWS)(), (ctypes.c_double * ROWS)(*[1] * ROWS)
        of = library.of_buffer
        LIBRARY.apply("logsumexp", HOST, of(x), of(lse), mask=of(mask))
        LIBRARY.logsumexp_backward(HOST, of(x), of(lse), of(dlse), of(dx), mask=of(mask))
        LIBRARY.fence(HOST)
        want = expected_gradient(x, lse, dlse, 1, 1)
        want.update({(i, j): 0 for i, j in want if not mask[j]})
        self.check_gradient(dx, want, ctypes.c_double)

    def test_cross_entropy_and_gradients_that_fail(self):
        # An Array doesn't keep the memory: `buffers` does.
        buffers = filled(ctypes.c_float), (ctypes.c_float * ROWS)(), (ctypes.c_int32 * ROWS)()
        x, rows, labels = (library.of_buffer(buffer) for buffer in buffers)
        with self.assertRaisesRegex(library.Error, "cross_entropy: labels has type = 0, float"):
            LIBRARY.cross_entropy(HOST, x, rows, rows)
        with self.assertRaisesRegex(library.Error, r"label_smoothing = 2 is not in \[0, 1\]"):
            LIBRARY.cross_entropy(HOST, x, labels, rows, label_smoothing=2)
        with self.assertRaisesRegex(library.Error, "cross_entropy: algorithm = split "):
            LIBRARY.cross_entropy(HOST, x, labels, rows, algorithm="split", reproducible=True)
        with self.assertRaisesRegex(TypeError, "no option smoothing"):
            LIBRARY.cross_entropy(HOST, x, labels, rows, smoothing=0.1)
        with self.assertRaisesRegex(ValueError, "lse is read-only"):
            LIBRARY.cross_entropy(HOST, x, labels, rows, rows._replace(writable=False))
        with self.assertRaisesRegex(library.Error, "cross_entropy_backward: lse has type = 5, int32"):
            LIBRARY.cross_entropy_backward(HOST, x, labels, labels, rows, x)
        with self.assertRaisesRegex(library.Error, r"logsumexp_backward: the extents \(5, 37\) of dlse"):
            LIBRARY.logsumexp_backward(HOST, x, rows, x, x)

    def test_ragged_rows(self):
        """Rows of 0 to 11 entries: each has the results of a matrix with one row."""
        scale, of = 0.5, library.of_buffer
        for c_type, offset_type in ((ctypes.c_float, ctypes.c_int32), (ctypes.c_double, ctypes.c_int64)):
            lengths = [3, 0, 11, 1, 4]
            offsets = (offset_type * (len(lengths) + 1))(2, *(2 + sum(lengths[:r + 1]) for r in range(len(lengths))))
            size = offsets[len(lengths)] + 3
            vector = c_type * size
            x, dy = vector(*(7 * j % 11 - 3 for j in range(size))), vector(*(5 * j % 7 - 3 for j in range(size)))
            lse, dlse = (c_type * len(lengths))(), (c_type * len(lengths))(*range(1, len(lengths) + 1))
            LIBRARY.segment_apply("logsumexp", HOST, of(x), of(offsets), of(lse), scale=scale)
            results, wants = [], []
            for operation in ("softmax", "log_softmax"):
                y, dx, want, want_dx = vector(), vector(), vector(), vector()
                LIBRARY.segment_apply(operation, HOST, of(x), of(offsets), of(y), scale=scale)
                LIBRARY.segment_backward(operation, HOST, of(y), of(dy), of(offsets), of(dx), scale=scale)
                for r, length in enumerate(lengths):
                    row_of = self.part_of(c_type, offsets[r], length)
                    LIBRARY.apply(operation, HOST, row_of(x), row_of(want), scale=scale)
                    LIBRARY.backward(operation, HOST, row_of(y), row_of(dy), row_of(want_dx), scale=scale)
                results += [y, dx]
                wants += [want, want_dx]
            dx, want_dx, want_lse = vector(), vector(), (c_type * len(lengths))()
            LIBRARY.segment_logsumexp_backward(HOST, of(x), of(lse), of(dlse), of(offsets), of(dx), scale=scale)
            for r, length in enumerate(lengths):
                row_of, number_of = self.part_of(c_type, offsets[r], length), self.part_of(c_type, r, None)
                LIBRARY.apply("logsumexp", HOST, row_of(x), number_of(want_lse), scale=scale)
                LIBRARY.logsumexp_backward(HOST, row_of(x), number_of(lse), number_of(dlse), row_of(want_dx),
                                           scale=scale)
            LIBRARY.fence(HOST)
            for got, want in zip([*results, dx, lse], [*wants, want_dx, want_lse]):
                for got_entry, want_entry in zip(got, want):
                    if got_entry != want_entry:  # -inf, the number of a row without entries, is equal
                        self.assertLessEqual(abs(got_entry - want_entry), 20 * TOLERANCE[c_type])
            self.assertEqual(lse[1], -math.inf)

    def part_of(self, c_type, first, length):
        """The function that makes an Array of `length` elements of a vector, from number `first` on. None stands for
        one element without an axis."""

        def part(vector):
            array = library.of_buffer(vector)
            extents = () if length is None else (length,)
            return array._replace(address=array.address + first * ctypes.sizeof(c_type), extents=extents,
                                  strides=(1,) * len(extents))

        return part

    def test_ragged_rows_that_fail(self):
        buffers = (ctypes.c_float * 9)(), (ctypes.c_int32 * 3)(0, 4, 9), (ctypes.c_float * 2)()
        x, offsets, rows = (library.of_buffer(buffer) for buffer in buffers)
        with self.assertRaisesRegex(library.Error, "segment_softmax: offsets has type = 0, float"):
            LIBRARY.segment_apply("softmax", HOST, x, x, x)
        with self.assertRaisesRegex(library.Error, "the extent 9 of lse isn't the number of rows, 2"):
            LIBRARY.segment_apply("logsumexp", HOST, x, offsets, x)
        with self.assertRaisesRegex(library.Error, "kokkossoftmax_segment_backward: operation = 2"):
            LIBRARY.segment_backward("logsumexp", HOST, x, x, offsets, x)
        with self.assertRaisesRegex(library.Error, "segment_logsumexp_backward: .* of dlse"):
            LIBRARY.segment_logsumexp_backward(HOST, x, rows, x, offsets, x)
        with self.assertRaisesRegex(ValueError, "y is read-only"):
            LIBRARY.segment_apply("softmax", HOST, x, offsets, x._replace(writable=False))
        with self.assertRaisesRegex(ValueError, "dx is read-only"):
            LIBRARY.segment_backward("softmax", HOST, x, x, offsets, x._replace(writable=False))

    def test_strides(self):
        """If x is the transpose of a matrix, the result along the other axis is the transpose, too."""
        x, y = filled(ctypes.c_double), matrix(ctypes.c_double, COLUMNS, ROWS)
        LIBRARY.apply("softmax", HOST, transposed(library.of_buffer(x)), library.of_buffer(y),
                      axis=0)
        LIBRARY.fence(HOST)
        want = expected(x, "softmax", 1, 1)
        for i in range(ROWS):
            for j in range(COLUMNS):
                self.check(y[j][i], want[i, j], ctypes.c_double)

    def test_lse_and_maximum_beside_y(self):
        x, scale = filled(ctypes.c_double), 0.5
        want = expected(x, "logsumexp", 1, scale)
        for names in (["lse"], ["max"], ["lse", "max"]):
            y, outputs = matrix(ctypes.c_double), {name: (ctypes.c_double * ROWS)() for name in names}
            LIBRARY.apply("softmax", HOST, library.of_buffer(x), library.of_buffer(y), scale=scale,
                          **{name: library.of_buffer(output) for name, output in outputs.items()})
            LIBRARY.fence(HOST)
            for i in range(ROWS):
                self.check(y[i][0], expected(x, "softmax", 1, scale)[i, 0], ctypes.c_double)
                if "lse" in outputs:
                    self.check(outputs["lse"][i], want[i], ctypes.c_double)
                if "max" in outputs:
                    self.assertEqual(outputs["max"][i], scale * max(x[i]))

    def test_mask_and_lengths(self):
        """Masked entries are 0, and the others those of a row without them."""
        x = filled(ctypes.c_double)
        visible = [j < 20 and j % 3 != 0 for j in range(COLUMNS)]
        mask = (ctypes.c_bool * COLUMNS)(*(j % 3 != 0 for j in range(COLUMNS)))
        for c_type in (ctypes.c_int32, ctypes.c_int64):
            y, lengths = matrix(ctypes.c_double), (c_type * ROWS)(*[20] * ROWS)
            LIBRARY.apply("softmax", HOST, library.of_buffer(x), library.of_buffer(y),
                          mask=library.of_buffer(mask), lengths=library.of_buffer(lengths))
            LIBRARY.fence(HOST)
            for i in range(ROWS):
                total = math.fsum(math.exp(v) for v, is_visible in zip(x[i], visible) if is_visible)
                for j in range(COLUMNS):
                    if visible[j]:
                        self.check(y[i][j], math.exp(x[i][j]) / total, ctypes.c_double)
                    else:
                        self.assertEqual(y[i][j], 0)

    def test_prepared_call_in_place(self):
        x = filled(ctypes.c_float)
        array = library.of_buffer(x)
        call = LIBRARY.prepare("softmax", HOST, array, array)
        for _ in range(2):
            want = expected(x, "softmax", 1, 1)
            call()
            LIBRARY.fence(HOST)
            for i in range(ROWS):
                for j in range(COLUMNS):
                    self.check(x[i][j], want[i, j], ctypes.c_float)


class HalfTypes(unittest.TestCase):
    """x in 16-bit words of 2 bytes each, y in float."""

    @staticmethod
    def words(type_name):
        """The rows of filled(), rounded, and their bits. Multiples of 1/8 are exact in both types."""
        values, bits = matrix(ctypes.c_float), matrix(ctypes.c_uint16)
        for i in range(ROWS):
            for j in range(COLUMNS):
                values[i][j] = ((7 * i + 11 * j) % 23 - 11) / 8
                if type_name == "float16":
                    bits[i][j] = struct.unpack("<H", struct.pack("<e", values[i][j]))[0]
                else:
                    bits[i][j] = struct.unpack("<I", struct.pack("<f", values[i][j]))[0] >> 16
        return values, bits

    def test_to_float(self):
        for type_name in ("float16", "bfloat16"):
            with self.subTest(type_name):
                values, bits = self.words(type_name)
                x = library.Array(ctypes.addressof(bits), type_name, (ROWS, COLUMNS), (COLUMNS, 1))
                y = matrix(ctypes.c_float)
                try:
                    LIBRARY.apply("softmax", HOST, x, library.of_buffer(y))
                except library.Error as error:
                    self.assertEqual(error.status, "unsupported")
                    self.skipTest(f"this Kokkos has no half types ({error})")
                LIBRARY.fence(HOST)
                want = expected(values, "softmax", 1, 1)
                for i in range(ROWS):
                    for j in range(COLUMNS):
                        self.assertLessEqual(abs(y[i][j] - want[i, j]), 1e-6 * want[i, j])


class Errors(unittest.TestCase):
    def fails(self, status, message, operation="softmax", y_rows=ROWS, **options):
        x, y = library.of_buffer(filled(ctypes.c_float)), matrix(ctypes.c_float, y_rows)
        array = library.of_buffer(y)
        if "type" in options:
            array = array._replace(type=options.pop("type"))
        with self.assertRaisesRegex(library.Error, message) as caught:
            LIBRARY.apply(operation, HOST, x, array, **options)
        LIBRARY.fence(HOST)
        self.assertEqual(caught.exception.status, status)
        self.assertTrue(all(value == 0 for row in y for value in row))

    def test_status_and_message(self):
        self.fails("invalid argument", r"softmax: axis = 2 is out of range", axis=2)
        self.fails("invalid argument", r"the extents \(4, 37\) of y don't fit x", y_rows=4)
        self.fails("invalid argument", r"scale = nan is not finite", scale=math.nan)
        self.fails("unsupported", r"type = 0, float.*type = 1, double", type="float64")
        self.fails("unsupported", r"type = 0, float.*type = 5, int32", type="int32")

    def test_wrong_operands(self):
        row, bytes_of_row = (ctypes.c_float * ROWS)(), (ctypes.c_bool * ROWS)()
        numbers, matrix_of_numbers = (ctypes.c_int32 * COLUMNS)(), matrix(ctypes.c_int64)
        for name, array, message in (
                ("bias", row, r"\(5\) of bias can't be broadcast to \(5, 37\)"),
                ("bias", bytes_of_row, r"bias has type = 4, bool"),
                ("mask", bytes_of_row, r"\(5\) of mask can't be broadcast to \(5, 37\)"),
                ("mask", row, r"mask has type = 0, float"),
                ("lengths", numbers, r"\(37\) of lengths can't be broadcast to \(5\)"),
                ("lengths", matrix_of_numbers, r"\(5, 37\) of lengths can't be broadcast to \(5\)"),
                ("lengths", row, r"lengths has type = 0, float")):
            with self.subTest(name, message=message):
                self.fails("invalid argument", message, **{name: library.of_buffer(array)})
        self.fails("invalid argument", r"causal.axis = -1 is the axis", causal=0, causal_axis=-1)
        self.fails("invalid argument", r"causal.axis = 2 is out of range", causal=0, causal_axis=2)

    def test_elements_that_are_not_known(self):
        with self.assertRaisesRegex(TypeError, "'<h' are not known"):
            library.of_buffer((ctypes.c_short * 3)())

    def test_input_may_be_read_only(self):
        x = library.of_buffer(filled(ctypes.c_float))._replace(writable=False)
        y = matrix(ctypes.c_float)
        LIBRARY.apply("softmax", HOST, x, library.of_buffer(y))
        LIBRARY.fence(HOST)
        self.assertTrue(all(value > 0 for row in y for value in row))

    def test_output_must_not_be_read_only(self):
        x, y = filled(ctypes.c_float), matrix(ctypes.c_float)
        array = library.of_buffer(y)._replace(writable=False)
        with self.assertRaisesRegex(ValueError, r"y is read-only \(.*\): "):
            LIBRARY.apply("softmax", HOST, library.of_buffer(x), array)
        with self.assertRaisesRegex(ValueError, r"y is read-only"):
            LIBRARY.prepare("softmax", HOST, array, array)
        self.assertTrue(all(value == 0 for row in y for value in row))

    def test_buffers_that_have_no_address(self):
        with self.assertRaisesRegex(TypeError, r"memoryview .*\(.*\): "):
            library.of_buffer(memoryview(bytearray(8)).cast("f"))

    def test_space(self):
        self.assertIsNone(LIBRARY.space_name(7))
        self.assertTrue(LIBRARY.space_name(HOST))
        with self.assertRaisesRegex(library.Error, "space = 7 is unknown"):
            LIBRARY.fence(7)


@unittest.skipIf(numpy is None, "there is no NumPy")
class NumPy(unittest.TestCase):
    def setUp(self):
        self.x = numpy.array([list(row) for row in filled(ctypes.c_float)], numpy.float32)

    def softmax(self, x, y):
        LIBRARY.apply("softmax", HOST, library.of_buffer(x), library.of_buffer(y))
        LIBRARY.fence(HOST)

    def check(self, x, y):
        want = numpy.exp(x.astype(float))
        want /= want.sum(axis=1, keepdims=True)
        self.assertTrue(numpy.all(abs(y - want) <= 1e-6 * want))

    def test_strided_views(self):
        for x in (self.x, self.x.T, self.x[::2, 1::3], numpy.broadcast_to(self.x[1], (4, COLUMNS))):
            y = numpy.zeros(x.shape, numpy.float32)
            self.softmax(x, y)
            self.check(x, y)
            y = numpy.zeros(x.shape[::-1], numpy.float32)
            self.softmax(x, y.T)
            self.check(x, y.T)

    def test_read_only_arrays(self):
        x, y = self.x.copy(), numpy.zeros_like(self.x)
        x.setflags(write=False)
        self.softmax(x, y)
        self.check(x, y)
        y[:] = 0
        y.setflags(write=False)
        with self.assertRaisesRegex(ValueError, "y is read-only"):
            self.softmax(x, y)
        self.assertFalse(y.any())

    def test_strides_that_are_no_multiples_of_an_element(self):
        records = numpy.zeros((ROWS, COLUMNS), [("value", "<f4"), ("flag", "u1")])
        y = numpy.zeros((ROWS, COLUMNS), numpy.float32)
        for arrays in ((records["value"], y), (y, records["value"])):
            with self.assertRaisesRegex(ValueError, r"strides \(185, 5\) .*4 bytes.*: copy it"):
                self.softmax(*arrays)
        self.assertFalse(y.any() or records["value"].any())

    def test_negative_strides(self):
        y = numpy.zeros_like(self.x)
        for x in (self.x[::-1], self.x[:, ::-1]):
            with self.assertRaisesRegex(ValueError, r"negative .*: copy it"):
                self.softmax(x, y)
        self.assertFalse(y.any())

    def check_operands(self, shape, causal_rows=None, **arguments):
        """Every operation, with values that are masked in NumPy. x has NaN at masked entries."""
        random = numpy.random.default_rng(0)
        x, scale, axis = random.normal(size=shape), 0.5, arguments.get("axis", -1)
        columns = numpy.moveaxis(numpy.broadcast_to(numpy.arange(shape[axis]), numpy.moveaxis(
            x, axis, -1).shape), -1, axis)
        visible = numpy.broadcast_to(arguments.get("mask", True), shape).copy()
        if "lengths" in arguments:
            visible &= columns < numpy.expand_dims(numpy.broadcast_to(
                arguments["lengths"], numpy.delete(shape, axis)), axis)
        if "causal" in arguments:
            visible &= columns - numpy.indices(shape)[causal_rows] <= arguments["causal"]
        x[~visible] = numpy.nan
        v = numpy.where(visible, scale * x + arguments.get("bias", 0.0), -numpy.inf)
        exponentials = numpy.exp(v)
        total = exponentials.sum(axis=axis, keepdims=True)
        with numpy.errstate(divide="ignore", invalid="ignore"):
            want = {"softmax": numpy.where(total > 0, exponentials / total, 0),
                    "log_softmax": numpy.where(visible, v - numpy.log(total), -numpy.inf),
                    "logsumexp": numpy.log(total).squeeze(axis)}
        # An Array doesn't keep the memory: `arguments` does.
        given = {name: library.of_buffer(value) if isinstance(value, numpy.ndarray) else value
                 for name, value in arguments.items()}
        for operation, result in want.items():
            y = numpy.full(result.shape, 7.0)
            LIBRARY.apply(operation, HOST, library.of_buffer(x), library.of_buffer(y), scale=scale,
                          empty_rows="zero", **given)
            LIBRARY.fence(HOST)
            with self.subTest(operation, shape=shape, given=list(given)):
                numpy.testing.assert_allclose(y, result, rtol=1e-13, atol=1e-13)
                if operation == "softmax":
                    self.assertTrue(numpy.all(y[~visible] == 0))
        self.assertTrue(numpy.any(visible))

    def test_bias(self):
        random = numpy.random.default_rng(1)
        for shape in ((COLUMNS,), (1, COLUMNS), (ROWS, 1), (ROWS, COLUMNS), ()):
            for axis in (0, 1):
                self.check_operands((ROWS, COLUMNS), bias=numpy.array(random.normal(size=shape)),
                                    axis=axis)
        every_second = random.normal(size=(COLUMNS, 2 * ROWS)).T[::2]
        self.check_operands((ROWS, COLUMNS), bias=every_second)

    def test_mask(self):
        random = numpy.random.default_rng(2)
        for shape in ((COLUMNS,), (ROWS, 1), (ROWS, COLUMNS)):
            mask = random.random(size=shape) < 0.6
            mask[0] = True
            for axis in (0, 1):
                self.check_operands((ROWS, COLUMNS), mask=mask, axis=axis)
        mask.setflags(write=False)
        self.check_operands((ROWS, COLUMNS), mask=numpy.broadcast_to(mask[0], mask.shape))

    def test_lengths(self):
        for number in (numpy.int32, numpy.int64):
            self.check_operands((ROWS, COLUMNS), lengths=numpy.array([37, 0, 5, 99, -1], number))
            self.check_operands((ROWS, COLUMNS), lengths=numpy.arange(COLUMNS, dtype=number) % 7,
                                axis=0)
            self.check_operands((2, 3, 4, 5), lengths=numpy.array([[[2]], [[4]]], number))

    def test_causal(self):
        for offset in (-1, 0, 30, 2**63 - 1):
            self.check_operands((ROWS, COLUMNS), causal=offset, causal_rows=0)
        self.check_operands((COLUMNS, ROWS), causal=2, causal_rows=1, axis=0)
        self.check_operands((2, 3, 4, 5), causal=1, causal_rows=2)
        self.check_operands((2, 3, 4, 5), causal=1, causal_rows=1, causal_axis=-3)
        self.check_operands((2, 3, 4, 5), causal=1, causal_rows=0, causal_axis=0, axis=2)

    def test_weights_and_row_bias(self):
        random = numpy.random.default_rng(4)
        x, scale = random.normal(size=(ROWS, COLUMNS)), 0.5
        weights, row_bias = random.normal(size=COLUMNS), random.normal(size=ROWS)
        lse, sign = numpy.full(ROWS, 7.0), numpy.full(ROWS, 7.0)
        LIBRARY.apply("logsumexp", HOST, library.of_buffer(x), library.of_buffer(lse), scale=scale,
                      weights=library.of_buffer(weights), row_bias=library.of_buffer(row_bias),
                      sign=library.of_buffer(sign), scale_biases=True)
        LIBRARY.fence(HOST)
        total = (weights * numpy.exp(scale * (x + row_bias[:, None]))).sum(axis=1)
        numpy.testing.assert_array_equal(sign, numpy.sign(total))
        numpy.testing.assert_allclose(lse, numpy.log(numpy.abs(total)), rtol=1e-11, atol=1e-11)
        with self.assertRaisesRegex(library.Error, "weights is given"):
            LIBRARY.apply("softmax", HOST, library.of_buffer(x), library.of_buffer(x),
                          weights=library.of_buffer(weights))

    def test_operands_together(self):
        random = numpy.random.default_rng(3)
        mask = random.random(size=(2, 1, 1, 5)) < 0.7
        mask[..., 0] = True
        self.check_operands((2, 3, 4, 5), bias=random.normal(size=(3, 1, 5)), mask=mask,
                            lengths=numpy.array([[[3]], [[5]]], numpy.int32), causal=1,
                            causal_rows=2)

    def test_strides_of_one_element_do_not_matter(self):
        for x in (self.x[:1][::-1], self.x[:, :1][:, ::-1], self.x[:0][::-1]):
            y = numpy.zeros(x.shape, numpy.float32)
            self.softmax(x, y)
            self.check(x, y)


if __name__ == "__main__":
    with library.Library(sys.argv.pop(1)) as LIBRARY:
        print(f"kokkos-softmax {LIBRARY.version}, {LIBRARY.space_name(HOST)}, {LIBRARY.path}")
        succeeded = unittest.main(exit=False).result.wasSuccessful()
    sys.exit(0 if succeeded else 1)
