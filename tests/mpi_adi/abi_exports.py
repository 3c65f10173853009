#!/usr/bin/env python3
"""abi_exports.py LIBRARY HEADER_FOLDER: tests the exports of libmpi.so.12.

- every exported MPI_X (MPIX_X) is a weak function at the address of a strong PMPI_X (PMPIX_X), and the other way round;
- every exported name of MPI is declared in mpi.h, so that no symbol claims a function that margay does not have;
- the library itself calls no MPI_X and no PMPI_X by a name that a profiling tool could take;
- no symbol has a version; nothing else is exported, nor MPI_Abi_get_version, which identifies another ABI;
- the SONAME is libmpi.so.12.

Exit 0: all hold; 1: the violations are printed.
"""
import re
import subprocess
import sys

# Exported names that are not functions of mpi.h: data of the ABI, and symbols that Fortran programs need.
DATA = re.compile(r"MPI_(UNWEIGHTED|WEIGHTS_EMPTY|F_STATUS(ES)?_IGNORE|F08_STATUS(ES)?_IGNORE|T_PVAR_ALL_HANDLES)"
                  r"|MPIR_(C|F08)_MPI_\w+|MPII_Version_\w+|mpi(priv[12c]|fcmb[59])_")
FORTRAN = re.compile(r"p?mpix?_[a-z0-9_]+|P?MPIX?_[A-Z0-9_]+_{0,2}")
# Functions of MPICH's own libraries and tools; margay's fail with an error.
INTERNAL = re.compile(r"MPIR_Dup_fn|MPIR_Err_\w+|MPII_\w+|QMPI_\w+")
# Margay's own functions, which no other library has: those of mpi_adi/abi/mpi_rma_1996.h, the host, and threads as ranks.
OWN = re.compile(r"MPI_RMA_(init|free|i?put|i?get)|MPIX_Margay_(host|run_threads|poll_interval|polling|poll_counts)")
FORBIDDEN = re.compile(r"P?MPI_Abi_\w+")


def run(*command):
    result = subprocess.run(command, text=True, capture_output=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stderr}")
    return result.stdout


def exported(library):
    """name -> (address, binding, type) of defined dynamic symbols."""
    found = {}
    for line in run("readelf", "--wide", "--dyn-syms", library).splitlines():
        field = line.split()
        if len(field) >= 8 and field[0].rstrip(":").isdigit() and field[6] != "UND" and field[4] in ("GLOBAL", "WEAK"):
            found[field[7]] = (field[1], field[4], field[3])
    return found


def declared(folder):
    text = "".join(run("gcc", "-E", "-P", f"-I{folder}", "-include", "mpi.h", "-xc", "/dev/null"))
    return set(re.findall(r"\b(P?MPI[XR]?_\w+) ?\(", text))


def check_pair(symbols, name, wrong):
    strong = symbols.get("P" + name)
    if strong is None:
        wrong.append(f"{name} has no P{name}")
        return
    if symbols[name][1] != "WEAK" or strong[1] != "GLOBAL":
        wrong.append(f"{name} is {symbols[name][1]} and P{name} is {strong[1]}: they must be WEAK and GLOBAL")
    if symbols[name][0] != strong[0]:
        wrong.append(f"{name} is at {symbols[name][0]} and P{name} at {strong[0]}: they must be one function")


def check(library, folder):
    symbols, known, wrong = exported(library), declared(folder), []
    for name, (_, _, kind) in sorted(symbols.items()):
        if "@" in name:
            wrong.append(f"{name} has a version")
        elif FORBIDDEN.fullmatch(name):
            wrong.append(f"{name} claims another ABI")
        elif INTERNAL.fullmatch(name) or DATA.fullmatch(name) or OWN.fullmatch(name):
            continue
        elif name in known and kind == "FUNC":
            if name.startswith("P"):
                if name[1:] not in symbols:
                    wrong.append(f"{name} has no {name[1:]}")
            else:
                check_pair(symbols, name, wrong)
        elif not FORTRAN.fullmatch(name):
            wrong.append(f"{name} ({kind}) is no name of the ABI")
    for name in sorted(set(re.findall(r" (P?MPIX?_[A-Z]\w*) \+ ", run("readelf", "--wide", "--relocs", library)))):
        if name in known:
            wrong.append(f"the library calls {name} by its name: a profiling tool would see a call that no program made")
    if "SONAME" not in run("readelf", "-dW", library) or "[libmpi.so.12]" not in run("readelf", "-dW", library):
        wrong.append("the SONAME is not libmpi.so.12")
    functions = sum(1 for name in symbols if name in known and not name.startswith("P"))
    return wrong, functions


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    wrong, functions = check(sys.argv[1], sys.argv[2])
    for line in wrong:
        print(line)
    print(f"{functions} functions exported, {len(wrong)} faults")
    sys.exit(1 if wrong or functions == 0 else 0)


if __name__ == "__main__":
    main()
