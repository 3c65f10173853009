// A communication library of one portal: a counter on each rank, which every rank may add to. docs/libraries.md
// explains it line by line.
#pragma once

#include <cstdint>

namespace counter {

// Joins the job. Collective; before any other call. Ends the job with a message on failure.
void open();
// Leaves the job, after the last call of any rank: answers the others until all have called. Collective.
void close();

// This process's rank, and the number of ranks.
int rank();
int size();

// Adds to the counter of a rank, and returns the counter's earlier value. Waits for that rank's answer, which the rank
// gives in its own calls of this library: add(), serve() and close().
std::int64_t add(int rank, std::int64_t amount);
// Answers the requests that have arrived.
void serve();

}  // namespace counter
