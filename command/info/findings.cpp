#include "command/info/findings.hpp"

#include <vector>

#include "sim/boot/parse.hpp"

namespace margay::command {

namespace {

// In the order of the enumeration, which command_test checks.
constexpr std::array<FindingText, sim::kFindingCount> kTexts = {{
    {sim::Finding::rank_died, Severity::error, "A signal killed a rank",
     "A process of the job ended by a signal such as SIGSEGV or SIGKILL. The launcher ends the other ranks; the exit "
     "status is 128 + the signal's number.",
     "int* p = NULL;\n*p = 1;  /* SIGSEGV */",
     "Debug the rank that the line names; it names the call, too, if the rank died in one. `margay stacks` shows where "
     "each rank is, `margay run -n 2 "
     "valgrind ./a.out` finds wrong accesses to memory. After SIGKILL look for the system's out-of-memory report."},
    {sim::Finding::no_finalize, Severity::error, "A rank exited without MPI_Finalize",
     "A process exited after MPI_Init, or with an open session or library, and had not called MPI_Finalize "
     "(MPI_Session_finalize). "
     "Other ranks could wait for it forever, so the launcher ends the job.",
     "MPI_Init(&argc, &argv);\nif (rank == 1) exit(0);",
     "Call MPI_Finalize on every path that leaves the program, or MPI_Abort after an error."},
    {sim::Finding::no_init, Severity::error, "A rank ended without MPI_Init, which other ranks called",
     "MPI_Init is collective over all ranks of the job. The ranks that called it wait for one that has ended. If that "
     "one ended by a wrong MPI call, the call's own finding comes first. MPI_Comm_spawn waits for MPI_Init of the "
     "processes that it starts; a session, or a library beside MPI, does not replace it.",
     "if (argc < 2) return 1;  /* on some ranks only */\nMPI_Init(&argc, &argv);",
     "Call MPI_Init on every rank, before any decision that may end the program."},
    {sim::Finding::aborted, Severity::error,
     "A rank called MPI_Abort, or an MPI call failed with a fatal error handler",
     "The program ended the job by MPI_Abort, or an MPI call returned an error to MPI_ERRORS_ARE_FATAL (the default) "
     "or "
     "MPI_ERRORS_ABORT. The message names the call and the error. The error has a finding of its own, which comes "
     "first "
     "and whose id ends the line. The exit status is the code of MPI_Abort, or the number of the error's class (14: "
     "MPI_ERR_TRUNCATE).",
     "MPI_Send(&x, -1, MPI_INT, 1, 0, MPI_COMM_WORLD);  /* negative count */",
     "Correct the argument that the message names. To handle errors in the program, set MPI_ERRORS_RETURN and test "
     "what "
     "each call returns."},
    {sim::Finding::second_program, Severity::error, "A second MPI program started in a rank's place",
     "A rank's process started two MPI programs, one after the other or both at once. A place in a job belongs to one "
     "program.",
     "margay run -n 2 sh -c './a; ./b'",
     "Start one MPI program for each rank, and each program with its own `margay run`."},
    {sim::Finding::timeout, Severity::error, "The job ran longer than --timeout permits",
     "The time of --timeout (MPIEXEC_TIMEOUT) passed, so the launcher ended the job with exit status 124. The message "
     "shows the MPI call of each rank at that moment.",
     "margay run -n 2 --timeout 10 ./a.out", "Look for a rank that waits for another one, or permit more time."},
    {sim::Finding::deadlock, Severity::error, "All ranks wait for messages that no rank will send",
     "Every rank waits, no message is under way, and nothing but a message can end any of the waits: no rank can "
     "continue. The report shows the wait of each rank and, if there is one, the cycle. With --deadlock abort the job "
     "ends with exit status 73; otherwise `timeout` or `interrupted` may follow.",
     "MPI_Recv(&x, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  /* on both ranks */\n"
     "MPI_Send(&x, 1, MPI_INT, other, 0, MPI_COMM_WORLD);",
     "Let one rank of the cycle send first, use MPI_Sendrecv, or post MPI_Irecv before the send. If a message lies "
     "unexpected, compare its tag and communicator with those of the receive."},
    {sim::Finding::stalled, Severity::warning, "No rank makes progress, but a deadlock is not proven",
     "Every rank has waited for seconds and no message moves. It is no proven deadlock because a thread, a generalized "
     "request or a rank outside MPI may still end a wait. `timeout` or `interrupted` may follow.",
     "if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
     "/* rank 1 waits likewise, with MPI_THREAD_MULTIPLE */",
     "As for `deadlock`: look at the waits that the report lists. `margay stacks` shows each thread's stack."},
    {sim::Finding::interrupted, Severity::warning, "A signal to the launcher ended the job",
     "The launcher got SIGINT (Ctrl-C), SIGTERM, SIGHUP or SIGQUIT, and ended all ranks.", "kill -TERM LAUNCHER",
     "Nothing to correct, if the signal was intended. Batch systems send SIGTERM when a job's time is over."},
    {sim::Finding::output_closed, Severity::error, "The output of the job cannot be written",
     "Standard output, standard error or a file of -outfile-pattern takes no more data: its reader has gone, or the "
     "file "
     "system is full.",
     "margay run -n 2 ./a.out | head -1", "Let the reader read to the end, or free space on the file system."},
    {sim::Finding::launch_protocol, Severity::error, "A rank broke the launch protocol (PMI)",
     "The launcher got a line that is not PMI-1.1 from the connection of a rank.",
     "margay run -n 1 bash -c 'echo nonsense >&$PMI_FD'",
     "Do not write to the descriptor that PMI_FD names. If the program does not, its MPI library speaks another "
     "protocol: run it with that library's own mpiexec."},
    {sim::Finding::accounting_mismatch, Severity::error,
     "The number of messages sent differs from those delivered plus those dropped",
     "At the end of the job, sent = delivered + dropped does not hold for a pair of ranks, or two counters that a "
     "communication library declares equal (requests sent and executed, for example) have different sums over all "
     "ranks (--check-accounting, --strict). Exit status 70.",
     "margay run -n 2 --check-accounting ./a.out",
     "If a rank died, its counts are incomplete. In a job that ended well, a wrong number of messages is a defect of "
     "margay: report it. Different counters are a defect of their library."},
    {sim::Finding::other_mpi, Severity::error, "A rank loaded another MPI library than margay's",
     "A program that the ranks started, or that loads its MPI at run time, uses Open MPI or another library that is "
     "not "
     "of margay's ABI. Its ranks ran alone, each as a job of its own.",
     "mpicc.openmpi ring.c -o ring\nmargay run -n 2 sh -c ./ring",
     "Compile the program with margay's mpicc, or start it with its library's own mpiexec. Programs built for MPICH "
     "run "
     "unchanged."},
    {sim::Finding::unreceived_message, Severity::error, "A message was sent that no receive took",
     "A message lay in the receiver's heap when its communicator was freed, or in MPI_Finalize (--leaks, --strict). "
     "The "
     "report names source, tag, bytes and communicator.",
     "if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);\nMPI_Finalize();  /* rank 1 never receives */",
     "Post the missing receive, or remove the send. Often tag or communicator of the two differ."},
    {sim::Finding::dropped_ready_send, Severity::error, "A ready send found no posted receive and was dropped",
     "MPI_Rsend requires that the matching receive is posted before the send starts (MPI 4.0, 3.4). It was not, and "
     "the "
     "kernel discarded the message. A receive that is posted later waits for it, and `deadlock` may follow.",
     "MPI_Rsend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);  /* rank 1 has posted nothing */",
     "Post the receive first and let the receiver notify the sender, or send with MPI_Send."},
    {sim::Finding::leaked_handle, Severity::error, "An MPI object was never freed or completed",
     "A request, communicator, window, group, datatype, operation, attribute key, info object, error handler, session "
     "or "
     "matched message was still there at the end (--leaks, --strict). The report names the call that made it. The "
     "message "
     "of a send request that is left may be an `unreceived-message`, too.",
     "MPI_Comm copy;\nMPI_Comm_dup(MPI_COMM_WORLD, &copy);\nMPI_Finalize();",
     "Free the object (MPI_Comm_free, MPI_Type_free, ...) or complete the request (MPI_Wait) before MPI_Finalize."},
    {sim::Finding::rma_conflict, Severity::error, "Two one-sided accesses conflict",
     "Two accesses to the same bytes of a window, at least one of which writes, overlap before the first is complete "
     "(--check-rma, --strict; MPI 4.0, 12.7). The result is undefined. If the error handler is fatal, `aborted` "
     "follows.",
     "MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, window);\nMPI_Put(&y, 1, MPI_INT, 1, 0, 1, MPI_INT, window);",
     "Complete the first access (MPI_Win_flush, MPI_Win_fence, MPI_Win_unlock) before the second, use MPI_Accumulate, "
     "or "
     "access different bytes."},
    {sim::Finding::type_mismatch, Severity::error, "A receive's datatype or size does not fit the message",
     "The basic types that a receive expects are not those that its message was sent with, or the message is longer "
     "than the buffer (--check-types, --strict; MPI 4.0, 3.3.1). In the latter case `truncation` follows if the error "
     "handler is fatal.",
     "MPI_Send(&x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);  /* rank 0 */\n"
     "MPI_Recv(&y, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  /* rank 1 */",
     "Use the same basic types, in the same order, on both sides. MPI_BYTE fits MPI_BYTE alone, MPI_PACKED fits all."},
    {sim::Finding::nonportable_type, Severity::warning, "A datatype is used in a way that MPI does not define",
     "The call works with margay, but the standard does not define it for this datatype, for example a logical "
     "operation on MPI_FLOAT (--check-types, --strict; MPI 4.0, 6.9.2).",
     "MPI_Reduce(&x, &all, 1, MPI_FLOAT, MPI_LAND, 0, MPI_COMM_WORLD);",
     "Use a type that the named section lists for the operation, such as MPI_INT for MPI_LAND."},
    {sim::Finding::collective_mismatch, Severity::error, "The ranks of a communicator made different collective calls",
     "Members of a communicator called different collective functions, or the same one with another root, operation, "
     "type or amount of data (--check-types, --strict; MPI 4.0, 6.1). Such a call may end with MPI_ERR_TRUNCATE, or "
     "wait: "
     "`truncation` of one or more ranks, or `deadlock` may follow, and without the check is all that is reported.",
     "if (rank == 0) MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);\nelse MPI_Barrier(MPI_COMM_WORLD);",
     "Let all members call the same functions in the same order, with the same root and operation."},
    {sim::Finding::bad_argument, Severity::error, "An MPI call got an invalid argument",
     "A handle, count, rank, tag, pointer or other argument of an MPI call is not valid, and the error handler is "
     "MPI_ERRORS_ARE_FATAL or MPI_ERRORS_ABORT. The message names call, place, argument and value. `aborted` follows, "
     "except before MPI_Init and after MPI_Finalize, where the process exits with status 1.",
     "MPI_Send(&x, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);  /* of 2 ranks */",
     "Correct the argument. To handle errors in the program, set MPI_ERRORS_RETURN and test what each call returns."},
    {sim::Finding::truncation, Severity::error, "A message is longer than the buffer of its receive",
     "The receive took a message with more bytes than its count and datatype allow (MPI_ERR_TRUNCATE; MPI 4.0, 3.2.4), "
     "and the error handler is fatal. In a collective call: the ranks named different amounts of data. `aborted` "
     "follows; with --check-types, `type-mismatch` or `collective-mismatch` comes first.",
     "MPI_Send(a, 100, MPI_INT, 1, 0, MPI_COMM_WORLD);  /* rank 0 */\n"
     "MPI_Recv(b, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  /* rank 1 */",
     "Enlarge the buffer, or ask for the size first (MPI_Probe, MPI_Get_count). Often two messages with one tag are "
     "received in the wrong order."},
    {sim::Finding::out_of_memory, Severity::error, "An MPI call could not allocate memory",
     "The system refused memory for a window, a buffer or an object (MPI_ERR_NO_MEM), and the error handler is fatal. "
     "`aborted` follows.",
     "MPI_Alloc_mem((MPI_Aint)1 << 50, MPI_INFO_NULL, &p);",
     "Ask for less memory, or start fewer ranks on this node. `margay info` shows the limits of shared memory."},
    {sim::Finding::peer_failed, Severity::error, "A call needed a rank that has failed or left",
     "The connection to the other rank was lost, or its session ended, before the message that this call waits for "
     "(MPIX_ERR_PROC_FAILED), and the error handler is fatal. `aborted` follows. For a rank that a signal killed, the "
     "launcher ends the job first: `rank-died`.",
     "MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  /* the network to rank 1 fails */",
     "Look at the end of the other rank and at the network between the nodes first."},
    {sim::Finding::mpi_error, Severity::error, "An MPI call failed",
     "An MPI call ended with an error class that has no finding of its own, or with a class that the program gave (its "
     "callback returned it, or it called MPI_Comm_call_errhandler), and the error handler is fatal; `aborted` follows. "
     "Or MPI_Init failed, or the call was made before it or after MPI_Finalize; then the process exits with status 1.",
     "MPI_Win_complete(window);  /* without MPI_Win_start */",
     "Read the message: it names the call, its place and the error class (MPI 4.0, 9.4)."},
    {sim::Finding::unimplemented_function, Severity::error,
     "The program called a function that margay does not implement",
     "The library has some functions by name only, for example those of files: a program that contains them links, "
     "but a call of one fails with MPI_ERR_UNSUPPORTED_OPERATION. A function on files returns this error unless "
     "the program sets a fatal handler for files, and is a finding all the same. With a fatal error handler "
     "`aborted` follows.",
     "MPI_File_open(MPI_COMM_WORLD, \"name\", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);",
     "Use the functions that docs/mpi_coverage.md lists as implemented; `margay check PROGRAM` names the others "
     "before a run. `margay run --mpi system` runs the program with the system's MPI."},
    {sim::Finding::wildcard_race, Severity::warning, "The result depends on the message that MPI_ANY_SOURCE takes",
     "`margay simulate --explore` has found two schedules with different results, in which a receive or a probe from "
     "MPI_ANY_SOURCE takes the messages of different ranks. The report compares the results and the stories of the two "
     "messages, and has the commands that repeat both schedules.",
     "MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);\n"
     "MPI_Recv(&y, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status);  /* waits forever if x is rank 1's */",
     "Receive from the rank that is meant, or give the messages different tags. If any order is right, such as in a "
     "farm of workers, let the output not depend on it."},
    {sim::Finding::schedule_dependent, Severity::warning, "The result depends on the times of messages",
     "`margay simulate --explore` has found two schedules with different results in which all wildcards take the "
     "messages of the same ranks. The reason is the order in which messages arrive, or in which ranks continue: "
     "MPI_Waitany, MPI_Test, MPI_Iprobe, a ready send, one-sided accesses, or the time of MPI_Wtime.",
     "MPI_Waitany(2, requests, &first, &status);\nprintf(\"%d was first\\n\", first);",
     "Repeat both schedules with the commands of the report. Synchronize the ranks where the order matters, and print "
     "no times."},
    {sim::Finding::forward_refused, Severity::error, "A rank refused a message that was to be forwarded",
     "With --forward node, a rank takes a forwarded message only from the process before it on the message's path: a "
     "rank of its node for itself, or the first rank of the sender's node. The message is dropped; the line names the "
     "rank that put it, and the ranks of the message.",
     "margay: forwarding: rank 4 refused a message that rank 2 sent for rank 0 to rank 1: only rank 0 may send it\n"
     "here [forward-refused]",
     "A process of the job does not run this margay, or its memory is damaged. Check that all nodes have the same "
     "version."},
}};

std::string_view severity_text(Severity severity) {
  return severity == Severity::error ? "error" : "warning";
}

std::string indented(std::string_view lines) {
  std::string text = "    ";
  for (const char c : lines) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text + "\n";
}

// Breaks a paragraph at spaces into lines of at most kLineWidth characters, where its words permit.
std::string wrapped(const std::string& paragraph) {
  constexpr std::size_t kLineWidth = 110;
  std::string text = paragraph;
  std::size_t begin = 0;
  while (text.size() - begin > kLineWidth) {
    const std::size_t space = text.rfind(' ', begin + kLineWidth);
    if (space == std::string::npos || space <= begin) break;
    text[space] = '\n';
    begin = space + 1;
  }
  return text;
}

std::string list_of_ids() {
  std::string text;
  for (const FindingText& one : kTexts) {
    const std::string id(sim::finding_id(one.finding));
    text += id + std::string(22 - id.size(), ' ') + std::string(one.title) + "\n";
  }
  return text;
}

}  // namespace

const std::array<FindingText, sim::kFindingCount>& finding_texts() {
  return kTexts;
}

// Collects all ids, for the nearest spelling of an unknown one.
bool explain_finding(std::string_view id, std::string& out) {
  if (id.empty()) {
    out = list_of_ids();
    return true;
  }
  std::vector<std::string_view> ids;
  for (const FindingText& one : kTexts) {
    ids.push_back(sim::finding_id(one.finding));
    if (ids.back() != id) continue;
    out = std::string(id) + " (" + std::string(severity_text(one.severity)) + "): " + std::string(one.title) + "\n\n" +
          wrapped(std::string(one.meaning)) + "\n\nExample:\n\n" + indented(one.example) + "\n" +
          wrapped("Cure: " + std::string(one.cure)) + "\n";
    return true;
  }
  const std::string_view near = sim::nearest_spelling(id, ids);
  out = "unknown finding " + std::string(id) + (near.empty() ? "" : "; did you mean " + std::string(near) + "?") +
        " (`margay explain` lists all)";
  return false;
}

std::string findings_document() {
  std::string text =
      "# Findings\n\n"
      "What margay reports about a program, each kind under a stable id. A line on standard error that reports a "
      "finding\n"
      "ends with its id in brackets. Each finding has at most one such line: `aborted` behind an error's own finding "
      "has\n"
      "none, nor has an error of another rank while the job ends. One mistake may give several findings; the sections "
      "name\n"
      "those that may follow. An error of MPI_Waitall and similar calls (MPI_ERR_IN_STATUS) has the finding of the "
      "first\n"
      "failed request. A traced rank records an event `finding` for each that it reports, except for errors before\n"
      "MPI_Init, after MPI_Finalize, or in a thread that may not call MPI. Findings of the launcher, such as "
      "`deadlock`\n"
      "and `timeout`, are in no trace. `margay explain ID` prints a section of this page; `margay run --report FILE`\n"
      "writes the findings of a run as JSON (see the end).\n"
      "If several threads of a rank fail at once, the error of the first one is the finding.\n"
      "This page is made from command/info/findings.cpp: `WRITE_DOCUMENTS=1 command_test -tc=\"docs/findings.md*\"`.\n";
  for (const FindingText& one : kTexts) {
    const std::string title = std::string(one.title) + " (" + std::string(severity_text(one.severity)) + "). ";
    text += "\n## " + std::string(sim::finding_id(one.finding)) + "\n\n" + wrapped(title + std::string(one.meaning)) +
            "\n\n" + indented(one.example) + "\n" + wrapped("**Cure.** " + std::string(one.cure)) + "\n";
  }
  return text +
         "\n## The report of a run\n\n"
         "`margay run --report FILE` writes one JSON object when the job has ended, however it ended: `version`\n"
         "(1), `job`, `command`, `ranks`, `exit_status`, `elapsed_s`, `findings` and `unlisted_findings`. A finding\n"
         "has `id`, `ranks`, `message` and `time_s` (since the start) and, where known, `call`, `site`, `peer`,\n"
         "`tag`, `communicator`, `bytes` and, of a deadlock or stall, `waits`: one object for each rank that waits,\n"
         "with `rank`, `call`, `site`, `peer`, `tag`, `communicator`, in `more` the number of further sends and\n"
         "receives that the call waits for, and in `held` the messages to the rank that a full heap holds on their\n"
         "wires. Of a truncation `peer`, `tag` and `bytes` are those of the message, of a\n"
         "bad-argument `peer` and `tag` those that the program passed to a send, a receive or a probe; of\n"
         "`MPI_Sendrecv` and its variants those of the send, if it is invalid, or else those of the receive.\n"
         "Of a collective-mismatch `ranks` are the two that differ; `call`, `site` and `communicator` are those of\n"
         "the first of them. `unlisted_findings` counts findings beyond the number of lines that a check prints.\n"
         "\n"
         "The file is created, and an old one replaced, before the ranks start. If the job does not start, for\n"
         "example because a program is not found, the object has `error` (the launcher's message), `version`,\n"
         "`command`, `ranks`, `exit_status` and no findings. Until the job has ended, and if the launcher is killed,\n"
         "it has `error` without `exit_status`; a pipe gets nothing. After an invalid option the file is unchanged.\n"
         "\n"
         "Findings of a process that a rank started are those of the rank, even if the process does not have the\n"
         "rank's descriptors (Python's subprocess closes them). Only on standard error, not in the report, are\n"
         "findings of a process that lacks the variables MARGAY_RANK and MARGAY_FINDINGS_PATH, belongs to another\n"
         "user, or is in another PID namespace.\n";
}

}  // namespace margay::command
