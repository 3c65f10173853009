#include "collectives/algorithm/allreduce_exchange.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "collectives/algorithm/scratch.hpp"

namespace margay::collectives {

namespace {

// Two buffers: what this rank has, and what comes.
struct Exchange {
  Collective& collective;
  const Reducer& combine;
  std::size_t count;
  std::uint64_t bytes;
  std::byte* mine;
  std::byte* theirs;

  [[nodiscard]] portals::Region have() const { return {mine, bytes}; }
  [[nodiscard]] portals::Region come() const { return {theirs, bytes}; }
  // The result may be in the other buffer: `combine` leaves it where its right operand was.
  void combine_with(bool theirs_is_lower) {
    if (!theirs_is_lower) std::swap(mine, theirs);
    if (collective.error_class() == MPI_SUCCESS) combine(theirs, mine, count);
  }
  void round(int partner, bool partner_is_lower) {
    collective.exchange(partner, have(), partner, come());
    collective.flush();  // what was sent is about to be overwritten
    combine_with(partner_is_lower);
  }
};

}  // namespace

void allreduce_exchange(Collective& collective, std::byte* partial, std::size_t count, std::size_t element_bytes,
                        const Reducer& combine) {
  const int size = collective.size();
  const int rank = collective.rank();
  if (size == 1) return;
  const int whole = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  const int paired = 2 * (size - whole);  // of the ranks below, each odd one is played by the even one before it
  const std::uint64_t bytes = count * element_bytes;
  Scratch scratch(bytes);
  Exchange exchange{collective, combine, count, bytes, partial, scratch.base()};
  if (rank < paired && rank % 2 == 1) {
    collective.exchange(rank - 1, exchange.have(), rank - 1, exchange.come());
    collective.flush();
    std::swap(exchange.mine, exchange.theirs);
  } else {
    if (rank < paired) {
      collective.receive(rank + 1, exchange.come());
      exchange.combine_with(false);
    }
    const int me = rank < paired ? rank / 2 : rank - paired / 2;
    for (int distance = 1; distance < whole; distance *= 2) {
      const int partner = me ^ distance;
      exchange.round(2 * partner < paired ? 2 * partner : partner + paired / 2, partner < me);
    }
    if (rank < paired) collective.send(rank + 1, exchange.have());
    collective.flush();
  }
  if (exchange.mine != partial && bytes != 0) std::memcpy(partial, exchange.mine, bytes);
}

}  // namespace margay::collectives
