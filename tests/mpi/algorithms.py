"""The algorithms of collective operations that a job can request, and random choices of them."""
import re
import subprocess

# Lengths of two dimensions, a node's ranks first; short, long, or by a bucket.
PLANS = ["2x2", "2x3", "3x3", "4x2", "2sx4l", "3bx2l", "4lx4b"]


def as_option(asked):
    """An argument of `margay run`; the library, which knows all algorithms, checks the variable."""
    return ["--env", "MARGAY_COLLECTIVE", asked]


def known_algorithms(launcher, program):
    """The algorithms of each operation, from the error for an unknown name. `program`: any MPI program."""
    def refusal(asked):
        command = [*map(str, launcher), "-n", "1", *as_option(asked), str(program)]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stderr

    operations = re.search(r"there is a choice for (\w+(?:, \w+)*)", refusal("nothing=nothing"))
    assert operations, "margay does not list the operations that have a choice"
    found = {}
    for operation in operations[1].split(", "):
        names = re.search(rf"the values are {operation}=([\w|]+)", refusal(f"{operation}=nothing"))
        assert names, f"margay does not list the algorithms of {operation}"
        found[operation] = names[1].split("|")
        # A plan that does not fit a communicator is ignored there.
        if "hybrid" in found[operation] and "the values are " not in refusal(f"{operation}=hybrid:2x2"):
            found[operation] += [f"hybrid:{plan}" for plan in PLANS]
    return found


def draw_algorithms(draw, known):
    """A value of MARGAY_COLLECTIVE; the library chooses for some operations, sometimes for all."""
    share = draw.choice([0, 0.7, 1])
    return ",".join(f"{operation}={draw.choice(names)}" for operation, names in sorted(known.items()) if draw.random() < share)
