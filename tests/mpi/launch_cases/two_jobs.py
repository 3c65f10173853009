"""Cases of jobs that are connected at a port (MPI_Comm_accept, MPI_Comm_connect, MPI_Comm_join), each job with its own launcher."""
import re
import shlex

SERVER = "server: {} connections, 0 failures"
CLIENT = "client: 1 connections, 0 failures"


def user_folder(case, name="user"):
    """A user's folder of the case's own: jobs with different ones have different keys."""
    folder = case.folder / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return {"MARGAY_USER_FOLDER": str(folder)}


def job(case, *words, ranks=2, environment=None):
    """The command of a job as a text of the shell."""
    settings = {**user_folder(case), **case.library_path, **(environment or {})}
    command = [*case.build.launcher(), "-n", ranks, "--timeout", case.timeout, *words]
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in settings.items()), *(shlex.quote(str(word)) for word in command)])


def together(case, *jobs, status=0):
    """Runs the jobs at the same time; the status is the highest one."""
    lines = [f"{text} & pids=\"$pids $!\"" for text in jobs]
    script = "\n".join([*lines, "worst=0", "for pid in $pids; do wait $pid || { s=$?; [ $s -gt $worst ] && worst=$s; }; done", "exit $worst"])
    case.run(["bash", "-c", script], status)
    return sorted(case.last.stdout.splitlines())


def case_connect(case):
    """Jobs of several sizes, wires and node counts connect; messages, collective calls, windows and communicators work."""
    program = case.ours("two_jobs.c")
    rows = (
        ((1, ()), (1, ())),
        ((3, ()), (2, ("--nodes", "2"))),
        ((2, ("--wire-tcp", "uring")), (4, ("--places", "9"))),
    )
    for number, (server, client) in enumerate(rows):
        file = case.folder / f"port{number}"
        lines = together(case, job(case, *server[1], program, "server", file, "1", ranks=server[0]),
                         job(case, *client[1], program, "client", file, ranks=client[0]))
        case.expect(lines == [CLIENT, SERVER.format(1)], f"{server}, {client}: {lines}")


def case_connect_alone(case):
    """Roots that meet over MPI_COMM_SELF extend the connection to processes that took no part in the meeting."""
    program = case.ours("two_jobs.c")
    file = case.folder / "port"
    lines = together(case, job(case, program, "server", file, "1", "alone", ranks=3), job(case, program, "client", file, "alone"))
    case.expect(lines == [CLIENT, SERVER.format(1)], f"{lines}")


def case_connect_many(case):
    """A server serves one client after the other, with eight empty places and with one: places of clients that have ended
    serve others, also if a client ends while the server waits for the next one."""
    program = case.ours("two_jobs.c")
    for number, (options, ranks, count) in enumerate((((), 2, 30), (("--places", "3"), 1, 10))):
        file = case.folder / f"port{number}"
        client = job(case, program, "client", file, ranks=ranks)
        clients = f"( for i in $(seq {count}); do {client} || exit 1; done )"
        lines = together(case, job(case, *options, program, "server", file, count, ranks=2), clients)
        case.expect(lines == [CLIENT] * count + [SERVER.format(count)], f"{options}: {lines}")


def case_connect_at_once(case):
    """Four jobs call one port at the same time, and stay connected together."""
    program = case.ours("two_jobs.c")
    file = case.folder / "port"
    clients = [job(case, program, "client", file, ranks=1) for _ in range(4)]
    lines = together(case, job(case, program, "server", file, "4", ranks=1), *clients)
    case.expect(lines == [CLIENT] * 4 + [SERVER.format(4)], f"{lines}")


def case_connect_join(case):
    """Processes of two jobs that a socket joins."""
    program = case.ours("two_jobs.c")
    file = case.folder / "socket"
    lines = together(case, job(case, program, "server", file, "1", "join"), job(case, program, "client", file, "join", ranks=1))
    case.expect(lines == [CLIENT, SERVER.format(1)], f"{lines}")


def case_connect_threads(case):
    """Four threads of one process connect with one process of another job again and again, at the same time."""
    program = case.ours("two_jobs.c")
    file = case.folder / "port"
    lines = together(case, job(case, program, "server", file, "1", "threads"), job(case, program, "client", file, "threads", ranks=1))
    case.expect(lines == [CLIENT, SERVER.format(1)], f"{lines}")


def case_connect_successors(case):
    """Processes that follow each other in one place of their job are different guests of the server."""
    program = case.ours("two_jobs.c")
    file = case.folder / "port"
    lines = together(case, job(case, program, "server", file, "4", ranks=1), job(case, program, "parent", file, "4", ranks=1))
    case.expect(lines == [CLIENT] * 4 + ["parent: 4 connections, 0 failures", SERVER.format(4)], f"{lines}")


def case_connect_dies(case):
    """The death of a process of another job is an error of operations that need it, and ends only its own job."""
    program = case.ours("two_jobs.c")
    file = case.folder / "port"
    lines = together(case, job(case, program, "server", file, "1", "dies"), job(case, program, "client", file, "dies"), status="nonzero")
    case.expect("server: the client is lost" in lines, f"{lines}")
    case.expect("server: 1 connections, 0 failures" in lines, f"{lines}")


def case_connect_ends(case):
    """A caller that waits for a process of another job, which ends in order without accepting it, gets MPI_ERR_PORT."""
    program = case.ours("two_jobs.c")
    file = case.folder / "port"
    lines = together(case, job(case, program, "server", file, "1", "ends", ranks=1), job(case, program, "client", file, "ends", "refused", ranks=1))
    case.expect(CLIENT in lines and SERVER.format(1) in lines and any("MPI_ERR_PORT" in line for line in lines), f"{lines}")


def case_connect_refused(case):
    """No connection: another user's key, no empty place at the caller, and a port whose job has ended. The callers get
    MPI_ERR_PORT with the reason."""
    program = case.ours("two_jobs.c")
    rows = (
        ({"environment": user_folder(case, "other")}, (), "cannot be reached"),
        ({}, ("--places", "2"), "no empty place"),
    )
    for number, (keywords, options, reason) in enumerate(rows):
        file, stop = case.folder / f"port{number}", case.folder / f"stop{number}"
        server = f"( {job(case, program, 'server', file, '1')} & pid=$!; while [ ! -e {stop} ]; do sleep 0.05; done; kill -TERM $pid; wait $pid; true )"
        client = f"( {job(case, *options, program, 'client', file, 'refused', **keywords)}; touch {stop} )"
        lines = together(case, server, client)
        case.expect(CLIENT in lines, f"{lines}")
        case.expect(any(re.match("client: .*MPI_ERR_PORT", line) and reason in line for line in lines), f"{reason}: {lines}")
        # The server has ended; its port's name is still there.
        lines = together(case, job(case, program, "client", file, "refused"))
        case.expect(any("MPI_ERR_PORT" in line for line in lines) and CLIENT in lines, f"{lines}")
