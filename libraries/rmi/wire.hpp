// The sends of one node: at once if the wire can take the message, otherwise from memory that is kept until it has.
// Each function requires that the thread is inside (host::Call).
//
// RMI receives no notice of a send's end and waits for none: a body is either copied into the wire at once, or owned
// here.
//
// The 12 bytes of user data in RMI's headers, in the byte order of the machine:
//
//   bytes 0 to 3    buffers: requests in the lower 24 bits, credits above; replies and credits: credits;
//                   notice of a long reply: its number at portal 52
//   bytes 4 to 11   notices of a long request or reply: its length in bytes; otherwise unused
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "libraries/parts/memory.hpp"
#include "libraries/rmi/library.hpp"
#include "margay/host.hpp"

namespace margay::rmi::core {

using parts::allocate, parts::Memory;

// The first four bytes of a header's user data: a count of requests and credits, or a number at portal 52. By memcpy,
// because they are bytes of a frame.
inline void set_count(portals::Header& header, std::uint32_t count) {
  std::memcpy(header.user_data.data(), &count, sizeof count);
}
[[nodiscard]] inline std::uint32_t count_of(const portals::Header& header) {
  std::uint32_t count = 0;
  std::memcpy(&count, header.user_data.data(), sizeof count);
  return count;
}
// The other eight: the length in bytes of a long request or reply, which the receiver needs before it fetches it. It
// may be any number if the message is damaged.
inline void set_length(portals::Header& header, std::uint64_t length) {
  std::memcpy(header.user_data.data() + 4, &length, sizeof length);
}
[[nodiscard]] inline std::uint64_t length_of(const portals::Header& header) {
  std::uint64_t length = 0;
  std::memcpy(&length, header.user_data.data() + 4, sizeof length);
  return length;
}

// Ends the job because of a message that `node` cannot have sent as it is here: bytes were damaged, or other code has
// sent it. An exception would be no answer, because the counts of fences are wrong on some node from then on. `what`:
// the kind of message, such as "credit" or "buffer of requests"; `why`: the check that failed.
[[noreturn]] inline void refuse_message(host::Rank& rank, std::uint32_t node, const std::string& what,
                                        const std::string& why) {
  const std::string message = "node " + std::to_string(node) + " sent a damaged " + what + ": " + why;
  rank.abort(1, message);
  __builtin_unreachable();  // gcc passes over [[noreturn]] of a virtual function
}

// The sending side of one node. A message that the wire cannot take at once is a parcel, until the wire has it.
class Wire {
 public:
  explicit Wire(host::Rank& rank) : rank_(rank) {}

  // A header for a node's portal, of kind put. All nodes of a job are one set of ranks, so the number is enough.
  [[nodiscard]] static portals::Header header(std::uint32_t node, portals::PortalIndex portal,
                                              portals::MatchBits bits) {
    portals::Header header;
    header.portal = portal;
    header.destination = {0, node};
    header.match_bits = bits;
    return header;
  }

  // Sends a copy of these bytes, which the caller may free at once. A lost receiver is not an error here: the sender's
  // next wait finds it.
  void send(const portals::Header& header, const void* bytes = nullptr, std::size_t size = 0) {
    // The wire only reads the body.
    if (rank_.try_send(header, portals::Region(const_cast<void*>(bytes), size))) return;
    Memory copy = allocate(size);
    if (size != 0) std::memcpy(copy.get(), bytes, size);
    keep(header, std::move(copy), size);
  }
  // Sends the first `size` bytes of `memory`, without a copy of RMI's own. Returns the memory if it is free again,
  // which is usual; otherwise keeps it until the message has left, and returns nullptr.
  [[nodiscard]] Memory send_owned(const portals::Header& header, Memory memory, std::size_t size) {
    if (rank_.try_send(header, portals::Region(memory.get(), size))) return memory;
    keep(header, std::move(memory), size);
    return nullptr;
  }
  // Frees the memory of messages that have left. Called in each round of a wait, so that the empty case is one
  // comparison.
  void sweep() {
    if (!parcels_.empty()) [[unlikely]]
      std::erase_if(parcels_, [this](const std::unique_ptr<Parcel>& parcel) {
        return rank_.state(parcel->message) != host::SendState::queued;
      });
  }
  // Whether no parcel is kept. stop() waits for it.
  [[nodiscard]] bool idle() const { return parcels_.empty(); }

 private:
  // The message and its body, at an address that does not change while the host refers to it.
  struct Parcel {
    host::Outgoing message;
    Memory memory;
  };

  // Hands the message to the host's queue.
  void keep(const portals::Header& header, Memory memory, std::size_t size) {
    parcels_.push_back(std::make_unique<Parcel>());
    Parcel& parcel = *parcels_.back();
    parcel.memory = std::move(memory);
    parcel.message.header = header;
    parcel.message.body = portals::Region(parcel.memory.get(), size);
    rank_.send(parcel.message);
  }

  host::Rank& rank_;
  std::vector<std::unique_ptr<Parcel>> parcels_;
};

}  // namespace margay::rmi::core
