#include "sim/machine/cards.hpp"

#include <algorithm>

#include "sim/boot/interface.hpp"
#include "sim/boot/pmi_client.hpp"

namespace margay::sim {

using portals::Status;

Status choose_tcp(const Job& job, TcpWire::Settings& settings) {
  if (Status status = parse_backend(job.options.text("wire_tcp", "auto"), settings.backend); !status.ok())
    return status;
  // Emulated nodes are on this host, so the loopback address serves them.
  const bool here_only = job.nodes_are_emulated && job.tcp_interface.empty();
  if (!here_only) {
    if (Status status = choose_address(job.tcp_interface, settings.bind_host); !status.ok()) return status;
  }
  std::copy(job.secret.begin(), job.secret.end(), settings.secret.begin());
  return {};
}

Status exchange_cards(const Job& job, const std::string& own, const std::vector<bool>& reached,
                      std::vector<std::string>& cards) {
  cards.assign(job.size, {});
  if (job.pmi == nullptr) return Status::error("cannot find the ranks that TCP reaches: the launcher offers no PMI");
  if (!own.empty()) {
    if (Status status = job.pmi->put_card(own); !status.ok()) return status;
  }
  // After the barrier, every rank sees the values that were put before it.
  if (Status status = job.pmi->barrier(); !status.ok()) return status;
  const auto get_card = [&](std::uint32_t rank) {
    // Each card costs a request.
    return reached[rank] ? job.pmi->get_card(rank, cards[rank]) : Status();
  };
  // Only those that started together have published their cards by now.
  for (std::uint32_t at = 0; at < job.world_size(); ++at) {
    if (Status status = get_card(job.all_ranks.empty() ? at : job.all_ranks[at]); !status.ok()) return status;
  }
  return {};
}

bool have_same_host(std::string_view one, std::string_view other) {
  // The last colon, because an IPv6 address contains others.
  const auto host = [](std::string_view card) { return card.substr(0, card.rfind(':')); };
  return !one.empty() && host(one) == host(other);
}

std::string late_card(const Job& job, std::uint32_t world, std::uint32_t rank) {
  // The stores' names are that of the first world, and the same with the world's number.
  std::string name = job.pmi->kvs_name();
  const std::string own = "_" + std::to_string(job.world);
  if (job.world != 0 && name.ends_with(own)) name.resize(name.size() - own.size());
  if (world != 0) name += "_" + std::to_string(world);
  std::string card;
  return job.pmi->get_card(rank, card, name).ok() ? card : std::string();
}

}  // namespace margay::sim
