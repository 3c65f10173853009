// The wire between nodes: one TCP connection per pair of ranks, opened on first use after a mutual proof of the job's
// secret. docs/tcp_wire.md has the bytes, the order of a long message's frames, and what was measured.
//
// A link's life: connecting (frames gather), connected, closed. What ends it is told once, as an Arrival `lost`, after
// everything that came before; an end right after a peer's goodbye is no loss.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "portals/base/header.hpp"
#include "portals/base/status.hpp"
#include "sim/base/clock.hpp"
#include "sim/wire/tcp/auth.hpp"
#include "sim/wire/tcp/tcp_backend.hpp"
#include "sim/wire/tcp/tcp_connector.hpp"
#include "sim/wire/wire.hpp"

namespace margay::sim {

class TcpWire final : public Wire {
 public:
  struct Settings {
    std::uint32_t rank = 0;
    std::uint32_t world = 1;
    portals::GroupId group = 0;  // of every header's source and destination
    std::vector<bool> remote;    // [world]: which ranks this wire may reach; the own rank never
    JobSecret secret{};
    TcpBackendChoice backend = TcpBackendChoice::automatic;
    bool gather = true;                   // see kBurstTicks
    std::string bind_host = "127.0.0.1";  // one chosen numeric address of this host
  };

  // `finished` and the clock, by which peers' deadlines are told, outlive the wire.
  TcpWire(Settings settings, TransmissionList& finished, const Clock& clock = real_clock());
  // rest(), for at most kGoodbyeNs. Transmissions that could not leave end as failed.
  ~TcpWire() override;

  // Chooses the backend and listens. Errors: no usable address, io_uring forced and refused, descriptors exhausted.
  // Requires: before anything else, once.
  [[nodiscard]] portals::Status open();
  // "tcp#127.0.0.1:41234", for the other ranks.
  [[nodiscard]] std::string card() const { return card_text(connector_.local()); }
  // cards[r] is rank r's; those of ranks that are not remote are not looked at. Errors name the rank and quote the
  // card. Requires: before the first message to a rank.
  [[nodiscard]] portals::Status set_cards(const std::vector<std::string>& cards);
  // "epoll: io_uring refused: ...", for `margay info`.
  [[nodiscard]] const std::string& backend_reason() const { return backend_reason_; }
  // Peers with a connection now.
  [[nodiscard]] std::size_t connections() const { return connections_; }
  [[nodiscard]] bool listening() const { return connector_.listening(); }
  // Says goodbye on every connection, behind what was queued, and after each later message again: from there on the
  // process may end without another word. It leaves as messages do; idle() says when it has.
  void rest();
  // What is sent from now on, the peers wait for again.
  void go_on();
  // Ends the streams, and takes what nobody reads any more out of the sockets: closing those that have bytes left in
  // them would throw away what this rank sent last. Nothing may be asked of the wire afterwards, but to be destroyed.
  void shut();

  [[nodiscard]] bool try_send(std::uint32_t peer, const portals::Header& header, const portals::Region& body) override;
  void send(std::uint32_t peer, Transmission& transmission) override;
  void stop(std::uint32_t peer, Transmission& transmission) override;
  [[nodiscard]] bool replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) override;
  // By a connection, without which nobody would miss it.
  void watch(std::uint32_t peer) override { static_cast<void>(link_to(peer)); }
  bool push() override;
  [[nodiscard]] bool poll(Arrival& arrival) override;
  void consume() override;
  void hold() override;
  void accept(const portals::Region& landing, void* cookie) override;
  void refuse() override;
  [[nodiscard]] BodyTold body_came() const override;
  [[nodiscard]] TraceBody body_taken() const override { return uring_ ? TraceBody::uring : TraceBody::epoll; }
  [[nodiscard]] bool idle() const override;
  [[nodiscard]] bool in_transit() const override;
  [[nodiscard]] int wait_descriptor() const override { return backend_ == nullptr ? -1 : backend_->wait_descriptor(); }
  [[nodiscard]] bool prepare_wait() override;
  void time_passed() override {
    if (backend_ != nullptr) backend_->time_passed();
  }
  void thread_ends() override {
    if (backend_ != nullptr) backend_->thread_ends();
  }

  static constexpr std::uint64_t kGoodbyeNs = 1'000'000'000;
  // A short message leaves at once, unless one left for the same peer less than this ago and neither push() nor poll()
  // has come since: then it is one of a burst, and leaves with the others at the next push() or poll(), or when
  // kBurstBytes or kBurstMessages are there: then the peer works on them while this rank makes more. (A system call for
  // each costs more than everything else together.) In ticks of the clock, which are 8 to 40 microseconds, as the
  // processor counts; asking for time costs twice as much.
  static constexpr std::uint64_t kBurstTicks = 40'000;
  static constexpr std::size_t kBurstBytes = std::size_t{16} * 1024;
  static constexpr std::uint32_t kBurstMessages = 32;

 private:
  [[nodiscard]] portals::Status choose_backend();
  [[nodiscard]] TcpLink& made_link(std::uint32_t peer);
  // The same, and connecting.
  [[nodiscard]] TcpLink& link_to(std::uint32_t peer);
  void dial(TcpLink& link);
  void connect_some();
  void adopt(std::uint32_t peer, int descriptor);
  void lose(TcpLink& link, std::string why);
  // What is not the messages' own: new connections, those that have fallen silent, a backend that serves none any more.
  void tend_connections();
  void look_for_silence();
  void lose_all();
  void transmit(TcpLink& link);
  // The same, for a message that may be one of a burst.
  void transmit_short(TcpLink& link);
  void end_bursts();
  void close_link(TcpLink& link);
  [[nodiscard]] bool next_arrival(Arrival& arrival);
  void end_quietly(TcpLink& link);
  void miss(TcpLink& link);
  void answered();

  // Constant after open().
  Settings settings_;
  TransmissionList& finished_;
  std::string backend_reason_;
  bool uring_ = false;
  std::vector<TcpAddress> addresses_;  // by rank, once the cards are set
  const Clock& clock_;
  // Process lock.
  TcpConnector connector_;
  ReadyLinks ready_;
  std::unique_ptr<TcpBackend> backend_;
  std::vector<std::unique_ptr<TcpLink>> links_;  // by rank, made on first use
  std::vector<TcpLink*> made_;
  std::vector<TcpLink*> held_;
  std::vector<TcpLink*> bursts_;  // whose last short messages have not left
  std::uint64_t looks_ = 0;       // calls of push() and poll()
  std::size_t connections_ = 0;
  std::uint64_t next_look_ns_ = 0;  // for silence; 0: there is no connection
  TcpLink* answering_ = nullptr;    // whose whole or started awaits its answer
  const TcpLink* told_ = nullptr;   // whose arrival was the last
  bool drained_ = false;            // the last look found less than it had room for, and all of it has been told
  bool resting_ = false;            // between rest() and go_on()
  bool all_lost_ = false;
};

}  // namespace margay::sim
