#!/usr/bin/env python3
"""A generator of C programs that call each function of MPI with one wrong argument at a time.

    tests/mpi/arguments/generate.py FOLDER    a program per chapter, arguments_CHAPTER.c
    tests/mpi/arguments/generate.py --list    the wrong calls, one a line

Prototypes are those of mpi.h; functions are the implemented ones (scripts/coverage). The wrong values follow from an
argument's type and name (kinds.py), and from functions.txt, for exceptions.
"""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys
from typing import NamedTuple

import kinds

FOLDER = pathlib.Path(__file__).resolve().parent
TABLE = FOLDER / "functions.txt"


class Call(NamedTuple):
    """One wrong call: the initial memory, the call, and the expected result."""
    function: str
    argument: str
    label: str
    value: str
    lines: list
    expression: str
    error: str
    argument_words: str
    value_words: str

    def text(self):
        return f"{self.function}, {self.argument} = {self.value} ({self.label}), expected MPI_ERR_{self.error}"


class Row:
    """A function's line in the table."""

    def __init__(self, line):
        words, _, self.reason = line.partition("#")
        self.function, *words = words.split()
        self.values, self.errors, self.good, self.more = {}, {}, {}, []
        for word in words:
            match = re.fullmatch(r"(\w+)(=|:|-|\+)(.*)", word)
            if not match:
                raise SystemExit(f"{TABLE.name}: {self.function}: '{word}' is none of name=value, name:CLASS, name-labels, "
                                 "name+value:CLASS")
            name, sign, rest = match.groups()
            if sign == "=":
                self.values[name] = rest
            elif sign == ":":
                self.errors[name] = rest
            elif sign == "-":
                self.good[name] = rest.split(",") if rest else None
            else:
                value, _, error = rest.rpartition(":")
                self.more.append((name, value, error))


