// A library whose sends name their ways. Each rank sends numbered messages to its right neighbour by one link that
// moves between all open ways, and by one link for each way that does not move. The receiver's log has the messages of
// each link in order, or the program fails. Prints the table of ways as `row RANK PEER WIRE open|closed usual|further`.
#include <margay/host.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace margay;

namespace {

constexpr portals::PortalIndex kLogPortal = 53;
constexpr std::array<host::NamedPortal, 1> kPortals{{{kLogPortal, "log"}}};
constexpr std::array<const char*, 1> kEvents{"sends number {detail} to {peer}"};
constexpr std::uint32_t kUsualMessages = 200;
// Every 16th body is longer than a wire takes at once.
constexpr std::uint32_t kLongWords = 40'000;

struct Entry {
  std::uint32_t link = 0, number = 0, words = 0;
};

std::uint32_t words_of(std::uint32_t number) {
  return number % 16 == 0 ? kLongWords : 1;
}

struct Link {
  std::vector<host::Way> ways;
  std::size_t at = 0;
  std::uint32_t sent = 0;
};

class Node {
 public:
  Node(host::Rank& rank, std::uint32_t messages) : rank_(rank), messages_(messages), right_((rank.rank() + 1) % rank.size()) {
    std::vector<host::Way> open;
    for (portals::Rank peer = 0; peer < rank.size(); ++peer) {
      for (const host::WayRow& row : rank.ways(peer)) {
        if (peer == right_ && row.why_not.empty()) open.push_back(row.way);
        std::printf("row %u %u %s %s %s\n", rank.rank(), peer, row.wire, row.why_not.empty() ? "open" : "closed",
                    row.is_usual ? "usual" : "further");
      }
    }
    links_.push_back({open});
    for (const host::Way way : open) links_.push_back({{way}});
    std::size_t words = 0;
    for (std::uint32_t number = 1; number <= messages_; ++number) words += words_of(number);
    // The left neighbour may have more or fewer ways than this rank: at most five links.
    memory_.resize(words * sizeof(Entry) * 5);
    log_.emplace(portals::Buffer{memory_.data(), memory_.size()});
  }

  portals::Status attach() {
    portals::Options options;
    options.save = portals::Save::body;
    options.offset_by = portals::OffsetBy::receiver;
    return rank_.attach(kLogPortal, *log_, options);
  }

  void send_all() {
    for (std::uint32_t number = 1; number <= messages_; ++number) {
      for (std::uint32_t link = 0; link < links_.size(); ++link) send(link, number);
    }
  }

  // Whether all messages are here; counts them.
  bool complete(std::uint32_t links) {
    std::uint32_t here = 0;
    for (std::size_t at = 0; at < log_->local_offset();) {
      Entry entry;
      std::memcpy(&entry, memory_.data() + at, sizeof entry);
      if (entry.words == 0) return false;  // a long body that is still arriving
      at += entry.words * sizeof entry;
      ++here;
    }
    return here == links * messages_;
  }

  bool in_order() {
    std::vector<std::uint32_t> last(8, 0);
    for (std::size_t at = 0; at < log_->local_offset();) {
      Entry entry;
      std::memcpy(&entry, memory_.data() + at, sizeof entry);
      if (entry.link >= last.size() || entry.number != ++last[entry.link]) {
        std::printf("rank %u: link %u has number %u behind %u\n", rank_.rank(), entry.link, entry.number,
                    last[entry.link] - 1);
        return false;
      }
      at += entry.words * sizeof entry;
    }
    return true;
  }

  bool all_sent() {
    for (const auto& message : outgoing_) {
      if (rank_.state(*message.first) == host::SendState::queued) return false;
    }
    return true;
  }
  [[nodiscard]] std::uint32_t links() const { return static_cast<std::uint32_t>(links_.size()); }

 private:
  void send(std::uint32_t at, std::uint32_t number) {
    Link& link = links_[at];
    if (link.ways.size() > 1 && number % 5 == 0) {
      const std::size_t next = (link.at + 1) % link.ways.size();
      const portals::Status moved = rank_.move(right_, link.ways[link.at], link.ways[next]);
      if (!moved.ok()) rank_.abort(1, moved.sentence());
      link.at = next;
    }
    auto& [message, body] = outgoing_.emplace_back(std::make_unique<host::Outgoing>(), std::vector<Entry>());
    body.assign(words_of(number), Entry{at, number, words_of(number)});
    message->header.portal = kLogPortal;
    message->header.destination = {0, right_};
    message->body = portals::Region(reinterpret_cast<std::byte*>(body.data()), body.size() * sizeof(Entry));
    message->way = link.ways[link.at];
    rank_.send(*message);
    rank_.record({.number = 0, .peer = right_, .detail = number, .of_sent = true, .way = message->way});
  }

  host::Rank& rank_;
  const std::uint32_t messages_;
  portals::Rank right_;
  std::vector<Link> links_;
  std::vector<std::byte> memory_;
  std::optional<portals::SingleBlock> log_;
  std::vector<std::pair<std::unique_ptr<host::Outgoing>, std::vector<Entry>>> outgoing_;
};

}  // namespace

int main(int argc, char** argv) {
  // The messages of each link; 200 by default.
  const int given = argc > 1 ? std::atoi(argv[1]) : 0;
  host::Rank* rank = nullptr;
  if (const portals::Status status = host::join({"ways", kPortals, {}, kEvents}, rank); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.sentence().c_str());
    return 1;
  }
  bool good = true;
  {
    host::Call call(*rank, "ways");
    Node node(*rank, given > 0 ? static_cast<std::uint32_t>(given) : kUsualMessages);
    good = node.attach().ok() && rank->barrier(call.name()).ok();
    // Pairs of this program have equally many ways, except on two nodes with several ranks each, which no case uses.
    node.send_all();
    good = good && host::wait_until(*rank, {.call = call.name()}, [&] { return node.complete(node.links()); }).ok();
    good = good && node.in_order();
    good = good && host::wait_until(*rank, {.call = call.name()}, [&] { return node.all_sent(); }).ok();
    good = good && rank->barrier(call.name()).ok();
    rank->detach(kLogPortal);
  }
  rank->end();
  return good ? 0 : 1;
}
