// The wire between nodes: one TCP connection for each pair of ranks, which is opened at the first use, with a mutual
// proof of the job's secret. docs/tcp_wire.md has the bytes, the order of a long message's frames, and the
// measurements.
//
// A second wire of a process connects it to its guests, which are processes of other jobs. A guest's number among the
// peers is one of this job's empty places, as add_guest() sets it.
//
// A link is connecting (frames gather), then connected, then closed. The wire reports a link's end once, as an Arrival
// `lost`, after everything that arrived before. An end after the peer's goodbye is not reported, unless messages are
// still queued for the peer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/header.hpp"
#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"
#include "sim/base/endpoint.hpp"
#include "sim/wire/tcp/auth.hpp"
#include "sim/wire/tcp/tcp_backend.hpp"
#include "sim/wire/tcp/tcp_connector.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

// One process's side of all its connections. Used under the process lock. open() must succeed before the first message,
// and set_cards() as well, or add_guest() for the guest.
//
// Before open(), which may be called late, the wire is inert: quiet, without a descriptor, and with no effect of the
// calls that name no peer.
class TcpWire final : public Wire {
 public:
  // The wire's configuration; constant for the life of the wire.
  struct Settings {
    // Endpoint::job of this process, and its rank, which is Endpoint::place unless the peers are guests.
    std::uint64_t job = 0;
    std::uint32_t rank = 0;
    // Numbers of peers, this rank's included.
    std::uint32_t world = 1;
    // The group in the source and the destination of every header.
    portals::GroupId group = 0;
    // By rank, `world` elements: whether this wire may reach the rank; false for this rank. Guests: not used.
    std::vector<bool> remote;
    // Guests: the user's key.
    JobSecret secret{};
    TcpBackendChoice backend = TcpBackendChoice::automatic;
    // Whether short messages in a burst gather; see kBurstTicks.
    bool gather = true;
    // A numeric address of this host, at which this rank listens and from which it dials.
    std::string bind_host = "127.0.0.1";
    // Dials instead from the address that the operating system chooses for each peer.
    bool any_source = false;
    // Fills in the card of a rank whose card was not known at set_cards(), because its process started later. Returns
    // false if the rank has none. May block. Empty: all cards are known from the start.
    std::function<bool(std::uint32_t rank, std::string& card)> late_card = {};
    // The peers are guests instead of ranks.
    bool guests = false;
    // Guests: Endpoint::place of this process.
    std::uint32_t place = 0;
    // Guests: returns the number of a process that has connected and proved its identity, after add_guest() with this
    // number, for which an empty card suffices; nullopt: the connection is dropped. May block briefly. Calls no other
    // function of this wire but has_ended(). Empty: no guest may connect first.
    std::function<std::optional<std::uint32_t>(const Endpoint& endpoint)> guest_of = {};
  };

  // `clock` measures deadlines. `finished` and `clock` outlive the wire.
  TcpWire(Settings settings, TransmissionList& finished, const Clock& clock = real_clock());
  // Calls send_goodbye(), and waits at most kGoodbyeNs until everything has left. Transmissions that have not left by
  // then fail.
  ~TcpWire() override;

