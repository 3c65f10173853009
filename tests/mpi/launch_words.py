#!/usr/bin/env python3
"""In which words traces and checks tell of what a program did: names of communicators.

    tests/mpi/launch_words.py --build build/release             every case
    tests/mpi/launch_words.py --build build/release one_name    one
    tests/mpi/launch_words.py --list
"""
import pathlib
import re
import sys
import tempfile

from launch_case import cases_of, run_cases


def case_one_name(case):
    """A communicator without a name is called the same by stories, by checks of types and calls, and by lists of leaks."""
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        case.margay("--trace", trace, "--check-types", "--leaks", case.ours("unnamed.c"), status=None)
        told = case.last.stderr
        case.run([case.build.tool("margay"), "trace", "messages", trace])
        rows = case.last.stdout
        for name, tags in ((r"communicator \d+ \(2 ranks\)", (11, 13)), (r"intercommunicator \d+ \(1 and 1 rank\)", (12, 14))):
            names = {found[1] for tag in tags for found in [re.search(rf"tag {tag} from 0 in (.*?)( {{2}}|$)", rows, re.M)] if found}
            case.expect(len(names) == 1 and re.fullmatch(name, *names), f"the trace's name: {names}")
            of_trace = re.escape("".join(names))
            for words in (rf"MPI_Recv of 4 x MPI_FLOAT .* by MPI_Send, tag {tags[0]}, {of_trace}$",
                          rf"a message that nobody received, from rank 0, tag {tags[1]}, 4 bytes, {of_trace}, sent as 1 x MPI_INT"):
                case.expect(re.search(words, told, re.M), f"no line: {words}")
            if tags[0] == 11:
                case.expect(len(re.findall(rf"calls MPI_Allreduce of \d x MPI_INT with MPI_SUM, {of_trace}", told)) == 2,
                            "the calls that differ name it")


if __name__ == "__main__":
    sys.exit(run_cases(__doc__, cases_of(globals())))
