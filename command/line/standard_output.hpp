// Standard output that is full or closed: an error, not a silent loss.
#pragma once

namespace margay::command {

// Opens descriptors 0, 1 and 2 if the caller closed them, so that no file of the command gets one of their numbers and
// the output with it. A write to a descriptor that was closed still fails, because /dev/null is opened for reading.
void take_standard_descriptors();

// Flushes standard output. False: a write has failed; the error has then been printed on standard error, with `command`
// in front.
[[nodiscard]] bool is_output_written(const char* command);

// Discards unwritten output whose failure has been reported, so that exit() does not try again.
void give_up_output();

}  // namespace margay::command
