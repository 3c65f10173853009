"""The cases of launch.py that are runs of a command with an expected end: a table."""
from launch_case import TWO_NODES, Row

BOTH = ("ours", "debians")
URING, EPOLL = "--nodes 2 --wire-tcp uring", "--nodes 2 --wire-tcp epoll"
WHO = "rank {rank} of {ranks} on margay, ring whole"
OTHER = "rank {rank} of {ranks} on another library, ring whole"
EXAMPLES = "../../../examples"
ACCOUNTED = "--check-accounting"


def accounted(*options):
    return tuple(f"{ACCOUNTED} {words}" for words in options)


JOBS = (
    Row("singleton", "A program run alone is rank 0 of 1.", "who.c x", compilers=BOTH, launchers=("alone",), each=WHO + " [x]"),
    *(Row("hydra", "Debian's Hydra starts our programs, and MPICH's on our library.", "who.c", compilers=BOTH, launchers=("hydra",),
          ranks=ranks, each=WHO) for ranks in (1, 2, 4)),
    Row("system_mpi", "`margay run --mpi system` starts a program with Debian's own MPICH library; without it, on ours.", "who.c",
        compilers=("debians",), options=("--mpi system",), each=OTHER),
    Row("system_mpi", "", "who.c", compilers=("debians",), options=("--stats --mpi system",), ranks=3, each=OTHER,
        stderr=("nothing to count",), absent=("heap",)),
    Row("system_mpi", "", "who.c", compilers=("debians",), each=WHO),
    *(Row("abort", "MPI_Abort's code is the exit status, from any rank, on any communicator, from two at once; it does not return.",
          f"ends.c abort {code} {rank}", compilers=BOTH, ranks=3, status=code, ids=("aborted",), absent=("returned",), seconds=5)
      for code, rank in ((1, 0), (7, 1), (42, 2))),
    *(Row("abort", "", f"ends.c {way} 6 1", ranks=3, status=6, ids=("aborted",), stderr=named, absent=("returned",))
      for way, named in (("self", ()), ("dup", ()), ("null", ("MPI_COMM_NULL",)), ("rubbish", ("0x00012345",)))),
    Row("abort", "", "ends.c both 9", status=9, ids=("aborted",)),
    Row("abort", "", "ends.c abort 5 1", options=(TWO_NODES,), status=5, ids=("aborted",)),
    *(Row("exit_status", "The exit status of a rank after MPI_Finalize is that of the job.", f"ends.c exit {code} {rank}",
          status=code, ids=())
      for code, rank in ((0, 0), (3, 0), (255, 1))),
    *(Row("finalize_fails", "A failed MPI_Finalize is reported with its error class; the exit status is not 0.",
          f"ends.c {way}", status=1, ids=("no-finalize",), stderr=("MPI_Finalize failed", "_ERR_"),
          absent=("exit code 0", "without MPI_Finalize")) for way in ("finalize_fails", "out_of_step")),
    *(Row("fatal_error", "A fatal error ends the job and names the call and the argument; so does a wrong call before MPI_Init or after MPI_Finalize.",
          f"ends.c {way}", compilers=BOTH, status="nonzero", ids=("aborted", "bad-argument"), stderr=("MPI_Send", "4711"),
          absent=("returned",), seconds=5) for way in ("fatal", "errors_abort")),
    *(Row("fatal_error", "", f"ends.c {way}", status=1, ids=2 * (found,), stderr=named, absent=("returned",)) for way, found, named in
      (("before", "bad-argument", ("MPI_Info_set", "MPI_INFO_NULL")), ("after", "mpi-error", ("MPI_Comm_size", "MPI_Finalize")),
       ("wrong_level", "bad-argument", ("MPI_Init_thread", " 99")))),
    *(Row("late_call", "A call after MPI_Finalize ends the process with the same error, whichever thread makes it.", f"ends.c {way}",
          ranks=1, status=1, ids=("mpi-error",), stderr=(" after MPI_Finalize",), absent=("returned",))
      for way in ("after", "late_thread")),
    Row("sessions", "A process with only sessions: the report of its end and its errors; its trace.", "session_ends.c",
        options=accounted(TWO_NODES), launchers=("run", "hydra")),
    Row("sessions", "", "session_ends.c", traced=True),
    Row("sessions", "", "session_ends.c status", options=(ACCOUNTED,), status=5, ids=()),  # the program's own status
    *(Row("sessions", "", f"session_ends.c {way}", status="nonzero", ids=("no-finalize",), stderr=("MPI_Session_finalize",))
      for way in ("left", "again", "types_open")),
    # Both ranks fail; the first to do so ends the job.
    *(Row("sessions", "", f"session_ends.c {way}", status="nonzero", ids=("aborted", "bad-argument"), may=("bad-argument",),
          stderr=(named,), absent=("returned",)) for way, named in (("world", "not initialized"), ("set", "mpi://NOBODY"))),
    Row("sessions", "", "session_ends.c late", status=1, ids=2 * ("mpi-error",), stderr=("MPI_Comm_free",), absent=("returned",)),
    *(Row("gives_back", "After MPI_Finalize, and after a session, the heap is empty, even if messages were never received, and a session can begin.",
          f"gives_back.c {way} {rest}", options=accounted("", TWO_NODES, "--heap 2000000"), launchers=launchers,
          each="heap given back, session again")
      for way in ("world", "session") for rest, launchers in (("", ("run", "hydra", "alone")), ("left", ("run",)))),
    Row("held", "A full heap does not block messages for which the program waits, whatever the state of the first heap.", "held.c", ranks=3,
        options=accounted(*(f"--heap 65536 {words}" for words in
                            # Spinning, the round after the one that opens the second heap leaves the slow wire out.
                            ("", EPOLL, URING, "--wait yield", f"--wait spin {EPOLL}", f"--wait spin {URING}"))), stdout=("all came",)),
    Row("cancel_behind", "Sends that wait behind a full wire are cancelled without their receiver (MPI 4.0, 3.8.4).", "cancel_behind.c",
        options=accounted(*(f"--heap 65536 {words}" for words in ("", "--protocol long=rendezvous", EPOLL, URING))),
        stdout=("all given back",)),
    Row("cancel_behind", "", "cancel_behind.c", options=("--heap 65536",), traced=True),
    *(Row("interrupted", "MPI_Abort and exit() in the handler of a signal that interrupted a call, at each thread level.",
          f"interrupted.c {way} {level} {call}", status=7, ids=(found,))
      for way, found in (("abort", "aborted"), ("exit", "no-finalize")) for level in range(4) for call in ("moves", "waits")),
    Row("interrupted", "", "interrupted.c abort 3 waits", env={"MARGAY_LEAKS": "1"}, status=7, ids=("aborted",)),
    Row("interrupted", "", "interrupted_report.c", env={"MARGAY_LEAKS": "1"}, launchers=("run", "hydra"), ranks=1, status=7, ids=("aborted",)),
    # Without a launcher there is no report that a process ends without MPI_Finalize.
    *(Row("exits", "exit() ends the process, whatever other threads do, and in a handler of a signal.", f"exits.c {way}",
          launchers=("alone",), times=30, status=3, ids=()) for way in ("threads", "signal")),
    # A session in each thread; some threads are between its beginning and its end.
    *(Row("exits", "", f"exits.c {way}", launchers=("alone",), times=10, env={"MARGAY_LEAKS": "1"}, status=3, ids=(), may=may)
      for way, may in (("threads", 3 * ("leaked-handle",)), ("signal", ()))),
    Row("exits", "", "exits.c allocating", launchers=("alone",), times=10, status=3, ids=()),
    Row("exits", "", "exits.c allocating", launchers=("hydra",), times=10, status="nonzero", ids=("no-finalize",), may=("no-finalize",)),
    # The handler may have interrupted malloc, so the list needs its second of waiting.
    Row("exits", "", "exits.c making", launchers=("alone",), times=10, env={"MARGAY_LEAKS": "1"}, status="nonzero", ids=(),
        may=2 * ("leaked-handle",)),
    # The wait for the stream's lock ends after a second; exit() does not need the lock. The launcher has its own
    # stream; if a rank prints, the writer's lock keeps its line.
    *(Row("exits", "", f"exits.c {way}", status=3, ids=(found,))
      for way, found in (("writer", "aborted"), ("reader", "aborted"), ("reader_later", "no-finalize"))),
    *(Row("exits", "", f"exits.c {way}", launchers=("alone",), status=3, ids=ids)
      for way, ids in (("writer", ()), ("reader", ("aborted",)), ("reader_later", ()))),
    *(Row("exits", "", f"exits.c {way}", launchers=("hydra",), status="nonzero", ids=ids, may=ids)
      for way, ids in (("writer", ()), ("reader", ("aborted",)), ("reader_later", ("no-finalize",)))),
    *(Row("at_exit", "MPI ended, or begun and ended, by a handler of exit() or a destructor ends the job in order.",
          f"at_exit.c {way} {place}", options=(ACCOUNTED,), launchers=("run", "hydra", "alone"), each="ended in order")
      for way in ("session", "later", "world", "begun") for place in ("handler", "destructor")),
)

