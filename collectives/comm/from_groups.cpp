#include "collectives/comm/construct.hpp"

#include "collectives/comm/agree.hpp"

namespace margay::collectives {

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

}  // namespace

TextTag::TextTag(std::string_view text, const mpi_adi::Group& group) : hash(hash_of(text)) {
  // The members are part of the hash, so that the same text in disjoint groups has different tags.
  for (const std::uint32_t member : group.world_ranks) {
    for (unsigned shift = 0; shift < 32; shift += 8) hash = hash_with(hash, static_cast<std::uint8_t>(member >> shift));
  }
  // 29 bits: the highest bit of the number stays 0, so the tag is never -1.
  tag = internal_tag(Agreement::text, (hash ^ hash >> 32) & 0x1fff'ffff);
}

Made create_from_group(MpiRank& rank, const GroupPtr& group, std::string_view text) {
  const TextTag tag(text, *group);
  const Agreed agreed = agree_among(rank, rank.worlds().own_world(), group, tag.tag, tag.hash);
  if (agreed.context < 0) return {nullptr, agreed.error_class};
  return make_communicator(rank, group, nullptr, agreed, rank.worlds().world());
}

Made join_from_groups(MpiRank& rank, const GroupPtr& local, int local_leader, std::uint32_t remote_leader,
                      std::string_view text) {
  // A communicator for the leader's broadcasts to its own group.
  const Made ours = create_from_group(rank, local, text);
  if (ours.communicator == nullptr) return ours;
  const bool leads = local->my_rank == local_leader;
  const Made made = join_groups(rank, *ours.communicator, local_leader, leads ? &rank.worlds().own_world() : nullptr,
                                static_cast<int>(remote_leader), static_cast<int>(hash_of(text) & 0x1fff'ffff));
  // Only the new intercommunicator stays.
  rank.free_communicator(*ours.communicator);
  return made;
}

}  // namespace margay::collectives
