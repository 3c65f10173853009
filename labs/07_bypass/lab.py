"""Application bypass: who moves the data while the target computes."""

from frame.blanks import Truth
from frame.run import TIMED_OUT
from frame.say import open_request

TITLE = "Application bypass: a target that computes (sections 1.2 and 4)"
MINUTES = 25
IN_ORDER = True  # predictions and blanks can be judged while later blanks are empty
RANKS, OPTIONS = 2, ("--leaks",)
SECONDS = 10  # a rank that spins on a flag is in no call, so margay cannot prove a deadlock
SEND_SHORT, SEND_LONG, SEND_UNPOSTED, PUT_ALLOCATED, PUT_CREATED, PUT_1996 = range(1, 7)
PART_1 = {"MPI_Irecv", "MPI_Wait"}  # the calls that rank 1 makes there
MOVERS = ("origin", "coprocessor", "program")
WORD_TAG, OVERLAP_TAG, PUTS = 100, 50, 6
WORDS = {SEND_SHORT: "MPI_Issend of {short} bytes, its receive is posted",
         SEND_LONG: "MPI_Issend of {long} bytes (long), its receive is posted",
         SEND_UNPOSTED: "MPI_Isend of {long} bytes (long), its receive is posted after the computation",
         PUT_ALLOCATED: "MPI_Put of {put} bytes into memory of MPI_Win_allocate",
         PUT_CREATED: "MPI_Put of {put} bytes into memory of malloc, by MPI_Win_create",
         PUT_1996: "MPI_RMA_put of {put} bytes (lab 6: always a message)"}


def variant(random):
    steps = list(WORDS)
    random.shuffle(steps)
    short, long, put = random.randrange(100, 10000), random.randrange(100000, 400000), random.randrange(100, 5000)
    rows = [f"    {number}   {WORDS[action].format(short=short, long=long, put=put)}" for number, action in enumerate(steps, 1)]
    return {"steps": steps, "count": len(steps), "short_bytes": short, "long_bytes": long, "put_bytes": put,
            "page_table": "\n".join(rows)}


def call_at(trace, event):
    """The name of the MPI call that the event's rank was in; None if it computed."""
    for enter, leave in trace.calls(rank=event.rank):
        if enter.time <= event.time and (leave is None or event.time <= leave.time):
            return enter.call
    return None


def mover(trace, event):
    """Who ran the kernel at a deposit or a pull at rank 1."""
    return "program" if call_at(trace, event) else "coprocessor"


def moving(message):
    """The event that moves a message's bytes: the pull that requests them, or else their deposit. (Which thread deposits a pulled
    body is chance: the coprocessor may continue it between two calls.)"""
    return message.first("pull_begin") or message.first("kernel_deposit")


def windows(trace):
    """Rank 0's puts into windows, in order."""
    return [event for event in trace.of("window_access", rank=0) if event.access == "put"]


def movers(work, trace):
    """The mover of each step's bytes, and the number of steps without a message."""
    accesses, result, without = iter(windows(trace)), [], 0
    rma_puts = [m for m in trace.puts(source=0, destination=1, portal=PUTS) if m.bytes]
    for number, action in enumerate(work.variant["steps"], 1):
        if action in (PUT_ALLOCATED, PUT_CREATED, PUT_1996):
            access = next(accesses)
            if access.way != "message":
                without += 1
                result.append("origin")
                continue
            message = next(m for m in rma_puts if m.sent.time > access.time)
        else:
            message = trace.puts(source=0, portal=0, tag=number)[0]
        result.append(mover(trace, moving(message)))
    return result, without


def calls_while_computing(trace, work):
    """Number of MPI calls of rank 1 that began between the posting of a step's receive and the completion that ended its computation."""
    count = 0
    for number in range(1, work.variant["count"] + 1):
        posted = [e for e in trace.of("search_miss", rank=1) if e.tag in (number, WORD_TAG + number)]
        done = [e for e in trace.of("receive_complete", rank=1) if e.tag in (number, WORD_TAG + number)
                and call_at(trace, e) is None]
        if posted and done:
            count += sum(1 for enter, _ in trace.calls(rank=1) if posted[0].time < enter.time < done[-1].time)
    return count