  // Listens and chooses the backend. Fails if the address cannot be used, if io_uring is requested and refused, or if
  // file descriptors are exhausted. Requires: has not succeeded before.
  [[nodiscard]] portals::Status open();
  // As open(), with a secret and an address that the constructor did not have.
  [[nodiscard]] portals::Status open(const JobSecret& secret, std::string bind_host);
  // This rank's address for the others: "tcp#127.0.0.1:41234". Requires: open() has succeeded.
  [[nodiscard]] std::string card() const { return card_text(connector_.local()); }
  // Sets the addresses of the other ranks. cards[r] is the card of rank r, or empty if it is not known yet; cards of
  // ranks that are not remote are ignored. A failure names the rank and quotes its card. Requires: before the first
  // message to a rank.
  [[nodiscard]] portals::Status set_cards(const std::vector<std::string>& cards);
  // Guests: makes `number` the number of `endpoint`, which can be reached at `card`. With an empty card it can only
  // connect to this process, and a message before that makes it a lost peer.
  //
  // If another process had the number, everything of it is forgotten; fails if that one has not ended. If `endpoint`
  // has the number already, only the card is updated, provided that it is not empty and no link exists. Also fails for
  // a card of a wrong form, for a process of this job, for this rank's number and numbers out of range, and if the
  // operating system does not serve the wire any more. A failure changes nothing.
  [[nodiscard]] portals::Status add_guest(std::uint32_t number, const Endpoint& endpoint, std::string_view card);
  // Guests: whether another process may get `number`: it has no link, or the link is closed, and poll() has reported
  // everything about it. The text of a loss (Arrival::loss) is valid until the number has another process.
  [[nodiscard]] bool has_ended(std::uint32_t number) const;
  // Number of links that have been closed so far.
  [[nodiscard]] std::uint64_t ends() const { return ends_; }
  // The name of the backend, with the reason of its choice, for `margay info`.
  [[nodiscard]] const std::string& backend_reason() const { return backend_reason_; }
  // Number of peers with a connection now.
  [[nodiscard]] std::size_t connections() const { return connections_; }
  [[nodiscard]] bool listening() const { return connector_.listening(); }
  // Queues a goodbye on every connection, behind everything that is queued, and again behind each later message. Once
  // the goodbyes have left, the process may exit. Goodbyes are sent as messages are; idle() returns true when they have
  // left.
  void send_goodbye();
  // Ends the effect of send_goodbye(): no goodbye follows later messages.
  void resume();
  // Ends the outgoing streams, and discards the unread bytes of the sockets, because closing a socket with unread bytes
  // would discard the last bytes that this rank sent. Afterwards the wire may only be destroyed.
  void shut();

