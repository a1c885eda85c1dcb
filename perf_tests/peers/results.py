# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The JSON file of a run: one library on one machine, with a result for each case and peer."""

import json
import os
import sys
import typing

from cases import Case


class Result(typing.NamedTuple):
    case: Case
    peer: str
    status: str  # ok, slow (timed once), failed (wrong), refused, running (the process ended)
    seconds: float = 0.0
    max_error: float = 0.0  # None if it isn't finite
    first_call_s: float = 0.0
    message: str = ""
    runs: tuple = ()  # on a host: the seconds of a call in each run, of which seconds is the median

    @property
    def scatters(self):
        """Whether the median is above 1.2 times the fastest run."""
        return len(self.runs) > 0 and self.seconds > 1.2 * min(self.runs)

    @property
    def is_timed(self):
        return self.status in ("ok", "slow")


def entry_of(result):
    entry = {**result._asdict(), "case": result.case._asdict()}
    if not result.runs:
        del entry["runs"]
    return entry


class Results:
    """Kept in memory and, after each change, in the file."""

    def __init__(self, path, machine=None, library=None):
        self.path = path
        self.machine, self.library, self.missing = machine or {}, library or {}, {}
        self.of = {}  # (case name, peer): Result
        if path.exists():
            self._read()
            if machine is not None and (self.machine, self.library) != (machine, library):
                sys.exit(f"{path} can't be continued (it is of {self.machine} and {self.library}, "
                         f"not of {machine} and {library}): give another --output")

    def add(self, result):
        self.of[result.case.name, result.peer] = result
        self.write()

    def remove(self, case, peer):
        del self.of[case.name, peer]
        self.write()

    def has(self, case, peer):
        return (case.name, peer) in self.of

    def get(self, case, peer):
        return self.of.get((case.name, peer))

    def cases(self):
        return list(dict.fromkeys(result.case for result in self.of.values()))

    def peers(self):
        return list(dict.fromkeys(result.peer for result in self.of.values()))

    def write(self):
        head = json.dumps({"machine": self.machine, "library": self.library,
                           "missing": self.missing}, indent=1)
        lines = [json.dumps(entry_of(result)) for result in self.of.values()]
        text = head[:-2] + ',\n "results": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(text)
        os.replace(temporary, self.path)

    def _read(self):
        try:
            document = json.loads(self.path.read_text())
            self.machine, self.library = document["machine"], document["library"]
            self.missing = document["missing"]
            for entry in document["results"]:
                case = Case(**entry.pop("case"))
                case = case._replace(extents=tuple(case.extents))
                self.of[case.name, entry["peer"]] = Result(case, **entry)
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"{self.path} can't be read ({type(error).__name__}: {error}): give a file "
                     "that compare.py wrote")
        for key, result in self.of.items():
            if result.status == "running":
                self.of[key] = result._replace(status="failed",
                                               message="the process ended during this case")