def coverage():
    path = FOLDER.parents[2] / "scripts" / "coverage"
    loader = importlib.machinery.SourceFileLoader("coverage", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("coverage", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def table():
    """function -> Row; and the exceptions, name or pattern -> reason."""
    rows, exceptions = {}, {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("- "):
            name, _, reason = line[2:].partition("#")
            exceptions[name.strip()] = reason.strip()
            continue
        row = Row(line)
        rows[row.function] = row
    return rows, exceptions


def excepted(function, exceptions):
    return any(re.fullmatch(name.replace("*", r"\w*"), function) for name in exceptions)


def contents(value, type_name, slot):
    """The lines that put {a,b} into a slot."""
    element = type_name.replace("const ", "").replace("(*)[3]", "").rstrip("* ")
    return [f"PUT({slot}, {element}, {i}, {entry});" for i, entry in enumerate(value[1:-1].split(",")) if entry]


class Function:
    def __init__(self, module, name, arguments, row):
        self.name, self.row = name, row
        self.arguments = [module.type_of(argument) for argument in arguments.split(",")]
        self.kinds = []
        for index, (type_name, argument) in enumerate(self.arguments):
            kind = kinds.kind_of(type_name, argument, name, f"(void*)slot[{index}].bytes")
            given = row.values.get(argument)
            if kind is None and given is None:
                raise SystemExit(f"{name}: nothing is known of {type_name} {argument}; say {argument}=VALUE in {TABLE.name}")
            kind = kind or kinds.Kind(given, "", [])
            if given is not None:
                kind = kind._replace(default=given)
            self.kinds.append(kind)
        unknown = {*row.values, *row.errors, *row.good, *(more[0] for more in row.more)} - {pair[1] for pair in self.arguments}
        if unknown:
            raise SystemExit(f"{TABLE.name}: {name} has no argument {', '.join(unknown)}")

    def passed(self, index, value):
        type_name, _ = self.arguments[index]
        if value.startswith("{"):
            return f"(void*)slot[{index}].bytes", contents(value, type_name, index)
        return value, []

    def call(self, wrong_index, wrong):
        lines, passed = [], []
        for index, kind in enumerate(self.kinds):
            expression, puts = self.passed(index, wrong.value if index == wrong_index else kind.default)
            lines += puts
            passed.append(expression)
        name = self.arguments[wrong_index][1]
        words = "|".join([name, *self.nouns(wrong_index, wrong.label)])
        return Call(self.name, name, wrong.label, wrong.value, lines, f"{self.name}({', '.join(passed)})", wrong.error, words,
                    wrong.said)

    def nouns(self, index, label):
        """The other name of that argument in a message; a noun that two wrong arguments share names neither."""
        noun, name = self.kinds[index].noun, self.arguments[index][1]
        if not noun:
            return []
        others = self.kinds[:index] + self.kinds[index + 1:]
        if not any(kind.noun == noun and any(wrong.label == label for wrong in kind.wrongs) for kind in others):
            return [noun]
        if name.startswith(("send", "recv")):
            side = "send" if name.startswith("send") else "receive"
            return [f"of the {side}", f"the {side} {noun}"]
        side, _, rest = name.partition("_")
        if side in ("origin", "target", "result") and rest:
            return [f"of the {side}", f"the {side}'s {noun}"]
        return []

    def calls(self):
        for index, (_, name) in enumerate(self.arguments):
            good = self.row.good.get(name, [])
            for wrong in self.kinds[index].wrongs if good is not None else []:
                if wrong.label in good:
                    continue
                error = self.row.errors.get(name, "")
                if error.startswith("pointer=") == (wrong.label == "pointer") and error:
                    wrong = wrong._replace(error=error.removeprefix("pointer="))
                yield self.call(index, wrong)
        for name, value, error in self.row.more:
            index = [pair[1] for pair in self.arguments].index(name)
            first = value.strip("{}").split(",")[0]
            said = f"in_decimal({first})"
            if error == "TOPOLOGY":
                said = '"Cartesian|graph"'
            elif error == "RMA_FLAVOR":
                said = '"MPI_Win_create_dynamic|MPI_Win_allocate_shared"'
            elif first.startswith('"'):
                said = first
            elif first in ("handler", "own_type"):  # a living one that the function rejects
                said = f"in_hex({first})"
            elif first.startswith("MPI_") and not first.startswith(("MPI_ERR", "MPI_MODE")):
                said = f'"{first}"'
            yield self.call(index, kinds.Wrong("more", value, error, said))


NULL = kinds.NULL_TEXT


def all_calls():
    """chapter -> calls; and the mistakes in the table."""
    module = coverage()
    rows, exceptions = table()
    done, faults, found = module.written(), [], {}
    for chapter, functions in module.declared().items():
        for name, result, arguments in functions:
            if name not in done or arguments == "void" or result != "int" or excepted(name, exceptions):
                continue
            row = rows.get(name)
            if row is None and name.endswith("_c") and name[:-2] in rows:
                row = rows[name[:-2]]  # the same, with larger counts
            if row is None:
                faults.append(f"{name} is done and has no line in {TABLE.name}")
                continue
            found.setdefault(chapter, []).extend(Function(module, name, arguments, row).calls())
    return found, faults


def program(calls):
    parts = ["// Written by tests/mpi/arguments/generate.py.\n", '#include "calls.h"\n']
    bodies = []
    for number, call in enumerate(calls, 1):
        if not bodies or bodies[-1][0] != call.function:
            bodies.append((call.function, []))
        bodies[-1][1].append("\n    ".join([
            f"  if (next_call({number})) {{", *call.lines, "arguments_ready();",
            f"judge({number}, {call.expression}, MPI_ERR_{call.error}, \"{call.function}\", "
            f"\"{call.argument_words}\", {call.value_words});\n  }}"]))
    for function, body in bodies:
        parts.append(f"static void of_{function}(void) {{\n" + "\n".join(body) + "\n}\n")
    parts.append("int main(int argc, char** argv) {\n  begin_calls(argc, argv);\n" +
                 "".join(f"  of_{function}();\n" for function, _ in bodies) + "  return end_calls();\n}\n")
    return "\n".join(parts)


def write(folder):
    """Writes the programs; {path: calls} and the table's faults."""
    found, faults = all_calls()
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for chapter, calls in found.items():
        path = folder / f"arguments_{chapter}.c"
        path.write_text(program(calls), encoding="utf-8")
        written[path] = calls
    return written, faults


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--list":
        found, faults = all_calls()
        for calls in found.values():
            print("\n".join(call.text() for call in calls))
        print(f"{sum(map(len, found.values()))} calls, {len(faults)} faults")
    else:
        _, faults = write(sys.argv[1])
    sys.exit("\n".join(faults) or 0)


if __name__ == "__main__":
    main()