HANDLED = "before 1, handlers 1 1, send 1, info 1, mpi_initial_errhandler mpi_errors_return"
FUNNY = {"MARGAY_INITIAL_ERRHANDLER": "funny"}
HANDLERS = (
    Row("initial_handler", "-initial-errhandler: errors are returned, before MPI_Init too, or end the job.", "initial_handler.c",
        options=("--initial-errhandler mpi_errors_return", "-initial-errhandler mpi_errors_return"), each=HANDLED),
    Row("initial_handler", "", "initial_handler.c", launchers=("hydra",), env={"MARGAY_INITIAL_ERRHANDLER": "mpi_errors_return"},
        each=HANDLED),
    Row("initial_handler", "", "initial_handler.c",
        options=("--initial-errhandler mpi_errors_are_fatal", "--initial-errhandler mpi_errors_abort"),
        status=1, ids=2 * ("bad-argument",), stderr=("MPI_Info_set",), stdout=()),
    Row("initial_handler", "", "initial_handler.c", options=("--initial-errhandler mpi_errors_are_funny",), status=2,
        ids=(),  # no job begins
        stderr=("mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return",)),
    Row("initial_handler", "", "who.c", launchers=("alone",), env=FUNNY, status=1, ids=("mpi-error",),
        stderr=("MARGAY_INITIAL_ERRHANDLER=funny",)),
)


