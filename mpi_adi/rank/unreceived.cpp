#include "mpi_adi/rank/unreceived.hpp"

#include <cstdio>
#include <string>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/note.hpp"
#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/device/type_check.hpp"

namespace margay::mpi_adi {

namespace {

constexpr std::uint32_t kLinesMax = 20;  // of one communicator

std::string line(MpiRank& rank, const Communicator& communicator, const portals::Header& header) {
  const std::string by = words_of_sent_side(header);
  return "margay: rank " + std::to_string(rank.process().rank()) +
         ": leak: a message that nobody received, from rank " + std::to_string(source_of(header.match_bits)) +
         ", tag " + std::to_string(tag_of(header.match_bits)) + ", " + std::to_string(message_bytes(header)) +
         " bytes, " + (communicator.name.empty() ? "a communicator without a name" : communicator.name) +
         (by.empty() ? "" : ", sent as " + by) + "\n";
}

}  // namespace

void tell_unreceived(MpiRank& rank, const Communicator& communicator, Sender sender) {
  if (rank.origins() == nullptr) return;
  const Unexpected& heap = rank.device().parts().heap;
  const portals::Criteria all = receive_criteria(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator.context);
  std::string text;
  std::uint32_t count = 0;
  for (const portals::ArrivedMessage* at = heap.first(); at != nullptr; at = heap.next(*at)) {
    if (((at->header.match_bits ^ all.match_bits) & ~all.ignore_bits) != 0) continue;
    const bool waits = read_note(at->header.user_data).answer_bits != 0;
    if (waits != (sender == Sender::waits)) continue;
    if (count++ < kLinesMax) text += line(rank, communicator, at->header);
  }
  if (count > kLinesMax) {
    text += "margay: rank " + std::to_string(rank.process().rank()) + ": leak: " + std::to_string(count - kLinesMax) +
            " more messages that nobody received\n";
  }
  rank.process().found(count);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace margay::mpi_adi
