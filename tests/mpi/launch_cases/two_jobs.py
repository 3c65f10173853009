"""Cases of jobs that are connected at a port (MPI_Comm_accept, MPI_Comm_connect, MPI_Comm_join), each job with its own launcher."""
import contextlib
import re
import shlex
import threading
import time

from handshake_relay import ANSWER, HELLO, Relay, address_of, port_at
from launch_case import Skipped
from two_hosts import ADDRESSES, DEVICE, SILENT, NoHosts, TwoHosts

SERVER = "server: {} connections, 0 failures"
CLIENT = "client: 1 connections, 0 failures"


def user_folder(case, name="user"):
    """A user's folder of the case's own: jobs with different ones have different keys."""
    folder = case.folder / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return {"MARGAY_USER_FOLDER": str(folder)}


def job(case, *words, ranks=2, environment=None, host=None):
    """The command of a job as a text of the shell. Without a host it uses the loopback address only."""
    own = {**user_folder(case), "MARGAY_IFACE": "lo"} if host is None else host.environment
    settings = {**own, **case.library_path, **(environment or {})}
    command = [*case.build.launcher(), "-n", ranks, "--timeout", case.timeout, *words]
    if host is not None:
        command = host.command(*command)
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


@contextlib.contextmanager
def two_hosts(case, name="hosts"):
    """Two hosts that share nothing but a network."""
    folder = case.folder / name
    folder.mkdir()
    try:
        with TwoHosts(folder) as hosts:
            yield hosts
    except NoHosts as reason:
        raise Skipped(f"no two hosts: {reason}") from reason


def name_file(case, address, port=9):
    """A file with the name of a port at an address."""
    file = case.folder / f"name.{address}"
    file.write_text(port_at("margay-port:2:0123456789abcdef:0:0123456789abcdef:-:0", address, port) + "\n", encoding="ascii")
    return file


def expect_refused(case, lines, reasons):
    """Each of the reasons is that of a refused client; the other lines."""
    refused = [line for line in lines if line.startswith("client: MPI_ERR_PORT")]
    for reason in reasons:
        case.expect(any(reason in line for line in refused), f"{reason}: {lines}")
    case.expect(len(refused) == len(reasons), f"{len(reasons)} clients have no connection: {lines}")
    return [line for line in lines if line not in refused]


def case_connect_hosts(case):
    """Jobs on two hosts, which share only the network: without --iface and with its forms; nobody at the port's address;
    and a job that uses the loopback address only."""
    program = case.ours("two_jobs.c")
    rows = (
        ((3, ()), (2, ("--nodes", "2")), ()),
        ((2, ("--iface", DEVICE)), (3, ("--iface", "10.77.0.0/24", "--nodes", "3")), ("alone",)),
        ((1, ("--iface", ADDRESSES[0])), (2, ("--wire-tcp", "uring")), ("threads",)),
    )
    with two_hosts(case) as hosts:
        for number, (server, client, options) in enumerate(rows):
            file = case.folder / f"port{number}"
            lines = together(case, job(case, *server[1], program, "server", file, "1", *options, ranks=server[0], host=hosts[0]),
                             job(case, *client[1], program, "client", file, *options, ranks=client[0], host=hosts[1]))
            case.expect(lines == [CLIENT, SERVER.format(1)], f"{server}, {client}: {lines}")
        # One caller after the other; only the last one can be connected.
        file = case.folder / "port"
        client = lambda *words, options=(): job(case, *options, program, "client", *words, host=hosts[1])
        calls = "; ".join((client(name_file(case, ADDRESSES[0]), "refused"), client(name_file(case, "127.0.0.1"), "refused"),
                           client(file, "refused", options=("--iface", "lo")), client(file)))
        lines = together(case, job(case, program, "server", file, "1", host=hosts[0]), f"( {calls} )")
        lines = expect_refused(case, lines, (f"{ADDRESSES[0]}:9: Connection refused", "start the job that uses it, with another --iface",
                                             "start the job that uses this one"))
        case.expect(lines == [CLIENT] * 4 + [SERVER.format(1)], f"{lines}")


