#include "command/run/options/run_options.hpp"

namespace margay::command {

// One literal, so that the text appears here as on the terminal.
std::string run_help() {
  return R"(margay run [options] PROGRAM [arguments] [: [options] PROGRAM [arguments]]...

Starts an MPI job on this host. mpiexec and mpirun are the same command. Options take one dash or two.

  -n, -np N               ranks of this program (default 1); -n2 is -n 2
  --threads T             T ranks in each process, as its threads: of programs of a library with an entry function; -n and
                          -ppn then count processes
  --nodes K  -ppn P       K emulated nodes: shared memory inside a node, TCP between; ranks in blocks, or P to a node
  --places N              places for ranks, and for programs that MPI_Comm_spawn starts (default: a few times the ranks)
  -l, --prepend-rank      label each line of output with its rank
  -s RANKS                ranks that get the standard input: all, none, or 0,2-4 (default 0)
  -prepend-pattern P      begin each line with P: %r is the rank, %h the host, %t seconds since 1970, %% a %
  --timeout S             end the job after S seconds, exit status 124 (also MPIEXEC_TIMEOUT)
  -genv NAME VALUE        a variable for all programs; -env NAME VALUE for this one
  -genvlist A,B           let ranks inherit only these variables; -genvnone: none
  -wdir DIR               working folder of this program
  -configfile FILE        a part of the command line on each line of FILE
  -hosts A,B  -f FILE     must name this host
  -outfile-pattern P      standard output to files, %r is the rank, %h the host, %% a %; -errfile-pattern: standard error
  -bind-to core|none      bind ranks to processors round robin (default none)
  --mpi margay|system     system: leave LD_LIBRARY_PATH alone, so that a program keeps its own MPICH library
  --mpi racy              a library for teaching, which loses messages: it does not post receives atomically (lab 11)
  --over portals|nexus    nexus: MPI's point-to-point messages are requests on links of Nexus (docs/nexus.md)
  --print-all-exitcodes   exit code of each rank, at the end
  --stats                 messages by protocol and wire, one-sided accesses by way, match entries visited, drops, at the end
  --report FILE           write all findings to FILE as JSON when the job has ended (margay explain lists their ids)
  --check-accounting      sent = delivered + dropped for each pair of ranks, else exit status 70
  --leaks                 list at the end what each rank never freed: requests, communicators, datatypes, sessions, ...
  --check-types           report sends and receives whose types or sizes do not fit each other, collective calls that
                          differ, and operations on types that the standard does not define
  --check-rma             report one-sided accesses that conflict with incomplete ones as errors that name both calls
  --strict                all these checks; if they find anything, exit status 72 (MARGAY_STRICT=1)
  -initial-errhandler H   of MPI_COMM_WORLD: mpi_errors_are_fatal (default), mpi_errors_abort, mpi_errors_return
  --protocol NAME=VALUE   protocol variants and thresholds, e.g. long=rendezvous
  --method NAME=VALUE     method of a kind of message, e.g. long=cma
  --collective NAME=VALUE an algorithm of a collective operation, e.g. allreduce=bucket
  --rma NAME=VALUE        strided=paper: a put or get sends a message for each block, as in the paper; combined (default)
  --rates R               rates by which collectives choose algorithms, in place of those of `margay calibrate`: usual,
                          paragon, a FILE of calibrate's (with a "/"), or a text (`margay info --collectives` shows one)
  --deadlock abort|report   when it is proven that no rank can proceed, report the waits: then end the job, exit status
                          73, or continue (default)
  --trace DIR             record every message's steps there (margay trace view DIR, story, messages, print, check); --trace-walks:
                          every match entry that was passed over, not the first 16; --trace-events N: the last N of each rank (65,536);
                          --trace-last TIME: of these, the end of the run (5s, 20ms, 1min)
  --stall TIME            when a wait without progress is reported (30)
  --wait spin|yield|auto  what a waiting rank does with its processor;  --heap BYTES: for unexpected messages
  --way WIRES             wires by which ranks reach each other, the usual one first, e.g. shm,tcp; a library's send names
                          one (docs/ways.md). Without it: shared memory inside a node, tcp between nodes
  --forward node          only the first rank of each node uses tcp, and forwards for the others (docs/ways.md)
  --skip-poll WIRE=N      poll a wire in every N-th round of progress, or adaptive (default beside a faster wire), block, off:
                          tcp=20,shm=1 (docs/polling.md)
  --wire-tcp uring|epoll|auto   how sockets are driven;  --iface NAME: the interface whose address ranks connect to
  -v  also print notes, such as options without effect;  --version;  --help

Reports, stacks and traces name a call by its source line, MPI_Recv (ring.c:41), if the program was built with -g.

While a job runs, `margay top` shows its ranks, and `margay stacks` their stacks. SIGUSR1 to the launcher (kill -USR1) prints on standard
error the call of each rank and, after a wait of a second, the rank for which it waits; a rank with a handler for SIGUSR1 gets it, too.
When all ranks wait and no message moves, the launcher reports the wait of each, and the cycle (docs/live.md).

SIGINT, SIGTERM, SIGHUP and SIGQUIT to the launcher go to the ranks and end the job within 2 s; most other signals are forwarded, and
the job continues (docs/launcher.md).

Exit status: 0; the first failing rank's exit code, or 128 + its signal; MPI_Abort's code; after a fatal MPI error the number of its
error class (14: MPI_ERR_TRUNCATE); 124 after --timeout; 126 or 127 if a program cannot be run or found; 70 if the accounting does not
hold; 72 if --strict found mistakes; 73 after --deadlock abort; 71 if the job cannot be started; 2 for a wrong command line.
An exit status has 8 bits: a failing code whose low 8 bits are 0 (MPI_Abort with 0, 256 or -256) ends with 1.
)";
}

}  // namespace margay::command