def hybrid(first, second):
    return f"bcast=hybrid{first},reduce=hybrid{second},allreduce=hybrid{first},allgather=hybrid{second},reduce_scatter=hybrid{first}"


EQUAL = ("collectives_random: no errors",)
COLLECTIVES = (
    Row("collective_option", "--collective requests an algorithm: all have the same results; an unknown one is an error that lists them.",
        "../collectives_random.c 150", ranks=5, stdout=EQUAL, options=accounted(
            *(f"--collective allreduce={name},allgather={name} {nodes}" for name in ("tree", "exchange", "nodes", "direct", "bucket")
              for nodes in ("", TWO_NODES)),
            f"--collective allreduce=hybrid {TWO_NODES}", "--collective bcast=bucket,reduce_scatter=bucket,reduce=direct")),
    Row("collective_option", "", "../collectives_random.c 150", ranks=6, stdout=EQUAL, options=accounted(
        *(f"--collective {hybrid(first, second)} {nodes}" for nodes in ("", TWO_NODES)
          for first, second in (("", ""), (":2x3", ":3lx2s"), (":6s", ":2bx3b"), (":3sx2s", ":6"))))),
    *(Row("collective_option", "", "../collectives_random.c 150", options=(option,), status=status, ids=ids,
          stderr=("bcast=tree|nodes|bucket|hybrid",)) for option, status, ids in (
              ("--collective bcast=exchange", 2, ()),  # no job begins
              ("--env MARGAY_COLLECTIVE bcast=exchange", 1, 2 * ("mpi-error",)))),
    *(Row("collective_examples", "The examples of collectives on any number of ranks, compiled by us and by Debian: correct results.",
          f"{EXAMPLES}/{command}", compilers=compilers, ranks=ranks, options=accounted(options), last=last)
      for command, last in (("sample_sort.c --check", "in order, and none lost"),
                            ("conjugate_gradient.c --check", "the residual is as small as asked"),
                            ("matrix_multiply.c --check", "the same as the serial product"),
                            ("matrix_multiply.c --check --grid", "the same as the serial product"))
      for compilers, ranks, options in ((BOTH[:1], 1, ""), (BOTH[:1], 3, ""), (BOTH[1:], 4, ""), (BOTH[:1], 5, TWO_NODES))),
    *(Row("window_examples", "The examples of one-sided communication, on one node and on two, by us and (but the paper's own) by Debian.",
          f"{EXAMPLES}/{program}", compilers=compilers, ranks=ranks, options=accounted(options), last=last)
      for program, last, three in (("hash_table.c", "every key is there once, with its number", BOTH),
                                   ("work_queue.c", "every task was done once, and rightly", BOTH),
                                   ("figure_11.c", "all that was put and got is right", BOTH[:1]))
      for compilers, ranks, options in ((BOTH[:1], 1, ""), (three, 3, ""), (BOTH[:1], 4, TWO_NODES))),
)

