// What a command prints, where the place that it goes to is full or closed.
#pragma once

namespace margay::command {

// Descriptors 0, 1 and 2 are open afterwards, so that no file that a command opens gets one of their numbers and with
// it what is printed. Writing to one that was closed fails still.
void take_standard_descriptors();

// Whether all that was printed so far is written; standard error tells if not. `command`: what its sentence begins
// with.
[[nodiscard]] bool is_output_written(const char* command);

// What could not be written is given up: its failure has been told.
void give_up_output();

}  // namespace margay::command
