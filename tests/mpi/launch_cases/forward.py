"""Cases of forwarding (`--forward node`): programs of MPI over it, who uses TCP, traces, statistics, wrong values."""
import re

NODES = ("--nodes", "3", "--forward", "node")
FIRST = {0, 2, 4}  # of six ranks on three nodes


def case_forward_programs(case):
    """Unmodified programs run over forwarders, with whole accounts: modes and sizes, order, collectives, one-sided, pending ends, sessions that
    begin after a forwarder has ended its last one."""
    for source, *words in (("sessions.c",), ("sessions_after.c",), ("traffic.c",), ("wildcards.c",), ("bcast.c",), ("alltoall.c",), ("finalize.c",), ("send_modes.c",),
                           ("collectives_random.c", "200"), ("rma/put_get.c",)):
        case.margay(*NODES, "--check-accounting", case.ours(f"../{source}"), *words, ranks=6)
    # Under the variable, and with a node of one rank.
    case.margay("--nodes", "3", "--check-accounting", case.ours("../traffic.c"), ranks=6, env={"MARGAY_FORWARD": "node"})
    case.margay(*NODES, "-ppn", "2", "--check-accounting", case.ours("../traffic.c"), ranks=5)


def case_forward_exit(case):
    """The accounts of a forwarder are there, though it ends by _exit after MPI_Finalize. A late hop may follow them."""
    case.margay("--nodes", "2", "--forward", "node", "--check-accounting", case.ours("exits_at_once.c"), ranks=4, status=None)
    case.expect(case.last.status in (0, 70), f"no other error: {case.last.status}")
    case.expect("sent 0, " not in case.last.stderr, "each rank has sent something")


def case_forward_trace(case):
    """Only the first ranks of nodes use TCP, the others send by forwarders, and the trace of messages and hops is whole."""
    trace = case.traced(*NODES, "--check-accounting", case.ours("../traffic.c"), ranks=6)
    case.command("trace", "check", trace)
    sends = case.events(trace, "kernel_send")
    by_wire = {wire: {event["rank"] for event in sends if event["wire"] == wire} for wire in ("shm", "tcp", "forward")}
    case.expect(by_wire["tcp"] == FIRST, f"TCP is for first ranks: {by_wire}")
    case.expect(by_wire["forward"] == set(range(6)), f"messages of all ranks are forwarded: {by_wire}")


def case_forward_stats(case):
    """`--stats` counts forwarded messages, and their hops by shared memory and TCP."""
    case.margay(*NODES, "--stats", case.ours("../traffic.c"), ranks=6)
    for wire in ("shared memory", "tcp", "forwarded"):
        case.expect(re.search(rf"^    {wire} +[1-9]\d* +\d+$", case.last.stderr, re.M), f"a row for {wire}")


def case_forward_option(case):
    """Other values, and --way beside it, are errors before the job begins; one node has nothing to forward."""
    program = case.ours("../bcast.c")
    case.margay("--nodes", "3", "--forward", "all", program, ranks=6, status=2)
    case.expect_said("forward", "node")
    case.margay("--nodes", "3", program, ranks=6, status=2, env={"MARGAY_FORWARD": "all"})
    case.expect_said("MARGAY_FORWARD", "node")
    case.margay(*NODES, "--way", "shm,tcp", program, ranks=6, status=2)
    case.expect_said("--forward", "--way")
    case.margay("--forward", "node", program, ranks=2)
