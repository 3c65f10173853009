/* An emulation of tagged message passing in the manner of the Livermore Message Passing System, on a mailer of class L.
 * The Zipcode paper says that one was made (4.4.1: "we have implemented a Zipcode-based emulation for the Livermore
 * Message Passing System (LMPS) [39]"), and that class L selects by source and by a long tag; it prints no call of
 * LMPS. All names and arguments here are margay's, made from that. docs/zipcode_nx.md has a section on it.
 *
 * Every call has a mailer, so that subroutines with equal tags work together (4.4.1: "tagged-message registry"). Its
 * members are numbered by rank. Buffers are the caller's, and calls return -1 after an error. */
#ifndef MARGAY_ZIPCODE_LMPS_H
#define MARGAY_ZIPCODE_LMPS_H

#include "margay/zipcode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Any tag, and any sender. */
#define LMPS_ANY (-1)

/* The caller's number and the number of processes. */
int lmps_me(ZIP_MAILER* mailer);
int lmps_processes(ZIP_MAILER* mailer);
/* Sends `bytes` bytes to process `to` with a tag of at least 0. The buffer may be reused at once. Returns 0. */
int lmps_send(ZIP_MAILER* mailer, const void* buffer, int bytes, int to, long tag);
/* Receives the earliest message with this tag from this process into a buffer of `most` bytes, and returns its length;
 * a longer message is an error, and is lost. `from` and `tag`, if not NULL, name the wanted sender and tag or LMPS_ANY,
 * and are set to those of the message. */
int lmps_recv(ZIP_MAILER* mailer, void* buffer, int most, int* from, long* tag);
/* The same without waiting: returns -2 if no message has arrived. */
int lmps_try_recv(ZIP_MAILER* mailer, void* buffer, int most, int* from, long* tag);
/* Broadcasts `bytes` bytes of process `origin`; all pass the same length. Waits for all. */
int lmps_broadcast(ZIP_MAILER* mailer, void* buffer, int bytes, int origin);
int lmps_sync(ZIP_MAILER* mailer);

#ifdef __cplusplus
}
#endif

#endif
