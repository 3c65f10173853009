#!/usr/bin/env python3
"""Checks docs/zipcode_mpi.md: each call of Zipcode's headers is in the first column of a table, with MPI's counterpart or "none"; it names
no call that a header lacks, neither Zipcode's nor MPI's.

    tests/libraries/zipcode/mpi_page_test.py
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEADERS = ("include/margay/zipcode.h", "include/margay/zipcode_invoices.h")
# Parts of the macros that make methods.
INTERNAL = {"ZIP_POINTER_CAST", "ZIP_VALUE_CAST", "ZIP_TYPED_CASE"}
NAME = re.compile(r"`(\w+)`")


def calls_of(text):
    """The functions, macros like functions, and class forms of a call (`#define z_sync zip_sync`) of a header."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S).replace("\\\n", " ")
    macros = set(re.findall(r"(?m)^#define (\w+)\(", text))
    forms = set(re.findall(r"(?m)^#define ((?:y|z|l|g1|g2|g3)_\w+) zip_\w+$", text))
    declared = re.sub(r"(?m)^\s*#.*$", "", text)
    functions = set(re.findall(r"(?m)^(?!typedef|inline)[A-Za-z_][\w \*]*?\b(\w+)\([^;{]*\);", declared))
    return (macros | forms | functions) - INTERNAL


def rows_of(page):
    """(line number, first column, second column) of the tables that have Zipcode's calls."""
    is_in = False
    for number, line in enumerate(page.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells[:2] == ["Zipcode", "MPI"]:
            is_in = True
        elif not cells:
            is_in = False
        elif is_in and not line.startswith("|---"):
            yield number, cells[0], cells[1]


def problems(headers, page, mpi):
    """What is wrong with the page, a sentence each."""
    known = set().union(*map(calls_of, headers))
    of_mpi = set(re.findall(r"\bMPI_\w+", mpi))
    named, found = [], []
    for number, calls, counterpart in rows_of(page):
        own = NAME.findall(calls)
        named += own
        found += [f"line {number}: no header has {name}" for name in own if name not in known]
        theirs = [name for name in NAME.findall(counterpart) if name.startswith("MPI_")]
        found += [f"line {number}: MPI has no {name}" for name in theirs if name not in of_mpi]
        if not theirs and not re.match(r"none\b|the same\b", counterpart):
            found.append(f"line {number}: {calls} has neither a counterpart nor \"none\"")
    found += [f"{name} is missing" for name in sorted(known - set(named))]
    return found + [f"{name} has two rows" for name in sorted(set(named)) if named.count(name) > 1]


def self_test(headers, page, mpi):
    """Planted mistakes, each of which must be found."""
    planted = ((headers + ["int zip_newer(ZIP_MAILER* mailer,\n              int p);\n"], page, "zip_newer is missing"),
               (headers + ["#define zip_newer(a) (a)\n"], page, "zip_newer is missing"),
               (headers, page.replace("`z_send`,", ""), "z_send is missing"), (headers, page.replace("`z_send`", "`z_sent`"), "no header has z_sent"),
               (headers, page.replace("`MPI_Scan`", "`MPI_Scans`"), "MPI has no MPI_Scans"),
               (headers, page.replace("| `MPI_Scan` |", "| later |"), "neither a counterpart"),
               (headers, page.replace("`z_send`,", "`z_send`, `z_send`,"), "z_send has two rows"))
    return [f"not found: {expected}" for changed, text, expected in planted
            if not any(expected in problem for problem in problems(changed, text, mpi))]


def main():
    headers = [(ROOT / name).read_text(encoding="utf-8") for name in HEADERS]
    page = (ROOT / "docs/zipcode_mpi.md").read_text(encoding="utf-8")
    parts = [ROOT / "mpi_adi/abi/mpi.h", *sorted((ROOT / "mpi_adi/abi/margay_mpi").glob("*.h"))]
    mpi = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    found = problems(headers, page, mpi) + self_test(headers, page, mpi)
    for problem in found:
        print(f"docs/zipcode_mpi.md: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
