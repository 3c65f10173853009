#include "command/simulate/choice_tree.hpp"

#include <algorithm>

#include "virtual_machine/model/settings.hpp"

namespace margay::command {

std::string format_choices(const std::vector<Choice>& choices) {
  if (choices.empty()) return virtual_machine::kLowestSources;
  std::string text;
  for (const Choice& choice : choices) {
    text += (text.empty() ? "" : ",") + std::to_string(choice.rank) + ":" + std::to_string(choice.number) + "=" +
            std::to_string(choice.source);
  }
  return text;
}

std::optional<std::vector<Choice>> ChoiceTree::next() {
  if (has_begun_) {
    while (!path_.empty() && path_.back().tried == path_.back().known.size()) path_.pop_back();
    if (path_.empty()) return {};
    Node& last = path_.back();
    last.choice.source = last.known[last.tried++];
  }
  has_begun_ = true;
  std::vector<Choice> choices;
  // A wildcard with a single source takes it without a choice.
  for (const Node& node : path_)
    if (node.known.size() > 1) choices.push_back(node.choice);
  return choices;
}

void ChoiceTree::record(const std::vector<Decision>& decisions) {
  for (const Decision& decision : decisions) {
    Node* node = find(decision.choice.rank, decision.choice.number);
    if (node == nullptr) node = &path_.emplace_back(Node{decision.choice, {decision.choice.source}, 1});
    for (const int source : decision.sources)
      if (std::find(node->known.begin(), node->known.end(), source) == node->known.end()) node->known.push_back(source);
  }
}

ChoiceTree::Node* ChoiceTree::find(std::uint32_t rank, std::uint32_t number) {
  const auto at = std::find_if(path_.begin(), path_.end(), [&](const Node& node) {
    return node.choice.rank == rank && node.choice.number == number;
  });
  return at == path_.end() ? nullptr : &*at;
}

}  // namespace margay::command
