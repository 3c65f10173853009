#include "mpi_adi/object/communicator_word.hpp"

#include <string_view>

namespace margay::mpi_adi {

namespace {

std::string ranks_word(int count) {
  return std::to_string(count) + (count == 1 ? " rank" : " ranks");
}

}  // namespace

std::string communicator_word(ContextId context) {
  return "communicator " + std::to_string(context & ~1);
}

std::string communicator_word(const Communicator& communicator) {
  if (communicator.named_as != nullptr) return communicator_word(*communicator.named_as);
  if (!communicator.name.empty()) return communicator.name;
  const std::string word = communicator_word(communicator.context);
  if (!communicator.is_inter()) return word + " (" + ranks_word(communicator.size()) + ")";
  const bool mine_first = communicator.both == nullptr || communicator.both->rank() == communicator.rank();
  const int first = mine_first ? communicator.size() : communicator.peer_count();
  const int second = mine_first ? communicator.peer_count() : communicator.size();
  return "inter" + word + " (" + std::to_string(first) + " and " + ranks_word(second) + ")";
}

}  // namespace margay::mpi_adi
