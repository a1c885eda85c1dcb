# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is compared: operations, value types and shapes."""

import itertools
import math
import typing

import inputs
import operations
import ragged

OPERATIONS = tuple(operations.OPERATIONS)
TYPE_BYTES = {"float32": 4, "float64": 8, "bfloat16": 2, "float16": 2}
LABEL_BYTES, OFFSET_BYTES = 8, 4

LARGE_COLUMNS = (8, 16, 32, 64, 256, 781, 1000, 1023, 1024, 2048, 2049, 4096, 5001, 8192, 12288,
                 12671, 16384, 32768, 50257, 65536, 128257, 131072, 151936, 256000, 262144,
                 1048576, 4194304, 16777216)
# Short rows that don't begin at multiples of 16 bytes.
UNALIGNED_COLUMNS = (5, 7, 10, 12, 17, 33, 39, 50, 66, 81, 100, 130, 150, 200, 255, 333, 500)
LARGE_ELEMENTS = 512 * 2**20 // 4

# On GPUs. group: (axis, extents); the rows are along the axis
SHAPES = {
    "large": (1, [(-(-LARGE_ELEMENTS // n), n) for n in LARGE_COLUMNS]),
    "unaligned": (1, [(-(-LARGE_ELEMENTS // n), n) for n in UNALIGNED_COLUMNS]),
    "few_rows": (1, [*itertools.product((1, 8), (131072, 1048576)), (1, 100 * 2**20)]),
    "small": (1, list(itertools.product((1, 64, 4096), (128, 1024, 4096)))),
    "axis0": (0, [(21, 6291456), (150, 894784), (1024, 262144), (32768, 4096), (1048576, 100)]),
}

# On GPUs, with operands that are read besides x (inputs.py).
INPUT_COLUMNS = (16, 48, 128, 1000, 4096, 12671, 16384, 131072)
INPUT_ELEMENTS = 2**27
for _kind in ("no_inputs", *inputs.KINDS):
    _shapes = [(-(-INPUT_ELEMENTS // n), n) for n in INPUT_COLUMNS]
    SHAPES[_kind] = (1, _shapes)
    SHAPES[f"{_kind}_axis0"] = (0, [(n, m) for m, n in _shapes])

# Of operations that read numbers per row. group: (axis, columns). On GPUs, x has that many elements.
LOSS_COLUMNS = {"few_columns": (1, (10,)), "large": (1, (128, 1000, 4096, 32000, 131072)),
                "axis0": (0, (10, 128, 1000))}
LOSS_ELEMENTS = {columns: 2**24 if columns == 10 else 2**27
                 for _, widths in LOSS_COLUMNS.values() for columns in widths}

# Of ragged rows, on GPUs.
RAGGED_TYPES = ("float32", "float64", "bfloat16")
RAGGED_ENTRIES = 2**27

# On hosts, where most shapes depend on the size of x.
HOST_COLUMNS = {"float32": (8, 16, 32, 64, 128, 256, 781, 1024, 4096, 32768, 50257, 131072, 1048576),
                "float64": (8, 64, 128, 781, 1024, 32768, 131072)}
HOST_COLUMNS_ALONG_AXIS_0 = (16, 64, 512, 4096, 65536)
HOST_IN_CACHE = [(16, 4096), (64, 1024)]
HOST_ONE_ROW = 16 * 2**20

# On hosts, with operands (inputs.py). They are few, because there are many kinds of operands.
HOST_INPUT_COLUMNS = (10, 128, 1000, 4096, 32768)


class Case(typing.NamedTuple):
    """An operation along an axis of a matrix, or on ragged rows. Of ragged rows, the extents are the number of rows and
    that of all entries, the axis is 1, and x is a vector."""

    operation: str
    type: str
    group: str
    axis: int
    extents: tuple

    @property
    def name(self):
        return f"{self.operation}/{self.type}/{self.group}/{self.shape}"

    @property
    def shape(self):
        return "x".join(map(str, self.extents))

    @property
    def is_ragged(self):
        return self.operation in operations.RAGGED

    @property
    def columns(self):
        """The number of entries per row. Of ragged rows, it is the mean, rounded down."""
        return self.entries // self.rows

    @property
    def rows(self):
        return self.extents[1 - self.axis]

    @property
    def entries(self):
        return math.prod(self.x_extents)

    @property
    def x_extents(self):
        """The extents of x, and of all other arrays that have a number per entry."""
        return self.extents[1:] if self.is_ragged else self.extents

    @property
    def function(self):
        """The operation or, of a backward pass, that of the forward pass."""
        return operations.OPERATIONS[self.operation].function

    @property
    def first(self):
        """The name of the first array, x or y, which the rest of the script calls x."""
        return operations.OPERATIONS[self.operation].first

    @property
    def reads(self):
        """The names of the other arrays that the operation reads."""
        return operations.OPERATIONS[self.operation].reads

    @property
    def writes(self):
        return operations.OPERATIONS[self.operation].writes

    @property
    def writes_rows(self):
        """Whether the results are numbers per row."""
        return self.writes[0] in operations.PER_ROW

    @property
    def row_type(self):
        """The type of the numbers per row that the library reads, and of losses."""
        return "float64" if self.type == "float64" else "float32"

    @property
    def result_type(self):
        """The log-sum-exps of matrices have the type of x, and those of ragged rows that of other numbers per row."""
        has_row_type = "loss" in self.writes or (self.is_ragged and self.writes_rows)
        return self.row_type if has_row_type else self.type

    @property
    def result_extents(self):
        """Several results are one array, with one row for each."""
        if not self.writes_rows:
            return self.x_extents
        return (self.rows,) if len(self.writes) == 1 else (len(self.writes), self.rows)

    @property
    def read_bytes(self):
        """The bytes of x, or of what a backward pass reads in its place."""
        return self.entries * TYPE_BYTES[self.type]

    @property
    def copy_bytes(self):
        """The bytes that a copy of x moves."""
        return 2 * self.read_bytes

    @property
    def bytes(self):
        """The bytes that must be moved: x and what is read besides it are read once, and the result is
        written once."""
        read = int(self.read_bytes * inputs.visible_fraction(self)) + sum(map(self.bytes_of, self.reads))
        read += inputs.bytes_of_group(self, TYPE_BYTES[self.type])
        return read + math.prod(self.result_extents) * TYPE_BYTES[self.result_type]

    def bytes_of(self, name):
        """The bytes of an array that the operation reads."""
        if name == "offsets":
            return (self.rows + 1) * OFFSET_BYTES
        if name not in operations.PER_ROW:
            return self.read_bytes
        return self.rows * (LABEL_BYTES if name == "labels" else TYPE_BYTES[self.row_type])


def of_gpus():
    return [Case(operation, type_name, group, axis, extents)
            for operation, type_name in itertools.product(OPERATIONS, TYPE_BYTES)
            for group, axis, extents in gpu_shapes(operation, type_name)]


def gpu_shapes(operation, type_name):
    """Yields (group, axis, extents)."""
    if operation in operations.RAGGED:
        if type_name in RAGGED_TYPES:
            yield from ragged_shapes(RAGGED_ENTRIES)
        return
    if operation in operations.READS_PER_ROW:
        yield from loss_shapes(lambda columns: -(-LOSS_ELEMENTS[columns] // columns))
        return
    for group, (axis, shapes) in SHAPES.items():
        if inputs.are_of(operation, inputs.kind_of(group)):
            for extents in shapes:
                yield group, axis, extents


def ragged_shapes(entries):
    """Yields (group, axis, extents)."""
    for group, extents in ragged.shapes(entries):
        yield group, 1, extents


def loss_shapes(rows_of):
    """Yields (group, axis, extents). rows_of: the number of rows by the number of columns."""
    for group, (axis, widths) in LOSS_COLUMNS.items():
        for columns in widths:
            rows = rows_of(columns)
            yield group, axis, (rows, columns) if axis == 1 else (columns, rows)


def of_hosts(bytes_of_x):
    """Most of these cases have about this many bytes in x."""
    return [Case(operation, type_name, group, axis, extents)
            for operation, type_name in itertools.product(OPERATIONS, HOST_COLUMNS)
            for group, axis, extents in host_shapes(operation, type_name, bytes_of_x)]


def host_shapes(operation, type_name, bytes_of_x):
    """Yields (group, axis, extents)."""
    elements = bytes_of_x // TYPE_BYTES[type_name]
    if operation in operations.RAGGED:
        yield from ragged_shapes(elements)
        return
    if operation in operations.READS_PER_ROW:
        yield from loss_shapes(lambda columns: max(1, elements // columns))
    else:
        yield from large_host_shapes(operation, type_name, elements)
    for extents in HOST_IN_CACHE:
        yield "in_cache", 1, extents
    yield from host_input_shapes(operation, elements)


def large_host_shapes(operation, type_name, elements):
    for columns in HOST_COLUMNS[type_name]:
        # The result of logsumexp counts little only with many columns: then a read is its limit.
        if columns >= 781 or operation != "logsumexp":
            yield "large", 1, (max(1, elements // columns), columns)
    if type_name == "float32":
        yield "one_row", 1, (1, HOST_ONE_ROW)
    for columns in HOST_COLUMNS_ALONG_AXIS_0:
        rows = max(2, elements // columns)
        yield "axis0", 0, (columns, rows)
        yield "axis0_unaligned", 0, (columns, rows - 1)  # most columns don't begin at cache lines


def host_input_shapes(operation, elements):
    kinds = [kind for kind in inputs.KINDS if inputs.are_of(operation, kind)]
    for kind, columns in itertools.product(kinds, HOST_INPUT_COLUMNS):
        rows = max(1, elements // columns)
        yield kind, 1, (rows, columns)
        yield f"{kind}_axis0", 0, (columns, rows)


def select(cases, operations, types, substring=""):
    return [case for case in cases
            if case.operation in operations and case.type in types and substring in case.name]
