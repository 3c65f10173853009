/* The polling of a rank's wires, for C, C++ and Fortran's C bindings: poll intervals, selective polling, and counts of
 * polls. docs/polling.md is the guide.
 *
 * A wire is named by a string, such as "shm" (shared memory) or "tcp". `margay info` lists the wires. A call about a
 * wire that margay has, but this rank does not use (tcp in a job of one node), succeeds without effect. Each call
 * affects only the calling rank, and requires that MPI is initialized.
 *
 * Return values are those of MPI. An unknown wire, an invalid interval, and a wire on which no thread can block are
 * errors of class MPI_ERR_ARG, and call the error handler of MPI_COMM_SELF.
 *
 * Source: Foster, Geisler, Kesselman, Tuecke, Multimethod Communication for High-Performance Metacomputing (1996),
 * sections 3.3 (skip_poll, blocking thread), 4 (selective polling) and 6 (adaptive skip_poll). */
#ifndef MARGAY_POLLING_H
#define MARGAY_POLLING_H

#ifdef __cplusplus
extern "C" {
#endif

/* Special values of `interval`. Adaptive: derived from the measured cost of a poll, and from the numbers of messages by
 * this wire and by the others. Block: a thread blocks on the wire, and the rank polls the wire after the thread has
 * woken up. */
#define MPIX_MARGAY_POLL_ADAPTIVE (-1)
#define MPIX_MARGAY_POLL_BLOCK (-2)

/* Polls `wire` in every `interval`-th round of progress from now on (1: in each round), and switches its polling on. */
int MPIX_Margay_poll_interval(const char* wire, int interval);

/* Selective polling: switches the polling of `wire` off (`on` is 0), or on again at its earlier interval. While it is
 * off, arriving messages wait on the wire; none is lost. Sends are not affected: while a message of this rank waits,
 * the rank polls the wire nevertheless. MPI_Finalize switches all wires on. */
int MPIX_Margay_polling(const char* wire, int on);

/* The polls of `wire` since the rank joined its job: their number, how many found a message or a part of one, the time
 * of the others in nanoseconds (their number times the measured cost of one), and the present interval (0: the wire's
 * polling is off, or a thread blocks on it; also if this rank does not use the wire). Null pointers are skipped. */
int MPIX_Margay_poll_counts(const char* wire, unsigned long long* polls, unsigned long long* hits,
                            unsigned long long* wasted_ns, int* interval);

#ifdef __cplusplus
}
#endif

#endif
