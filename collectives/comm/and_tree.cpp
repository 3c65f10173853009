#include "collectives/comm/and_tree.hpp"

#include <algorithm>
#include <functional>

#include "collectives/topology/spanning_tree.hpp"

namespace margay::collectives {

// The messages of two members alternate, up and down, so those of two ands do not mix.
Steps and_tree(Collective& collective, std::vector<std::uint64_t>& words, int& error_class) {
  collective.ask_nobody();
  const TreePlace place = spanning_tree(collective.size(), 0, collective.rank());
  words.push_back(~std::uint64_t{0});  // as long as nobody is known to be lost
  // What a lost member does not fill says so.
  std::vector<std::uint64_t> theirs(words.size());
  const portals::Region mine(words.data(), words.size() * sizeof(std::uint64_t));
  const portals::Region landing(theirs.data(), mine.bytes());
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
    std::fill(theirs.begin(), theirs.end(), 0);
    co_await Receive(collective, child->rank, landing);
    std::transform(theirs.begin(), theirs.end(), words.begin(), words.begin(), std::bit_and<>());
  }
  if (place.parent >= 0) {
    co_await Send(collective, place.parent, mine);
    co_await Flush(collective);
    std::fill(words.begin(), words.end(), 0);
    co_await Receive(collective, place.parent, mine);
  }
  for (const TreePlace::Child& child : place.children) co_await Send(collective, child.rank, mine);
  co_await Flush(collective);
  error_class = collective.error_class();
  if (error_class == MPI_SUCCESS && words.back() == 0) error_class = MPIX_ERR_PROC_FAILED;
  words.pop_back();
}

}  // namespace margay::collectives
