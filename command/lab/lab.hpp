// The command `margay lab`: replaces this process by the labs' own program, labs/lab, in the share folder beside the
// command.
#pragma once

#include <string>
#include <vector>

namespace margay::command {

// The path of the labs' program for the command at `own_path`: PREFIX/share/margay/labs/lab. An installation has it
// there, a build folder a link to the sources. Empty: it does not exist.
[[nodiscard]] std::string labs_program(const std::string& own_path);

// Runs the labs' program with these tokens in place of this process, with the path of this command in MARGAY_COMMAND.
// Returns only on failure: prints the reason on standard error and returns an exit status.
int lab_command(const std::vector<std::string>& tokens);

}  // namespace margay::command