WRONG_LINE, BAD_TRACE = 2, 1


def wrong(case, doc, line, *named, status=WRONG_LINE):
    """A command line that is an error before anything runs; the message names these words."""
    return Row(case, doc, line, launchers=("margay",), status=status, stderr=tuple(filter(None, named)), refused=True)


def wrong_values(command, *options, form='"{}"'):
    """Rows for an option of `numbers` with invalid values: "--to x 1.5". `form`: the form in which the message repeats
    the value."""
    return tuple(wrong("numbers", NUMBERS, command.replace("VALUE", f"{words.split()[0]} {value}"), words.split()[0], form.format(value))
                 for words in options for value in words.split()[1:])


UNKNOWN = "An unknown command or option is an error that names it and the most similar valid one."
NUMBERS = "The error for an invalid number names the option and repeats the number."
CHOICES = ("--from 0", "--to 0", "--tag 1", "--slowest", "--dropped", "--unexpected", "--never-received", "--collective", "--all",
           "--count 2")
LINES = (
    *(wrong("unknown_words", UNKNOWN, line, *named) for line, *named in (
        ("rnu", '"rnu"', "run?"), ("--foo", "--foo"), ("", "trace", "doctor"), ("--versoin", "--versoin", "--version?"),
        ("trace", "story", "messages", "check"), ("trace storey X", "margay trace:", '"storey"', "story?"), ("trace --cout 3", "--cout"),
        ("trace story X --cuont 3", "margay trace story:", "--cuont", "--count?"), ("trace story X 0:1:1 Z", '"Z"'),
        ("doctor now", "margay doctor:", '"now"'), ("info --protocol", "--protocol", "--protocols?"), ("top --onec", "--once?"),
        ("run --nodse 2 true", "--nodse", "--nodes?"), ("stacks --al", "--all?"), ("calibrate --wriet x", "--write?"),
        ("trace print", "margay trace print:", "folder"))),
    *(row for command in ("trace story X VALUE", "trace messages X VALUE", "trace export --format csv X VALUE") for row in wrong_values(
        command, "--from x -1 65536", "--to x 1.5", "--tag x -1 2147483648", "--count 0 -1 x 1e3")),
    *wrong_values("trace print X VALUE", "--rank x 65536", "--portal 64 x", "--since x inf", "--until -1 nan", "--head 0", "--last 0 x"),
    *wrong_values("trace diff X Y VALUE", "--count 0 x"),
    *wrong_values("info VALUE", "--ranks 0 x"), *wrong_values("info --collectives VALUE", "--nodes 0"),
    *wrong_values("machines paragon VALUE", "--ranks 0 x 65537"),
    *(wrong("unknown_words", "", f"machines {line}", *named) for line, *named in (
        ("paragn", '"paragn"', "did you mean paragon?", "asci-red"), ("/nonesuch/m.toml", "/nonesuch/m.toml"),
        ("v2200 -n 17", "16 nodes", "17 ranks"), ("--toml", "--toml"), ("paragon -n 2 --toml", "--toml", "--ranks"))),
    *wrong_values("stacks VALUE", "--rank 65536"), *wrong_values("top VALUE", "--interval 0", form=" {} "),
    *wrong_values("trace export X --format smpi-ti VALUE", "--flops 0", form=""),
    *wrong_values("run VALUE true", "-n 0", "-np x", "--nodes 0", "-ppn -1", "--timeout 0", "--stall x", "--trace-events 0",
                  "--trace-last 0"),
    *wrong_values("run VALUE true", "--heap 1", form=" {} bytes"), *wrong_values("run VALUE true", "--short-limit 0", form="={} "),
    *(wrong("numbers", "", f"trace story X {words}", "--count") for words in ("--count", "--count 1 --count 2")),
    *(wrong("options_alone", "", f"run -n 2 {option} {value} true", option, "--trace DIR")
      for option, value in (("--trace-walks", ""), ("--trace-events", "9"), ("--trace-last", "5s"))),
    *(wrong("options_alone", "", f"{line} {option}", option.split()[0], named, status=status)
      for option in CHOICES for line, named, status in (
        ("trace story X 0:1:1", "message", WRONG_LINE), ("trace export X --format pcapng -o x", "pcapng", BAD_TRACE),
        ("trace export X --format csv --table calls", "csv", BAD_TRACE))),
    *(wrong("options_alone", "", f"trace print X --around 0:1:1 {option} 1", "--around", option) for option in ("--since", "--until")),
    wrong("options_alone", "", "trace export X --format chrome --table events", "--table", "chrome", "csv", status=BAD_TRACE),
    wrong("options_alone", "", "trace export X --format csv --flops 1e9", "--flops", "smpi-ti", status=BAD_TRACE),
    *(wrong("options_alone", "", f"info {option} {value}", option, "--collectives")
      for option, value in (("--plot", "x"), ("--nodes", "2"), ("--rates", "usual"))),
    wrong("options_alone", "", "calibrate --print --installed", "--print", "--installed"),
    *(wrong("no_program", "", f"run -n 2 {words}", named, '"./ring"') for words, named in (
        ("--trace ./ring", "--trace"), ("-genv A ./ring", "-genv"), ("-l --stats --rates ./ring", "--rates"))),
    wrong("no_program", "", "run -n 2", "2"), wrong("no_program", "", "run --stats", "PROGRAM"),
    wrong("no_program", "", "run other.c", "not in PATH", status=127),
)

