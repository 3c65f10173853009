// Foreign text (words of a command line, names of files) as a terminal may get it.
#pragma once

#include <string>
#include <string_view>

namespace margay::sim {

// `text` with a '?' for each byte that is neither UTF-8 nor ASCII, and for each character that would act instead of
// being seen: controls but for ends of lines and tabs, and what turns the direction of writing.
[[nodiscard]] std::string for_terminal(std::string_view text);
// The same with a '?' for ends of lines and tabs as well: a name that stays in its place in a sentence.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace margay::sim
