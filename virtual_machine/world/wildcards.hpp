// The matches of wildcards (MPI_ANY_SOURCE) in a run of an exploration: which message each of them takes, and a log of
// it for the explorer (command/simulate/explore.hpp). docs/simulate_design.md, "Exploration", has the method.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mpi_adi/device/wildcard_watch.hpp"
#include "portals/base/status.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::virtual_machine {

// The exit status of a run that cannot follow its choices: no rank can continue, and a wildcard waits for the message
// of a source that has sent none.
inline constexpr int kStatusInfeasible = 79;

class Wildcards final : public mpi_adi::WildcardWatch {
 public:
  // The log is opened, and each line written at once, so that it is complete after a crash. Errors: invalid choices, a
  // log that cannot be written.
  [[nodiscard]] static portals::Status open(const Settings& settings, std::optional<Wildcards>& out);
  Wildcards(Wildcards&& other) noexcept;
  ~Wildcards() override;

  // Whether matches are chosen, not only logged.
  [[nodiscard]] bool holds() const { return holds_; }
  // The source whose message a wildcard of `rank` takes; empty: its source is given, and has sent no message yet.
  // Requires: no rank can continue.
  [[nodiscard]] std::optional<int> decide(std::uint32_t rank, const mpi_adi::WildcardChoice& choice);
  // Logs that the run cannot follow its choices.
  void log_infeasible();

  // --- WildcardWatch ---
  void sent(std::uint32_t rank, std::uint32_t destination, portals::MatchBits bits) override;
  void received(std::uint32_t rank, std::uint32_t source, portals::MatchBits bits) override;
  void matched(const mpi_adi::WildcardMatch& match) override;

 private:
  // Logical time: of each rank, the decisions that its state depends on.
  using Clock = std::vector<std::uint32_t>;
  struct Decision {
    std::uint32_t number = 0;
    portals::Criteria criteria;
    // Its position among the decisions of all ranks.
    std::size_t position = 0;
    // Those that it could take when it was made, and later ones.
    std::vector<int> sources;
  };

  explicit Wildcards(const Settings& settings);
  void log(const std::string& line) const;

  const bool holds_;
  int log_ = -1;
  GivenSources given_;
  std::vector<std::vector<Decision>> decisions_;  // by rank
  std::size_t decision_count_ = 0;
  std::vector<Clock> clocks_;  // by rank
  // By sender, receiver and match bits: the clocks of the messages that no receive has got. Such messages arrive in
  // their order.
  std::map<std::tuple<std::uint32_t, std::uint32_t, portals::MatchBits>, std::vector<Clock>> under_way_;
};

}  // namespace margay::virtual_machine
