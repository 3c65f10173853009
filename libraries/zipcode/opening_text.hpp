// The bytes of an opening in a letter: ints of 32 bits in the byte order of the machine.
//
//   class, three extents, Postmaster, first context_id, number of processes, and for each its rank and pid
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "libraries/zipcode/mailer.hpp"

namespace margay::zipcode::core {

[[nodiscard]] inline std::vector<std::int32_t> encode(const Opening& opening) {
  std::vector<std::int32_t> words{opening.mail_class,
                                  opening.shape[0],
                                  opening.shape[1],
                                  opening.shape[2],
                                  static_cast<std::int32_t>(opening.postmaster),
                                  static_cast<std::int32_t>(opening.context),
                                  static_cast<std::int32_t>(opening.group.size())};
  for (const Member& each : opening.group) {
    words.push_back(static_cast<std::int32_t>(each.rank));
    words.push_back(each.pid);
  }
  return words;
}

// Returns false for damaged bytes. `processes`: of the job.
[[nodiscard]] inline bool decode(Bytes bytes, std::uint32_t processes, Opening& out) {
  constexpr std::size_t kFixed = 7;
  if (bytes.size() % 4 != 0 || bytes.size() < kFixed * 4) return false;
  std::vector<std::int32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const auto members = static_cast<std::uint32_t>(words[6]);
  if (members > kMembersMost || words.size() != kFixed + std::size_t{members} * 2) return false;
  out.mail_class = words[0];
  out.shape = {words[1], words[2], words[3]};
  out.postmaster = static_cast<std::uint32_t>(words[4]);
  out.context = static_cast<std::uint32_t>(words[5]);
  out.group.clear();
  for (std::size_t i = kFixed; i < words.size(); i += 2) {
    if (static_cast<std::uint32_t>(words[i]) >= processes) return false;
    out.group.push_back({static_cast<std::uint32_t>(words[i]), words[i + 1]});
  }
  return out.context <= kLastExplicit && !out.group.empty() && out.postmaster == out.group.front().rank;
}

}  // namespace margay::zipcode::core
