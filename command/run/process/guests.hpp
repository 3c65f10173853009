// The guests of a job: processes of other jobs, to each of which this job has given a place (docs/dynamic.md). All
// processes of this job address a guest by its place. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sim/base/endpoint.hpp"

namespace margay::command {

class Guests {
 public:
  // `take_place`: takes a place for guests; nullopt: none is left (Places::take_for_guest).
  explicit Guests(std::function<std::optional<std::uint32_t>()> take_place) : take_place_(std::move(take_place)) {}

  // The place of a guest, for the process `holder` of this job: the place that it has, or else one that is free.
  // nullopt: none is left.
  [[nodiscard]] std::optional<std::uint32_t> find(const sim::Endpoint& guest, std::uint32_t holder);
  // The process `holder` does not need the guest in this place any more. The place is free when that holds for all
  // processes that have asked for it. false: the holder has not asked for it.
  bool release(std::uint32_t place, std::uint32_t holder);
  // The process of this job has ended, and with it its needs.
  void on_end(std::uint32_t holder);

 private:
  struct Guest {
    std::uint32_t place = 0;
    std::set<std::uint32_t> holders;
  };
  using Found = std::map<sim::Endpoint, Guest>::iterator;

  // The guest whose holder was erased. Returns its successor in guests_.
  Found free_if_unused(Found guest);

  std::function<std::optional<std::uint32_t>()> take_place_;
  std::map<sim::Endpoint, Guest> guests_;
  // Places of former guests.
  std::vector<std::uint32_t> free_;
};

}  // namespace margay::command
