#!/usr/bin/env python3
"""Compares margay's mpi.h with MPICH's, if that is installed.

  abi_probe.py values     OURS [REFERENCE]  every constant, size and offset, printed by one program built twice
  abi_probe.py prototypes OURS [REFERENCE]  every function, variable and typedef, redeclared after ours in one C file:
                                            the compiler refuses a conflicting type

OURS and REFERENCE are folders with an mpi.h; the default of REFERENCE is the folder of Debian's MPICH. Exit 0: equal; 1:
differences, which are printed, or MPICH's header is missing and MARGAY_EXPECT_TOOLS is set; 77: it is missing.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

CC = os.environ.get("CC", "gcc")
SKIPPED = 77

# Macros of MPICH's header that margay's omits on purpose: its build's own switches, ROMIO's version (margay's files
# are not ROMIO's) and the QMPI tool interface, which no program of the ABI may count on.
NOT_OURS = re.compile(
    r"MPICH_(API_PUBLIC|ATTR_.*|DEFINE_.*)|ROMIO_.*|MPIU_DLL_SPEC|MPIO_INCLUDE|MPI_PROTO_H_INCLUDED|QMPIX?_.*"
)
NAMES = re.compile(r"(P?MPI|MPICH|MPIX|MPIO|MPIR|MPIIMPL|PMPIO)\w*|HAVE_MPI_\w+")
STRUCTS = {
    "MPI_Status": ["count_lo", "count_hi_and_cancelled", "MPI_SOURCE", "MPI_TAG", "MPI_ERROR"],
    "MPI_F08_status": ["count_lo", "count_hi_and_cancelled", "MPI_SOURCE", "MPI_TAG", "MPI_ERROR"],
}


def find_reference():
    """The folder of Debian's mpi.h of MPICH, or None."""
    return next((folder for folder in sorted(glob.glob("/usr/include/*/mpich")) + ["/usr/include/mpich"]
                 if os.path.exists(os.path.join(folder, "mpi.h"))), None)


def preprocess(include, *options):
    run = subprocess.run([CC, "-E", *options, "-I" + include, "-xc", "-"], input="#include <mpi.h>\n", text=True,
                         capture_output=True)
    if run.returncode != 0:
        sys.exit(f"{CC} cannot read {include}/mpi.h:\n{run.stderr}")
    return run.stdout


def macros(include):
    """Object-like macros of MPI: name -> text."""
    found = {}
    for line in preprocess(include, "-dM").splitlines():
        match = re.match(r"#define (\w+)(?: (.*))?$", line)
        if match and NAMES.fullmatch(match[1]) and not NOT_OURS.fullmatch(match[1]):
            found[match[1]] = match[2] or ""
    return found


def function_macros(include):
    lines = re.findall(r"#define (\w+)\(", preprocess(include, "-dM"))
    return {name for name in lines if NAMES.fullmatch(name) and not NOT_OURS.fullmatch(name)}


def statements(include):
    """Top-level declarations, attributes and system headers removed."""
    text, ours = [], False
    for line in preprocess(include).splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = "mpi" in marker[1]
        elif ours and not line.startswith("#"):
            text.append(line)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", " ".join(text))
    depth, start, found = 0, 0, []
    for at, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if char == ";" and depth == 0:
            found.append(re.sub(r"\s+", " ", text[start:at]).strip())
            start = at + 1
    return found


def enumerators(include):
    found = []
    for statement in statements(include):
        match = re.match(r"(?:typedef )?enum (\w*) ?{(.*)}", statement)
        if match and match[1] != "QMPI_Functions_enum":
            found += [part.split("=")[0].strip() for part in match[2].split(",") if part.strip()]
    return set(found)


def typedefs(include):
    """Type name -> whether it is a function type (which has no size)."""
    found = {}
    for statement in statements(include):
        if not statement.startswith("typedef"):
            continue
        callback = re.match(r"typedef \w+ ?\((\w+)\)", statement)
        alias = re.search(r"(\w+)$", statement)
        name = callback[1] if callback else alias and alias[1]
        if name and not name.startswith("QMPI"):
            found[name] = bool(callback) or name.endswith("_errhandler_fn")
    return found


def probe_lines(name, text):
    if text.startswith('"'):
        return f'printf("{name} %s\\n", {name});'
    if name in ("MPI_DUP_FN", "MPI_COMM_DUP_FN", "MPI_TYPE_DUP_FN", "MPI_WIN_DUP_FN"):
        return f'printf("{name} %d\\n", (void *){name} == (void *)MPIR_Dup_fn);'
    return f'printf("{name} %llx %zu\\n", (unsigned long long)({name}), sizeof({name}));'


