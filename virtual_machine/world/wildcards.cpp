#include "virtual_machine/world/wildcards.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "mpi_adi/device/match_bits.hpp"

namespace margay::virtual_machine {

using portals::Status;

Status Wildcards::open(const Settings& settings, std::optional<Wildcards>& out) {
  Wildcards made(settings);
  if (Status status = parse_wildcards(settings, made.given_); !status.ok()) return status;
  if (!settings.wildcard_log.empty()) {
    made.log_ = ::open(settings.wildcard_log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (made.log_ < 0) return Status::error(settings.wildcard_log + ": " + std::strerror(errno));
  }
  out.emplace(std::move(made));
  return {};
}

Wildcards::Wildcards(const Settings& settings) : holds_(!settings.wildcards.empty()), decisions_(settings.ranks) {
  if (holds_) clocks_.assign(settings.ranks, Clock(settings.ranks));
}

Wildcards::Wildcards(Wildcards&& other) noexcept
    : holds_(other.holds_),
      log_(std::exchange(other.log_, -1)),
      given_(std::move(other.given_)),
      decisions_(std::move(other.decisions_)),
      clocks_(std::move(other.clocks_)) {}

Wildcards::~Wildcards() {
  if (log_ >= 0) ::close(log_);
}

void Wildcards::log(const std::string& line) const {
  if (log_ < 0) return;
  const std::string text = line + "\n";
  // A log that is full ends early, and the explorer sees fewer choices.
  static_cast<void>(!::write(log_, text.data(), text.size()));
}

std::optional<int> Wildcards::decide(std::uint32_t rank, const mpi_adi::WildcardChoice& choice) {
  int source = choice.sources.front();
  if (const auto given = given_.find({rank, choice.number}); given != given_.end()) {
    source = given->second;
    if (std::find(choice.sources.begin(), choice.sources.end(), source) == choice.sources.end()) return {};
  }
  log(nlohmann::json{{"rank", rank}, {"number", choice.number}, {"source", source}, {"sources", choice.sources}}
          .dump());
  decisions_[rank].push_back({choice.number, choice.criteria, decision_count_++, choice.sources});
  clocks_[rank][rank] = static_cast<std::uint32_t>(decisions_[rank].size());
  return source;
}

void Wildcards::log_infeasible() {
  log(nlohmann::json{{"infeasible", true}}.dump());
}

// A message that could also have been taken by an earlier decision of its receiver, had that one waited for it. The
// message does not depend on the decision if neither its sender's clock has the decision, nor the decision is the last
// one: before it no rank could continue, so a message that is sent next depends on it.
void Wildcards::sent(std::uint32_t rank, std::uint32_t destination, portals::MatchBits bits) {
  if (!holds_ || destination >= decisions_.size()) return;
  const int source = mpi_adi::source_of(bits);
  portals::Header header;
  header.match_bits = bits;
  for (std::size_t at = clocks_[rank][destination]; at < decisions_[destination].size(); ++at) {
    Decision& decision = decisions_[destination][at];
    if (decision.position + 1 == decision_count_ || !decision.criteria.accepts(header)) continue;
    if (std::find(decision.sources.begin(), decision.sources.end(), source) != decision.sources.end()) continue;
    decision.sources.push_back(source);
    log(nlohmann::json{{"rank", destination}, {"number", decision.number}, {"later", source}}.dump());
  }
  under_way_[{rank, destination, bits}].push_back(clocks_[rank]);
}

void Wildcards::received(std::uint32_t rank, std::uint32_t source, portals::MatchBits bits) {
  if (!holds_) return;
  const auto found = under_way_.find({source, rank, bits});
  if (found == under_way_.end()) return;
  const Clock& clock = found->second.front();
  for (std::size_t at = 0; at < clock.size(); ++at) clocks_[rank][at] = std::max(clocks_[rank][at], clock[at]);
  found->second.erase(found->second.begin());
  if (found->second.empty()) under_way_.erase(found);
}

void Wildcards::matched(const mpi_adi::WildcardMatch& match) {
  log(nlohmann::json{{"rank", match.rank},
                     {"number", match.number},
                     {"source", match.source},
                     {"from", match.from},
                     {"sequence", match.sequence}}
          .dump());
}

}  // namespace margay::virtual_machine
