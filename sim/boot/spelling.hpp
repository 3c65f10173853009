// "Did you mean": the candidate nearest to a mistyped word.
#pragma once

#include <string_view>
#include <vector>

namespace margay::sim {

// The candidate with the fewest edits (insert, delete, replace, swap neighbours), if at most a third of the word's
// letters, and at least one, would change; otherwise an empty view. Words longer than 64 letters have no neighbours.
[[nodiscard]] std::string_view nearest_spelling(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace margay::sim