def stuck(done):
    """A sentence about a run that was stopped, with margay's report of where each rank was."""
    where = next((line.split("): ", 1)[-1] for line in done.err.splitlines() if "time is up" in line), "").split(";")[0]
    receives = "rank 1 in MPI_Recv" in where or "rank 1 in MPI_Probe" in where
    hint = "BLANK 1: rank 1 waits for a message that rank 0 sends only while rank 1 computes" if receives else \
           "which rank waits for which? Rank 0 sends while rank 1 computes, and rank 1 computes until rank 0 has sent"
    return f"the program was stopped after {SECONDS} seconds: {where}. {hint}"


def check_completed(done, received):
    """A sentence if no call waited for the request of BLANK 1. `received`: the message's receive_complete."""
    calls = [enter.call for enter, _ in done.trace.calls(rank=1) if enter.time > received.time]
    calls = calls[:calls.index("MPI_RMA_free")] if "MPI_RMA_free" in calls else calls
    waits = sum(call in ("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome") for call in calls)  # one of them is the word's
    never = "BLANK 2: the request of BLANK 1 was never completed"
    if "MPI_Request_free" in calls:
        return f"{never}: MPI_Request_free releases the handle, and nothing reports when the bytes are there"
    if waits < 2 and {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome"} & set(calls):
        return "BLANK 2: use a call that waits, such as MPI_Wait: MPI_Test only tests, and may return false; in a loop it takes the processor " \
               "from the thread that moves the bytes"
    return None if waits >= 2 else f"{never}: after the computation only the word is waited for"


def check_part_1(work, trace):
    """Whether rank 1 makes only the calls of the handed-out part 1."""
    begin = next(leave.time for _, leave in trace.calls("MPI_Barrier", rank=1))
    words = trace.of("search_miss", "post_receive", rank=1)
    end = next(event.time for event in words if event.tag == WORD_TAG + work.variant["count"] + 1)
    others = sorted({enter.call for enter, _ in trace.calls(rank=1) if begin < enter.time < end} - PART_1)
    work.findings.unless(not others, f"part 1 was changed: rank 1 calls {', '.join(others)} there, unlike the program that was handed out; change "
                         "only the blanks")


def check_part_2(work, done):
    found, trace = work.findings, done.trace
    late = trace.puts(source=0, portal=0, tag=OVERLAP_TAG)
    if not found.unless(late and late[0].has("receive_complete"), "part 2: rank 1 did not receive the long message"):
        return
    match = late[0].first("kernel_match")
    see = f"see `margay trace story trace --tag {OVERLAP_TAG}`"
    if found.unless(trace.owner(match) == "a posted receive", f"BLANK 1: message {late[0].name} was unexpected when it arrived, so its "
                    f"body was pulled after the computation, when rank 1 called MPI again; {see}"):
        found.unless(call_at(trace, match) is None, f"part 2: message {late[0].name} arrived while rank 1 was in {call_at(trace, match)}, "
                     f"not while it computed; {see}")
    if not found:
        for rank, call in done.never_completed(OVERLAP_TAG)[:1]:
            found.say(open_request(2, rank, call))
    if not found:
        forgotten = check_completed(done, late[0].first("receive_complete"))
        found.unless(forgotten is None, forgotten)


def check(work):
    found = work.findings
    done = work.run(seconds=SECONDS)
    if found.unless(done.status != TIMED_OUT, stuck(done)) and found.unless(done.status == 0, done.trouble):
        work.judged((check_part_2, work, done))
    work.judged((check_part_1, work, done.trace), (predictions, work, done.trace))
    return found


def predictions(work, trace):
    moved, without = movers(work, trace)
    look = "Look at `margay trace print trace --rank 1 --all`: is the line `all is there` (of a body that is pulled, " \
           "the line of the pull) between a call and its return, or outside of all calls? " \
           "Puts into windows: `margay trace print trace --kind window_access`."
    work.predicted({
        "moved_by": Truth(moved, look, "the kernel deposits a message that finds its entry, and the thread that runs it is the mover; a message "
                          "without a receive waits for the program; into memory that it can access rank 0 writes itself", MOVERS, counted=True),
        "calls_while_computing": Truth(calls_while_computing(trace, work), "See `margay trace print trace --rank 1 --kind "
                                       "mpi_enter,kernel_deposit`.", "none: the data moves without a call of the target"),
        "without_message": Truth(without, "See `margay trace print trace --kind window_access`: the way is direct, process or message.",
                                 "direct: both ranks see the memory; process: the operating system copies from process to process"),
    })