CHECKED = "--leaks --check-types"
LEAKS = 24 * ("leaked-handle",) + 2 * ("unreceived-message",)
CHECKS = (
    Row("leaks", "", "leaks.c clean", options=("--leaks",), silent=True),
    Row("leaks", "", "leaks.c late", options=("--leaks", "--strict"), silent=True),  # made before MPI, freed after it
    Row("leaks", "", "leaks.c", silent=True),
    Row("leaks", "", "session_ends.c", options=("--leaks",), silent=True),
    Row("check_types", "", "check_types.c bad", silent=True),
    *(Row("strict", "", command, options=("--strict",), silent=True) for command in ("leaks.c clean", "check_types.c good")),
    Row("strict", "", "check_types.c logical", silent=True),
    Row("strict", "", "leaks.c", options=(CHECKED,), ids=LEAKS),
    Row("strict", "", "leaks.c", env={"MARGAY_STRICT": "1"}, status=72, ids=LEAKS),
    Row("strict", "", "ends.c exit 7 1", options=("--strict",), status=7, ids=()),  # the program's own status
    Row("disagree", "", "disagree.c", options=("--strict --nodes 1", f"--strict {TWO_NODES}"), ranks=4, silent=True),
    Row("disagree", "", "disagree.c op", options=("--strict",), ranks=4, status=72, ids=("collective-mismatch",)),
    Row("disagree_blocks", "", "disagree_blocks.c fits", options=("--strict --nodes 1", f"--strict {TWO_NODES}"), ranks=4, silent=True),
    *(Row("no_conflicts", "--check-rma reports no accesses that are compatible, or that epochs, flushes, locks or messages separate.",
          f"conflicts.c good {kind}", options=("--check-rma", f"--check-rma {TWO_NODES}"), ranks=3, stdout=(), silent=True)
      for kind in ("allocated", "created")),
    Row("unreceived", "", "unreceived.c ready", ids=("dropped-ready-send",)),
    Row("unreceived", "", "unreceived.c", options=("--strict",), status=72, ids=3 * ("unreceived-message",)),
    Row("unreceived", "", "unreceived.c clean", options=(CHECKED,), silent=True),
    Row("unreceived", "", "unreceived.c", silent=True),
)

