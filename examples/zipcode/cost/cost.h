/* The instructions of a short message, by callgrind (context_cost.py). Rank 0 sends windows of messages to rank 1. The
 * ranks agree by a mapped file and not by messages, so each runs the library inside its measured functions only, and
 * never waits there: a window is received when all of it has been sent.
 *
 *   margay run -n 2 PROGRAM FILE [...]      FILE: a file of 4 KiB or more, of zeros */
#ifndef CONTEXT_COST_H
#define CONTEXT_COST_H

#include <stdint.h>
#include <stdio.h>

enum { kWindow = 64 };

#ifdef __cplusplus
extern "C" {
#endif

/* What a rank does for a window of messages. */
typedef void (*Step)(void);

/* Returns 0, or 1 with a message. `prepare` posts the receives of a window, if they are posted ahead; otherwise it is a
 * null pointer. */
int run_windows(int rank, const char* path, Step prepare, Step send, Step receive);

#ifdef __cplusplus
}
#endif

#endif