def case_connect_cut(case):
    """A network that is cut is an error of the operations that wait, in both jobs; so is, for a call, a host that does not
    answer. All of it is reported in less than 20 s."""
    program, joined = case.ours("two_jobs.c"), case.ours("joined_jobs.c")
    file, flag = case.folder / "port", case.folder / "port.joined"
    with two_hosts(case) as hosts, two_hosts(case, "others") as others:
        jobs = [job(case, joined, number, "2", file, "cut", host=hosts[number]) for number in range(2)]
        cut = shlex.join(map(str, hosts[0].command("ip", "link", "delete", DEVICE)))
        others[1].ip("route", "add", "default", "via", ADDRESSES[0])
        calls = [job(case, program, "client", name_file(case, address), "refused", ranks=1, host=others[1]) for address in SILENT]
        lines = together(case, *jobs, f"( while [ ! -e {flag} ]; do sleep 0.05; done; {cut} )", *calls)
        case.in_time(25)
    lost = [line for line in lines if "lost:" in line]
    case.expect([line[:len("job 0: lost: MPIX_ERR_PROC_FAILED")] for line in lost] ==
                [f"job {number}: lost: MPIX_ERR_PROC_FAILED" for number in range(2)], f"{lines}")
    case.expect(all("no answer from host" in line for line in lost), f"{lost}")
    lines = expect_refused(case, [line for line in lines if line not in lost], ["no answer from host"] * len(SILENT))
    case.expect(lines == [CLIENT] * len(SILENT) + [f"job {number}: 0 failures" for number in range(2)], f"{lines}")


def case_connect_joined(case):
    """Jobs that are joined to one communicator, and divided into groups with members of each job, which meet by a port and by
    a third communicator; with MPI_Init, and in one session after the other."""
    program = case.ours("joined_jobs.c")
    rows = (("halves", ((2, ()), (2, ()))), ("halves", ((3, ("--nodes", "2")), (2, ()), (2, ("--wire-tcp", "uring")))),
            ("session", ((2, ()), (3, ()))))
    for number, (mode, jobs) in enumerate(rows):
        file = case.folder / f"port{number}"
        lines = together(case, *(job(case, *options, program, each, len(jobs), file, mode, ranks=ranks)
                                 for each, (ranks, options) in enumerate(jobs)))
        texts = ("{}: session 0, 0 failures", "{}: session 1, 0 failures") if mode == "session" else ("{}: 0 failures",)
        case.expect(lines == [f"job {text.format(each)}" for each in range(len(jobs)) for text in texts], f"{mode}: {lines}")


def case_connect_replayed(case):
    """The bytes of a true handshake are worth nothing in another connection, to the same process and from it, while the first
    connection lasts and later; the job serves others."""
    program = case.ours("two_jobs.c")
    files = {name: case.folder / name for name in ("port", "relayed", "impostor", "again")}
    answers, proofs = [], []

    def write(name, text):
        # The reader takes a file that exists for a complete one.
        (case.folder / "new").write_text(text + "\n", encoding="ascii")
        (case.folder / "new").rename(files[name])

    def relay():
        while not files["port"].exists():
            time.sleep(0.01)
        name = files["port"].read_text(encoding="ascii").strip()
        between = Relay(address_of(name))
        write("relayed", port_at(name, *between.address))
        between.run(lambda: answers.append(between.replay_call()))
        answers.append(between.replay_call())
        write("impostor", port_at(name, *between.address))
        proofs.append(between.replay_answer())
        write("again", name)

    thread = threading.Thread(target=relay)
    thread.start()
    calls = "; ".join(job(case, program, "client", files[name], *options, ranks=1)
                      for name, options in (("relayed", ()), ("impostor", ("refused",)), ("again", ())))
    lines = together(case, job(case, program, "server", files["port"], "2", ranks=1), f"( {calls} )")
    thread.join()
    lines = expect_refused(case, lines, ["cannot be reached"])
    case.expect(lines == [CLIENT] * 3 + [SERVER.format(2)], f"{lines}")
    # The server's hello, with a proof for a caller that has another nonce; no verdict, and no byte of a message.
    case.expect([len(answer) for answer in answers] == [ANSWER] * 2, f"the answers to replayed calls have {list(map(len, answers))} bytes")
    case.expect([len(proof) for proof in proofs] == [HELLO], f"the caller of an impostor sent {list(map(len, proofs))} bytes")
