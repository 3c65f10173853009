// The process's stdin, stdout and stderr as streams of the ranks: FILEs (fopencookie) that replace libc's before any
// constructor runs, so that printf, C++'s cout, and libc's own messages all reach the running rank's output. libc's
// streams would write to the descriptor by themselves when their buffer is full.
//
// Wide characters (wprintf, wcout) are not supported: libc does not support them on such streams.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <cstdio>

#include "virtual_machine/program/module.hpp"
#include "virtual_machine/program/output.hpp"

namespace margay::virtual_machine {

// Assigns stdin, stdout and stderr. Requires: libstdc++'s constructors have not run, because its cin and cout keep the
// streams that they find.
void replace_standard_streams();

// Whether this is one of the FILEs above.
[[nodiscard]] bool is_standard_stream(const FILE* file);
// The part of stdin that differs between ranks: its flags (end of file) and the unread part of its buffer. The
// buffer itself is not copied, because only rank 0 reads into it.
[[nodiscard]] MemoryRange input_state();

// Directs the streams to a rank: its output, and for rank 0 the process's input; others have an empty one. Null: to the
// process's descriptors.
void direct_standard_streams_to(RankOutput* rank);
// Passes the buffered text of stdout to the rank or the process.
void pass_on_standard_output();
// read() of standard input.
[[nodiscard]] ssize_t read_standard_input(void* buffer, std::size_t bytes);

}  // namespace margay::virtual_machine
