// The sends of one node: at once if the wire can take the message, otherwise from memory that is kept until it has.
// Each function requires that the thread is inside (host::Call).
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "libraries/rmi/library.hpp"
#include "margay/host.hpp"

namespace margay::rmi::core {

// Memory of any size, aligned to 64 bytes as wires like it. Owned.
struct FreeBytes {
  void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{64}); }
};
using Memory = std::unique_ptr<std::byte[], FreeBytes>;
[[nodiscard]] inline Memory allocate(std::size_t bytes) {
  return Memory(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{64})));
}

// The four bytes of user data that count something.
inline void set_count(portals::Header& header, std::uint32_t count) {
  std::memcpy(header.user_data.data(), &count, sizeof count);
}
[[nodiscard]] inline std::uint32_t count_of(const portals::Header& header) {
  std::uint32_t count = 0;
  std::memcpy(&count, header.user_data.data(), sizeof count);
  return count;
}
// The other eight, the length of a long request or reply.
inline void set_length(portals::Header& header, std::uint64_t length) {
  std::memcpy(header.user_data.data() + 4, &length, sizeof length);
}
[[nodiscard]] inline std::uint64_t length_of(const portals::Header& header) {
  std::uint64_t length = 0;
  std::memcpy(&length, header.user_data.data() + 4, sizeof length);
  return length;
}

// Ends the job because of a message that `node` cannot have sent as it is here: bytes were damaged, or other code has
// sent it. The counts of fences are then wrong on some node, so no call could go on. `what`: "request", "fence
// message".
[[noreturn]] inline void refuse_message(host::Rank& rank, std::uint32_t node, const std::string& what,
                                        const std::string& why) {
  const std::string message = "node " + std::to_string(node) + " sent a damaged " + what + ": " + why;
  rank.abort(1, message);
  __builtin_unreachable();  // gcc passes over [[noreturn]] of a virtual function
}

class Wire {
 public:
  explicit Wire(host::Rank& rank) : rank_(rank) {}

  // A header for a node's portal.
  [[nodiscard]] static portals::Header header(std::uint32_t node, portals::PortalIndex portal,
                                              portals::MatchBits bits) {
    portals::Header header;
    header.portal = portal;
    header.destination = {0, node};
    header.match_bits = bits;
    return header;
  }

  // Sends a copy of these bytes. A lost receiver is no error here: the sender's wait finds it.
  void send(const portals::Header& header, const void* bytes = nullptr, std::size_t size = 0) {
    // The wire only reads the body.
    if (rank_.try_send(header, portals::Region(const_cast<void*>(bytes), size))) return;
    Memory copy = allocate(size);
    if (size != 0) std::memcpy(copy.get(), bytes, size);
    keep(header, std::move(copy), size);
  }
  // Sends the first `size` bytes of `memory`. Returns the memory if it is free again, otherwise takes it.
  [[nodiscard]] Memory send_owned(const portals::Header& header, Memory memory, std::size_t size) {
    if (rank_.try_send(header, portals::Region(memory.get(), size))) return memory;
    keep(header, std::move(memory), size);
    return nullptr;
  }
  // Frees the memory of messages that have left.
  void sweep() {
    if (!parcels_.empty()) [[unlikely]]
      std::erase_if(parcels_, [this](const std::unique_ptr<Parcel>& parcel) {
        return rank_.state(parcel->message) != host::SendState::queued;
      });
  }
  [[nodiscard]] bool idle() const { return parcels_.empty(); }

 private:
  struct Parcel {
    host::Outgoing message;
    Memory memory;
  };

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