def is_value(text):
    return text != "" and not re.fullmatch(r"P?MPIO?_[A-Z][a-z]\w*|MPI_Request", text)


def probe(include, names, enums, types):
    """The text of the probe program's output against one header."""
    body = [probe_lines(name, text) for name, text in names]
    body += [f'printf("{name} %lld\\n", (long long){name});' for name in enums]
    body += [f'printf("sizeof {name} %zu %zu\\n", sizeof({name}), _Alignof({name}));' for name in types]
    for struct, fields in STRUCTS.items():
        body += [f'printf("{struct}.{field} %zu\\n", offsetof({struct}, {field}));' for field in fields]
    source = "#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\n"
    # The one function whose address constants take; the probe is linked with no MPI library.
    source += ("int MPIR_Dup_fn(MPI_Comm a, int b, void *c, void *d, void *e, int *f) "
               "{ (void)a; (void)b; (void)c; (void)d; (void)e; (void)f; return 0; }\n")
    source += "int main(void) {\n  " + "\n  ".join(body) + "\n  return 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "abi_probe.c")
        with open(path, "w", encoding="utf-8") as out:
            out.write(source)
        run = subprocess.run([CC, "-w", "-I" + include, path, "-o", path + ".out"], text=True, capture_output=True)
        if run.returncode != 0:
            sys.exit(f"the probe does not compile against {include}/mpi.h:\n{run.stderr[:4000]}")
        return subprocess.run([path + ".out"], text=True, capture_output=True, check=True).stdout


def missing(kind, ours, reference):
    return [f"{kind} {name}: missing in our header" for name in sorted(set(reference) - set(ours))]


def compare_values(ours, reference):
    wanted, have = macros(reference), macros(ours)
    wrong = missing("macro", have, wanted)
    wrong += missing("function-like macro", function_macros(ours), function_macros(reference))
    wrong += missing("enumerator", enumerators(ours), enumerators(reference))
    wrong += missing("type", typedefs(ours), typedefs(reference))
    names = sorted((name, text) for name, text in wanted.items() if name in have and is_value(text))
    enums = sorted(enumerators(reference) & enumerators(ours))
    types = sorted(name for name, is_function in typedefs(reference).items() if name in typedefs(ours) and not is_function)
    left = probe(ours, names, enums, types).splitlines()
    right = probe(reference, names, enums, types).splitlines()
    wrong += [f"ours: {a}   reference: {b}" for a, b in zip(left, right) if a != b]
    return wrong, len(left)


def declarations(include):
    """name -> declaration, of functions and variables."""
    found = {}
    for statement in statements(include):
        if statement.startswith(("typedef", "enum", "struct")) and "(" not in statement:
            continue
        function = re.match(r"\w[\w ]*?[ *]+((?:P|Q)?MPI\w*) ?\(", statement)
        variable = re.match(r"extern .*?\b(MPI\w+)(?:\[\d*\])?$", statement)
        match = variable or (None if statement.startswith("typedef") else function)
        if match and not NOT_OURS.fullmatch(match[1]):
            found[match[1]] = statement
    return found


def compare_prototypes(ours, reference):
    have, wanted = declarations(ours), declarations(reference)
    wrong = missing("declaration", have, wanted)
    wrong += [f"declaration {name}: not in the ABI" for name in sorted(set(have) - set(wanted))]
    # C11 permits a repeated typedef of the same type, so MPICH's typedefs follow margay's. Structs and enums cannot be
    # repeated; compare_values compares their members.
    again = [s for s in statements(reference) if s.startswith("typedef") and "{" not in s and "QMPI" not in s]
    again += wanted.values()
    source = "#include <mpi.h>\n" + "".join(f"{statement};\n" for statement in again)
    run = subprocess.run([CC, "-std=gnu11", "-fsyntax-only", "-fmax-errors=0", "-I" + ours, "-xc", "-"], input=source,
                         text=True, capture_output=True)
    wrong += re.findall(r"error: (.*)", run.stderr)
    return wrong, len(again)


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("values", "prototypes"):
        sys.exit(__doc__)
    ours = sys.argv[2]
    reference = sys.argv[3] if len(sys.argv) == 4 else find_reference()
    if reference is None or not os.path.exists(os.path.join(reference, "mpi.h")):
        print("MPICH's mpi.h is not there; scripts/setup installs it")
        sys.exit(1 if os.environ.get("MARGAY_EXPECT_TOOLS") else SKIPPED)
    compare = compare_values if sys.argv[1] == "values" else compare_prototypes
    wrong, count = compare(ours, reference)
    for line in wrong:
        print(line)
    print(f"{count} {sys.argv[1]} compared, {len(wrong)} differ")
    sys.exit(1 if wrong or count < 400 else 0)


if __name__ == "__main__":
    main()
