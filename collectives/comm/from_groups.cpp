#include "collectives/comm/construct.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/comm/agree.hpp"
#include "collectives/comm/several_jobs.hpp"
#include "mpi_adi/object/group_ops.hpp"
#include "sim/machine/process.hpp"

namespace margay::collectives {

using mpi_adi::Communicator;
using mpi_adi::GroupPtr;
using mpi_adi::MpiRank;

namespace {

constexpr std::uint64_t kHashBegin = 0xcbf2'9ce4'8422'2325;  // FNV-1a, 64 bits

std::uint64_t hash_with(std::uint64_t hash, std::uint8_t byte) {
  return (hash ^ byte) * 0x0000'0100'0000'01b3;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = kHashBegin;
  for (const char letter : text) hash = hash_with(hash, static_cast<std::uint8_t>(letter));
  return hash;
}

template <typename Number>
std::uint64_t hash_with_number(std::uint64_t hash, Number number) {
  for (unsigned shift = 0; shift < 8 * sizeof number; shift += 8) {
    hash = hash_with(hash, static_cast<std::uint8_t>(number >> shift));
  }
  return hash;
}

// Makes a communicator of this process and the one at `other`, for messages between leaders. Both number its members
// alike, whatever their numbers in a world or a job. Returns the other's rank.
int set_pair(Communicator& pair, MpiRank& rank, std::uint32_t other) {
  const std::uint32_t me = rank.process().rank();
  Communicator& own = rank.worlds().own_world();
  const bool first = rank.process().guests().is_before(me, other);
  std::vector<std::uint32_t> members{me};
  // Equal if one process leads both groups, which is an error that the exchange finds.
  if (other != me) members.insert(first ? members.end() : members.begin(), other);
  pair.context = own.context;
  pair.collective_context = own.collective_context;
  pair.set_groups(mpi_adi::make_group(std::move(members), me, own.group->session));
  pair.named_as = &own;
  pair.error_handler = own.error_handler;
  return first ? 1 : 0;
}

}  // namespace

TextTag::TextTag(std::string_view text, const mpi_adi::Group& group, const sim::Guests* guests) : hash(hash_of(text)) {
  // The members are part of the hash, so that the same text in disjoint groups has different tags.
  for (const std::uint32_t member : group.world_ranks) {
    const sim::Endpoint key = guests == nullptr ? sim::Endpoint{0, member} : guests->order_key(member);
    if (guests != nullptr) hash = hash_with_number(hash, key.job);
    hash = hash_with_number(hash, key.place);
  }
  // 29 bits: the highest bit of the number stays 0, so the tag is never -1.
  tag = internal_tag(Agreement::text, (hash ^ hash >> 32) & 0x1fff'ffff);
}

Made create_from_group(MpiRank& rank, const GroupPtr& group, std::string_view text) {
  const TextTag tag(text, *group, has_guests(rank, *group) ? &rank.process().guests() : nullptr);
  const Agreed agreed = agree_among(rank, rank.worlds().own_world(), group, tag.tag, tag.hash);
  if (agreed.context < 0) return {nullptr, agreed.error_class};
  return make_communicator(rank, group, nullptr, agreed, rank.worlds().world());
}

Made join_from_groups(MpiRank& rank, const GroupPtr& local, int local_leader, std::uint32_t remote_leader,
                      std::string_view text) {
  // A communicator for the leader's broadcasts to its own group.
  Made ours = create_from_group(rank, local, text);
  if (ours.communicator == nullptr) return ours;
  const bool leads = local->my_rank == local_leader;
  Communicator pair;
  const int other = leads ? set_pair(pair, rank, remote_leader) : 0;
  Made made = join_groups(rank, *ours.communicator, local_leader, leads ? &pair : nullptr, other,
                          static_cast<int>(hash_of(text) & 0x1fff'ffff));
  // Only the new intercommunicator stays.
  rank.free_communicator(*ours.communicator);
  return made;
}

}  // namespace margay::collectives
