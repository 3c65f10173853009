// Checks of standard output: if it is full or closed, that is an error, not a silent loss.
#pragma once

namespace margay::command {

// Opens descriptors 0, 1 and 2 if the caller closed them, because otherwise a file of the command could get one of
// these numbers, and the output would be written to this file. A write to a descriptor that was closed still fails,
// because /dev/null is opened for reading.
void take_standard_descriptors();

// Flushes standard output. Returns false if a write has failed; the error has then been printed on standard error, with
// `command` in front, and unwritten output is discarded.
[[nodiscard]] bool is_output_written(const char* command);

// Discards unwritten output whose failure has been reported, so that exit() does not try again.
void give_up_output();

}  // namespace margay::command
