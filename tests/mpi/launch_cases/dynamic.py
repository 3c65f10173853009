"""Cases of ports and published names: the launcher's name service, and the reports of waits and deaths at a port."""
import re

from launch_case import SOURCES, marked_lines

FAULTS = SOURCES.parent.parent / "faults"
WIRES = ((), ("--nodes", "2"))

SERVICE, NAME = "MPI_ERR_SERVICE", "MPI_ERR_NAME"
# What ports.c prints for names, by its own words: the class of the error.
NAMES = {"publish": "success", "publish awkward": "success", "publish twice": SERVICE, "publish empty": SERVICE,
         "publish long": SERVICE, "publish no port": "MPI_ERR_PORT", "unpublish": "success", "unpublish awkward": "success",
         "unpublish twice": SERVICE, "lookup unpublished": NAME, "lookup awkward": "success", "lookup": "success",
         "lookup unknown": NAME}


def case_names(case):
    """A process publishes a port under names of any bytes, another looks it up and connects; wrong names are errors. The same
    under Hydra, whose words for the errors differ."""
    program = case.ours("ports.c")
    for wire in WIRES:
        case.margay(*wire, program, "names")
        expect_names(case, NAMES | {"unpublish other": SERVICE})
        case.expect_printed("service_is_published", "service_not_found", "service_has_another_port")
    case.run(["mpiexec.hydra", "-n", "2", program, "names"], env=case.library_path)
    expect_names(case)


def expect_names(case, names=NAMES):
    seen = dict(re.findall(r"^([a-z ]+): (\w+)", case.last.stdout, re.M))
    case.expect(seen == names, f"the classes, not {seen}")
    case.expect("a port" in case.last.stdout.splitlines(), "the port of the awkward name")


def case_names_alone(case):
    """Without a launcher, names fail with an error that names the cure."""
    case.run([case.ours("ports.c"), "names"], env=case.library_path)
    seen = dict(re.findall(r"^([a-z ]+): (\w+)", case.last.stdout, re.M))
    # Rank 0 is alone, so nobody makes the other lookups.
    expected = {what: result if result != "success" else SERVICE for what, result in NAMES.items()
                if what == "lookup unpublished" or not what.startswith("lookup")}
    case.expect(seen == expected, f"the classes, not {seen}")
    case.expect_printed("names need a launcher's name service")


def case_accept_without_caller(case):
    """An accept without a caller is a stall whose report names the call, and no proof of a deadlock."""
    program = case.ours("ports.c", ["-g"])
    line = marked_lines("ports.c")["accept"]
    case.margay("--stall", "1", "--deadlock", "abort", "--timeout", "6", program, "accept", ranks=3, status="nonzero")
    said = case.last.whole_stderr
    case.expect("deadlock:" not in said, "no proof of a deadlock")
    case.expect(f"rank 0 in MPI_Comm_accept (ports.c:{line})" in said, "the wait of rank 0")
    case.expect(f"rank 2 in MPI_Comm_accept (ports.c:{line})" in said, "the wait of rank 2")


def case_connect_without_accept(case):
    """A call of a port whose process waits for the caller is a proven deadlock; the report names both waits."""
    program = case.ours("ports.c", ["-g"])
    line = marked_lines("ports.c")["connect"]
    case.margay("--deadlock", "abort", program, "connect", status=73)
    case.expect(re.search(rf"rank 1 in MPI_Comm_connect \(ports.c:{line}\): .*rank 0", case.last.whole_stderr), "the wait of rank 1")


def case_port_dies(case):
    """The death of a process whose port is called ends the job, and is reported as the cause. If the launcher ends no
    process, the callers get an error."""
    program = case.ours("ports.c")
    for wire in WIRES:
        case.margay(*wire, program, "dies", ranks=3, status="nonzero")
        case.expect(re.search(r"rank 0 .*(SIGKILL|signal 9|killed)", case.last.stderr, re.I), "the death of rank 0")
    for ranks in ("3", "3:2"):
        case.run(["python3", FAULTS / "quiet_launcher.py", ranks, program, "dies"], env=case.library_path)
        case.expect(case.last.stdout.count("connect: MPI_ERR_PORT") == 2 and "has ended" in case.last.stdout, "the callers' errors")
