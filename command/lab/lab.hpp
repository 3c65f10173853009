// `margay lab`: hands over to the labs' own program, labs/lab, which lies in the share folder beside the command.
#pragma once

#include <string>
#include <vector>

namespace margay::command {

// The labs' program that belongs to the command at `own_path`: PREFIX/share/margay/labs/lab. An installation has it
// there, a build folder a link to the sources. Empty: it is not there.
[[nodiscard]] std::string labs_program(const std::string& own_path);

// Runs it with these words in this process's place, and tells it where this command lies (MARGAY_COMMAND). Returns only
// when that fails: an exit status, and why on the standard error.
int lab_command(const std::vector<std::string>& words);

}  // namespace margay::command