THREADS = "threads_as_ranks.c"
ALL_WHOLE = tuple(f"rank {rank} of 8: whole" for rank in range(8))
BOTH_RANKS = ([2, 3],)
THREAD_RANKS = (
    Row("thread_ranks", "--threads: each rank is a thread with an MPI of its own, on one node and on two.", f"{THREADS} whole",
        options=accounted(*(f"--threads 4 --strict {words}" for words in ("", TWO_NODES, "--wait yield", "--method long=ring"))),
        stdout=ALL_WHOLE, silent=True),
    Row("thread_ranks", "", f"{THREADS} whole", ranks=8, options=("--strict",), stdout=ALL_WHOLE, silent=True),
    Row("thread_ranks", "", f"{THREADS} whole", ranks=1, options=("--threads 8", "--threads 8 --nodes 1"), stdout=ALL_WHOLE, silent=True),
    *(Row("thread_ranks", "", f"{THREADS} whole", options=(f"--threads 4 {nodes}".strip(),), traced=True, stdout=ALL_WHOLE)
      for nodes in ("", TWO_NODES)),
    Row("thread_ranks", "", f"{THREADS} session", options=accounted("--threads 2 --strict", f"--threads 2 --strict {TWO_NODES}"),
        silent=True),
    Row("thread_ranks_end", "The end of a process is the end of all of its ranks: one line and one finding with all of them.",
        f"{THREADS} crash 2", options=("--threads 2", f"--threads 2 {TWO_NODES}"), status=139, ids=("rank-died",),
        of=BOTH_RANKS, stderr=("ranks 2-3 ", "SIGSEGV", " 2 ranks left")),
    Row("thread_ranks_end", "", f"{THREADS} killed 3", options=("--threads 2",), status=137, ids=("rank-died",),
        of=BOTH_RANKS, stderr=("ranks 2-3 ", "SIGKILL")),
    *(Row("thread_ranks_end", "", f"{THREADS} {way} 3 4", options=("--threads 2", f"--threads 2 {TWO_NODES}"), status=status,
          ids=("no-finalize",), of=BOTH_RANKS, stderr=(f"(exit code {code})",))
      for way, status, code in (("exit", 4, 4), ("leave", 4, 4), ("end", 1, 0))),
    Row("thread_ranks_end", "", f"{THREADS} abort 3 5", options=("--threads 2",), status=5, ids=("aborted",), of=([3],)),
    Row("thread_ranks_end", "", f"{THREADS} fatal 3", options=("--threads 2",), status="nonzero", ids=("aborted", "bad-argument"),
        of=([3], [3]), stderr=("MPI_Send", "4711")),
    Row("thread_ranks_end", "", f"{THREADS} status 3 6", options=("--threads 2",), status=6, ids=()),
    Row("thread_ranks_end", "", f"{THREADS} pthread_exit 3 6", options=("--threads 2",)),
    Row("thread_ranks_end", "", f"{THREADS} deadlock 3", options=("--threads 2 --deadlock abort",), status=73, ids=("deadlock",),
        stderr=("rank 2 in MPI_Recv", "rank 3 in MPI_Finalize")),
    Row("thread_ranks_end", "", f"{THREADS} ended 3", options=("--threads 2 --deadlock abort",), status=73, ids=("deadlock",),
        stderr=("rank 2 in MPI_Recv", "rank 3 has ended")),
    Row("thread_ranks_end", "", f"{THREADS} forked 3 5", options=("--threads 2 --strict",), silent=True),
    Row("thread_ranks_end", "", f"{THREADS} without 3 0", options=("--threads 2",), status=1, ids=("no-init",),
        stderr=("MPI_Init", "(exit code 0)")),
    Row("thread_ranks_end", "", f"{THREADS} leak 3", options=("--threads 2 --leaks",), ids=("leaked-handle",), of=([3],)),
    Row("thread_ranks_refused", "A program whose ranks would share its global variables is rejected, with the cure; so is an option that does not apply.",
        f"{THREADS} plain", options=("--threads 2",), status=1, ids=2 * ("mpi-error",), stderr=("MPI_Init", "without --threads"), absent=("MPI_Finalize",)),
    Row("thread_ranks_refused", "", f"{THREADS} plain"),
    Row("thread_ranks_refused", "", f"{THREADS} in_session", options=("--threads 2",), status=1, ids=2 * ("mpi-error",), stderr=("without --threads",)),
    Row("thread_ranks_refused", "", f"{THREADS} twice", ranks=1, options=("--threads 2",), status=1, ids=("mpi-error",),
        stderr=("before",)),
    Row("thread_ranks_refused", "", f"{THREADS} thread 3", options=("--threads 2",), status=1, ids=("mpi-error", "no-finalize"),
        stderr=("MPI_Comm_rank", "thread")),
    wrong("thread_ranks_refused", "", "run -n 2 --threads 257 true", "--threads", "256"),
    wrong("thread_ranks_refused", "", "run -n 2 --threads 2 --mpi system true", "--threads", "--mpi system"),
    wrong("thread_ranks_refused", "", "run -n 2 --threads 2 --nodes 3 true", "--nodes 3", "2 processes"),
)

TURN = {"MARGAY_RATES": "turn=1e-6"}
RATES = (
    *(Row("rates_of_a_run", "", "gathers.c", options=(f"--rates {rates}",), status=1, ids=2 * ("mpi-error",), stderr=(named,))
      for rates, named in (("fast", "usual, paragon"), ("turn=1e-6", "missing"), ("turn=none", "turn=none"))),
    Row("rates_of_a_run", "", "gathers.c", options=("--rates /nowhere/rates", f"--rates {1000 * 'x'}"), status=2,
        ids=(),  # no job begins
        stderr=("--rates",)),
    # One rank: if a rank ends while Hydra answers another one, Hydra fails, and its ranks' output may be lost.
    Row("rates_of_a_run", "", "gathers.c", launchers=("hydra", "alone"), ranks=1, env=TURN, status="nonzero", ids=("mpi-error",),
        stderr=("'inside'",)),
)

ROWS = RATES + CHECKS + THREAD_RANKS + JOBS + HANDLERS + COLLECTIVES + LINES
