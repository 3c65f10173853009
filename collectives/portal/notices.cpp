#include "collectives/portal/notices.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/portal_numbers.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;

namespace {

// Headers that wait for one round of progress.
constexpr std::size_t kNoticeHeapBytes = std::size_t{1} << 20;

constexpr std::size_t kRootAt = 2;
constexpr std::size_t kBytesAt = 4;

bool is_of(const portals::Header& header, const CallState& call) {
  return static_cast<std::uint32_t>(mpi_adi::tag_of(header.match_bits)) == static_cast<std::uint32_t>(call.sequence) &&
         mpi_adi::context_of(header.match_bits) == call.communicator.collective_context;
}

}  // namespace

void write_shape(portals::UserData& data, const Shape& shape) {
  data[0] = std::byte{shape.operation};
  data[1] = std::byte{shape.algorithm};
  std::memcpy(&data[kRootAt], &shape.root, sizeof shape.root);
  std::memcpy(&data[kBytesAt], &shape.bytes, sizeof shape.bytes);
}

Shape read_shape(const portals::UserData& data) {
  Shape shape;
  shape.operation = std::to_integer<std::uint8_t>(data[0]);
  shape.algorithm = std::to_integer<std::uint8_t>(data[1]);
  std::memcpy(&shape.root, &data[kRootAt], sizeof shape.root);
  std::memcpy(&shape.bytes, &data[kBytesAt], sizeof shape.bytes);
  return shape;
}

Notices::Notices(Host& host, portals::MatchList& ready_list)
    : host_(host), list_(ready_list), memory_(kNoticeHeapBytes), block_(memory_.buffer()) {
  block_.set_owner(static_cast<mpi_adi::Listener*>(this), mpi_adi::kOwnerListener);
  const portals::Criteria notices{.match_bits = mpi_adi::kLongBit, .ignore_bits = ~mpi_adi::kLongBit};
  entry_.set(notices, block_, {.save = portals::Save::header});
  list_.append(entry_);
}

Notices::~Notices() {
  list_.remove(entry_);
}

void Notices::end(CallState& call) {
  std::erase(active_, &call);
  if (early_.empty()) [[likely]]
    return;
  std::erase_if(early_, [&](const portals::Header& header) { return is_of(header, call); });
}

void Notices::forget(const Communicator& communicator) {
  std::erase_if(early_, [&](const portals::Header& header) {
    return mpi_adi::context_of(header.match_bits) == communicator.collective_context;
  });
}

void Notices::refuse(const CallState& call, int member) {
  portals::Header header;
  header.destination = {0, call.communicator.world_rank(member)};
  header.portal = mpi_adi::kCollectiveReadyPortal;
  header.match_bits =
      mpi_adi::envelope_bits(static_cast<int>(static_cast<std::uint32_t>(call.sequence)), call.communicator.rank(),
                             call.communicator.collective_context, mpi_adi::kLongBit);
  std::erase_if(under_way_, [](const sim::Transmission& transmission) { return transmission.given_back; });
  sim::Kernel& kernel = host_.kernel();
  if (kernel.try_send(header, {})) return;
  sim::Transmission& transmission = under_way_.emplace_back();
  transmission.header = header;
  transmission.owner_kind = mpi_adi::kOwnerOthers;
  kernel.send(transmission);
}

void Notices::told() {
  while (portals::ArrivedMessage* const message = block_.first()) {
    const portals::Header header = message->header;
    block_.release(*message);
    hear(header);
  }
}

void Notices::hear(const portals::Header& header) {
  const auto found = std::ranges::find_if(active_, [&](const CallState* call) { return is_of(header, *call); });
  if (found == active_.end()) {
    early_.push_back(header);
  } else {
    (*found)->refused.push_back(mpi_adi::source_of(header.match_bits));
  }
}

void Notices::hear_early() {
  for (const portals::Header& header : std::exchange(early_, {})) hear(header);
}

}  // namespace margay::collectives
