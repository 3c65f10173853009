#!/usr/bin/env python3
"""Compiles the C++ blocks of docs/rmi.md as printed, and compares its tables with the sources.

    tests/libraries/rmi/document_test.py --compiler g++ --include include

A block with main() is a program. The others are compiled together, each in a namespace of its own, after the headers and the class
Counter of the first program.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "rmi.md"
BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)
SETTING = re.compile(r"MARGAY_RMI_[A-Z_]+")
HEAD = """#include <margay/rmi.hpp>
#include <margay/rmi/stapl.hpp>

#include <algorithm>
#include <coroutine>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace margay::rmi;
"""


def programs(page):
    """The sources to compile: the programs, and all other blocks in one."""
    blocks = BLOCK.findall(page)
    whole = [block for block in blocks if " main(" in block]
    counter = re.search(r"^struct Counter \{.*?^\};\n", whole[0], re.M | re.S)[0]
    parts = [f"namespace block_{number} {{\n{block}}}\n" for number, block in enumerate(blocks) if block not in whole]
    return [*whole, HEAD + counter + "\n".join(parts)]


def compile_error(options, source):
    """The compiler's output for a source, or ""."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write(source)
        file.flush()
        done = subprocess.run([options.compiler, "-std=c++20", "-Wall", "-Wno-unused-function", "-fsyntax-only", f"-I{options.include}", file.name],
                              capture_output=True, text=True, timeout=300, check=False)
    return done.stderr if done.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    options = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    failures = [error for error in (compile_error(options, source) for source in programs(page)) if error]
    settings = set(re.findall(r'"(MARGAY_RMI_[A-Z_]+)"', (ROOT / "libraries" / "rmi" / "settings.cpp").read_text(encoding="utf-8")))
    rows = {SETTING.search(line)[0] for line in page.splitlines() if line.startswith("| `MARGAY_RMI_")}
    if rows != settings:
        failures.append(f"docs/rmi.md has rows for the settings {sorted(rows)}; libraries/rmi/settings.cpp reads {sorted(settings)}")
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"docs/rmi.md: {len(BLOCK.findall(page))} blocks, {len(rows)} settings: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
