#!/usr/bin/env python3
"""Compiles the C programs of docs/zipcode.md as printed, as C and as C++, and compares its settings with the sources.

    tests/libraries/zipcode/document_test.py --compiler gcc --cxx g++ --include include
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "zipcode.md"
BLOCK = re.compile(r"^```c\n(.*?)^```$", re.M | re.S)
SETTING = re.compile(r"MARGAY_ZIPCODE_[A-Z_]+")


def compile_error(command, suffix, source):
    """The compiler's output for a source, or ""."""
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
        file.write(source)
        file.flush()
        done = subprocess.run([*command, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", file.name], capture_output=True, text=True, timeout=300, check=False)
    return done.stderr if done.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--include", required=True)
    options = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    blocks = BLOCK.findall(page)
    failures = [] if blocks else ["docs/zipcode.md has no program"]
    for block in blocks:
        for command, suffix in (([options.compiler, "-std=c11"], ".c"), ([options.cxx, "-std=c++20", "-Wno-missing-field-initializers"], ".cpp")):
            failures += [error for error in (compile_error([*command, f"-I{options.include}"], suffix, block),) if error]
    settings = set()
    for source in (ROOT / "libraries" / "zipcode").rglob("*.cpp"):
        settings.update(re.findall(r'getenv\("(MARGAY_ZIPCODE_[A-Z_]+)"\)', source.read_text(encoding="utf-8")))
    rows = {SETTING.search(line)[0] for line in page.splitlines() if line.startswith("| `MARGAY_ZIPCODE_")}
    if rows != settings:
        failures.append(f"docs/zipcode.md has rows for the settings {sorted(rows)}; libraries/zipcode reads {sorted(settings)}")
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"docs/zipcode.md: {len(blocks)} programs, {len(rows)} settings: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