  [[nodiscard]] bool try_send(std::uint32_t peer, const portals::Header& header, const portals::Region& body) override;
  void send(std::uint32_t peer, Transmission& transmission) override;
  void stop(std::uint32_t peer, Transmission& transmission) override;
  [[nodiscard]] bool replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) override;
  // Opens a connection, because without one the peer's loss would not be detected.
  void monitor(std::uint32_t peer) override { static_cast<void>(link_to(peer)); }
  bool push() override;
  [[nodiscard]] bool poll(Arrival& arrival) override;
  void consume() override;
  void hold() override;
  void accept(const portals::Region& landing, void* cookie) override;
  void refuse() override;
  [[nodiscard]] BodyReport body_report() const override;
  [[nodiscard]] TraceBody body_taken() const override { return uring_ ? TraceBody::uring : TraceBody::epoll; }
  [[nodiscard]] bool idle() const override;
  [[nodiscard]] bool in_transit() const override;
  [[nodiscard]] bool wakes_other_threads() const override { return backend_ != nullptr && !uring_; }
  [[nodiscard]] int wait_descriptor() const override { return backend_ == nullptr ? -1 : backend_->wait_descriptor(); }
  [[nodiscard]] bool prepare_wait() override;
  void time_passed() override {
    if (backend_ != nullptr) backend_->time_passed();
  }
  void thread_ends() override {
    if (backend_ != nullptr) backend_->thread_ends();
  }

  // The longest time that the destructor waits for goodbyes to leave.
  static constexpr std::uint64_t kGoodbyeNs = 1'000'000'000;
  // Bounds of a burst. A short message leaves at once, unless a short message left for the same peer less than
  // kBurstTicks ago, and push(), poll() and prepare_wait() have not been called since. In that case the message belongs
  // to a burst: it leaves with the other messages of the burst at the next of these calls, or when kBurstBytes or
  // kBurstMessages have gathered, so that the peer works on them while this rank makes more. (A system call for each
  // message would cost more than everything else together.) kBurstTicks is in ticks of the clock, 8 to 40 microseconds,
  // depending on the processor, because reading the time in nanoseconds costs twice as much.
  static constexpr std::uint64_t kBurstTicks = 40'000;
  static constexpr std::size_t kBurstBytes = std::size_t{16} * 1024;
  static constexpr std::uint32_t kBurstMessages = 32;

 private:
  // Opening, and links. docs/tcp_wire.md describes the states of a link.
  [[nodiscard]] portals::Status choose_backend();
  // Returns the link of a peer; makes it if necessary.
  [[nodiscard]] TcpLink& get_or_make_link(std::uint32_t peer);
  // Whether this wire may reach a peer, and the identity of the peer.
  [[nodiscard]] bool reaches(std::uint32_t peer) const;
  [[nodiscard]] Endpoint endpoint_of(std::uint32_t peer) const;
  // The connector's question for the number of a guest.
  [[nodiscard]] std::optional<std::uint32_t> number_of(const Endpoint& endpoint);
  // Deletes the link of a guest that has ended.
  void forget(std::uint32_t number);
  // The same; also starts to connect the link if necessary.
  [[nodiscard]] TcpLink& link_to(std::uint32_t peer);
  // Asks the connector for a connection.
  void find_card(std::uint32_t peer);
  void dial(TcpLink& link);
  // Takes the connector's outcomes: adopts connections, and ends links whose dial failed.
  void connect_some();
  // Gives a new connection to the backend.
  void adopt(std::uint32_t peer, int descriptor);
  // Ends a link. The receiver reports the loss after everything that arrived before.
  void lose(TcpLink& link, std::string why);
  // Work beside messages: handles new connections, silent hosts (look_for_silence()) and a failed backend (lose_all()).
  void tend_connections();
  void look_for_silence();
  void lose_all();
  // Starts to send what the link has gathered, once the link is connected.
  void transmit(TcpLink& link);
  // As transmit(), for a message that may belong to a burst.
  void transmit_short(TcpLink& link);
  // Transmits the gathered messages of all bursts.
  void end_bursts();
  // Takes a link from the backend and closes its socket.
  void close_link(TcpLink& link);
  // Fills in the next arrival of the ready links, and ends links whose stream has ended. false: there is none.
  [[nodiscard]] bool next_arrival(Arrival& arrival);
  // Ends a link after the peer's goodbye. If messages are still queued for the peer, miss() reports a loss.
  void end_quietly(TcpLink& link);
  void miss(TcpLink& link);
  // The common part of the answers to an arrival.
  void end_answer();

  // Constant after open().
  Settings settings_;
  TransmissionList& finished_;
  std::string backend_reason_;
  bool uring_ = false;
  // By rank, once the cards are set. Guests: by number.
  std::vector<TcpAddress> addresses_;
  // By number; nullopt: the number has no guest. Empty if the peers are ranks.
  std::vector<std::optional<Endpoint>> guests_;
  const Clock& clock_;
  // Used under the process lock.
  TcpConnector connector_;
  ReadyLinks ready_;
  std::unique_ptr<TcpBackend> backend_;
  // By rank, made on first use.
  std::vector<std::unique_ptr<TcpLink>> links_;
  // The links that exist, in the order of their first use.
  std::vector<TcpLink*> made_;
  // Links whose next arrival is held until push().
  std::vector<TcpLink*> held_;
  // Links with short messages of a burst that have not left.
  std::vector<TcpLink*> bursts_;
  // Calls of push(), poll() and prepare_wait(), each of which ends all bursts.
  std::uint64_t calls_ = 0;
  std::size_t connections_ = 0;
  std::uint64_t ends_ = 0;
  // Time of the next check for silence; 0: there is no connection.
  std::uint64_t next_check_ns_ = 0;
  // The link whose arrival, whole or started, awaits its answer.
  TcpLink* answering_ = nullptr;
  // The link of the last arrival.
  const TcpLink* last_arrival_ = nullptr;
  // The last read of the sockets brought an arrival. So the poll() that finds no further arrival does not read again.
  bool drained_ = false;
  // True between send_goodbye() and resume().
  bool departed_ = false;
  // The backend has failed, and every link with it.
  bool all_lost_ = false;
};

}  // namespace margay::sim
