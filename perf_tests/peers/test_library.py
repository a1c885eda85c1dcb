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


class Enumerations(unittest.TestCase):
    """The numbers of library.py are those of kokkossoftmax.h."""

    def check(self, numbers, enumeration, prefix):
        header = pathlib.Path(__file__).parents[2] / "include" / "kokkossoftmax.h"
        body = re.search(rf"enum {enumeration} {{(.*?)}}", header.read_text(), re.DOTALL).group(1)
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
        for algorithm in ("split", "split_online", "cluster", "split_column"):  # never reproducible
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

    def test_elements_that_are_no_floating_point_numbers(self):
        with self.assertRaisesRegex(TypeError, "no floating-point numbers"):
            library.of_buffer((ctypes.c_int * 3)())

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
