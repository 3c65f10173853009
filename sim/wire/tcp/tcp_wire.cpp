#include "sim/wire/tcp/tcp_wire.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "portals/base/assert.hpp"
#include "sim/wire/tcp/tcp_socket.hpp"

namespace margay::sim {

using portals::Header;
using portals::Region;
using portals::Status;

namespace {

// The most reads of the sockets in one poll(), while they bring bytes but no arrival. Four reads take 1 MiB of a long
// body (four segments), which delays other wires by at most 0.1 ms.
constexpr int kAttemptsPerPoll = 4;

// Discards unread bytes. close() with unread bytes would reset the connection, and the peer would lose bytes that it
// has not read yet.
void drain(int descriptor) {
  // The bytes are read into memory, because memcheck reports recv(nullptr, MSG_TRUNC) as an error.
  std::array<std::byte, 16384> scrap;
  constexpr int kReadsMax = (64 << 20) / scrap.size();
  for (int reads = 0; reads < kReadsMax; ++reads) {
    if (recv(descriptor, scrap.data(), scrap.size(), MSG_DONTWAIT) <= 0) return;
  }
}

// The connector's peers: the remote ranks, or guests at any number.
TcpConnector::Peers peers_of(const TcpWire::Settings& settings,
                             std::function<std::optional<std::uint32_t>(const Endpoint&)> number_of) {
  TcpConnector::Peers peers{{settings.job, settings.guests ? settings.place : settings.rank}, settings.remote};
  peers.any_source = settings.any_source;
  if (settings.guests) peers.remote.assign(settings.world, true);
  peers.remote.resize(settings.world, false);
  if (settings.guests) peers.number_of = std::move(number_of);
  return peers;
}

}  // namespace

TcpWire::TcpWire(Settings settings, TransmissionList& finished, const Clock& clock)
    : Wire(settings.guests ? WireId::guest : WireId::tcp),
      settings_(std::move(settings)),
      finished_(finished),
      addresses_(settings_.guests ? settings_.world : 0),
      guests_(settings_.guests ? settings_.world : 0),
      clock_(clock),
      connector_(peers_of(settings_, [this](const Endpoint& endpoint) { return number_of(endpoint); }),
                 settings_.secret, clock),
      links_(settings_.world) {
  MARGAY_ASSERT(settings_.rank < settings_.world);
  quiet_ = true;
  needs_push_ = false;
}

TcpWire::~TcpWire() {
  send_goodbye();
  const std::uint64_t deadline_ns = clock_.now_ns() + kGoodbyeNs;
  while (backend_ != nullptr && clock_.now_ns() < deadline_ns) {
    const bool left = std::all_of(made_.begin(), made_.end(), [](const TcpLink* link) {
      return link->state != TcpLink::State::connected || link->sender.idle();
    });
    if (left) break;
    if (!backend_->push()) {
      pollfd wait{backend_->wait_descriptor(), POLLIN, 0};
      static_cast<void>(::poll(&wait, 1, 10));
    }
  }
  shut();
  for (TcpLink* link : made_) close_link(*link);
  // The secret is wiped last, because the connector refers to it until no handshake can follow.
  wipe(settings_.secret);
}

// ---- opening

Status TcpWire::open() {
  if (Status listening = connector_.listen(settings_.bind_host); !listening.ok()) return listening;
  if (Status chosen = choose_backend(); !chosen.ok()) return chosen;
  quiet_ = false;
  needs_push_ = true;
  return {};
}

Status TcpWire::open(const JobSecret& secret, std::string bind_host) {
  // The connector refers to this secret.
  settings_.secret = secret;
  settings_.bind_host = std::move(bind_host);
  return open();
}

Status TcpWire::choose_backend() {
  const TcpBackendTaken taken = backend_for(settings_.backend);
  backend_reason_ = taken.reason;
  if (!taken.uring) return make_epoll_backend(connector_.descriptor(), ready_, backend_);
  Status uring = probe_uring();
  if (uring.ok()) uring = make_uring_backend(connector_.descriptor(), ready_, backend_);
  uring_ = uring.ok();
  if (!uring.ok()) return Status::error("io_uring was asked for, but " + uring.sentence() + "; choose epoll or auto");
  return {};
}

Status TcpWire::set_cards(const std::vector<std::string>& cards) {
  std::vector<TcpAddress> addresses(settings_.world);
  for (std::uint32_t rank = 0; rank < settings_.world; ++rank) {
    // Cards of ranks on this node are not used, and may be missing.
    if (!reaches(rank)) continue;
    if (rank >= cards.size() || cards[rank].empty()) {
      // A process that starts later publishes its card later; dial() asks for it.
      if (settings_.late_card != nullptr) continue;
      return Status::error("rank " + std::to_string(rank) + " is on another node and published no TCP card");
    }
    const Status parsed = parse_card(cards[rank], addresses[rank]);
    if (!parsed.ok()) return Status::error("rank " + std::to_string(rank) + ": " + parsed.sentence());
  }
  addresses_ = std::move(addresses);
  return {};
}

bool TcpWire::reaches(std::uint32_t peer) const {
  if (settings_.guests) return guests_[peer].has_value();
  return peer != settings_.rank && peer < settings_.remote.size() && settings_.remote[peer];
}

Endpoint TcpWire::endpoint_of(std::uint32_t peer) const {
  return settings_.guests ? guests_[peer].value_or(Endpoint{}) : Endpoint{settings_.job, peer};
}

TcpLink& TcpWire::get_or_make_link(std::uint32_t peer) {
  MARGAY_ASSERT(backend_ != nullptr && peer < links_.size() && peer != settings_.rank);
  if (links_[peer] == nullptr) {
    links_[peer] = std::make_unique<TcpLink>(peer, portals::ProcessId{settings_.group, peer},
                                             portals::ProcessId{settings_.group, settings_.rank}, finished_);
    made_.push_back(links_[peer].get());
  }
  return *links_[peer];
}

TcpLink& TcpWire::link_to(std::uint32_t peer) {
  TcpLink& link = get_or_make_link(peer);
  // The link may exist already, because the peer dialed or because it was wanted before.
  if (!link.wanted) {
    link.wanted = true;
    if (link.state == TcpLink::State::connecting) dial(link);
  }
  return link;
}

// Asks for the card of a process that started later, when it is needed first.
void TcpWire::find_card(std::uint32_t peer) {
  std::string card;
  if (peer >= addresses_.size() || addresses_[peer].bytes != 0 || settings_.late_card == nullptr) return;
  if (!settings_.late_card(peer, card)) return;
  TcpAddress address;
  if (parse_card(card, address).ok()) addresses_[peer] = address;
}

void TcpWire::dial(TcpLink& link) {
  find_card(link.peer);
  if (link.peer >= addresses_.size() || addresses_[link.peer].bytes == 0) {
    return lose(link, settings_.guests ? "it has not connected to this process, which does not know its address"
                                       : "its TCP card is not known");
  }
  connector_.dial(link.peer, endpoint_of(link.peer), addresses_[link.peer]);
  connect_some();
}

// Handles the connector's outcomes.
void TcpWire::connect_some() {
  TcpConnector::Outcome outcome;
  while (connector_.take(outcome)) {
    if (outcome.descriptor >= 0) {
      adopt(outcome.peer, outcome.descriptor);
    } else {
      lose(get_or_make_link(outcome.peer), std::move(outcome.failure));
    }
  }
}

void TcpWire::adopt(std::uint32_t peer, int descriptor) {
  TcpLink& link = get_or_make_link(peer);
  MARGAY_ASSERT(link.descriptor < 0);
  link.descriptor = descriptor;
  // A closed link: the peer was lost while the connection was being made.
  if (link.state == TcpLink::State::closed) return close_if_open(link.descriptor);
  const Status added = backend_->add(link);
  // Every failure of a connection leads to one arrival `lost`, whatever its cause.
  if (!added.ok()) {
    close_if_open(link.descriptor);
    return lose(link, added.sentence());
  }
  link.state = TcpLink::State::connected;
  ++connections_;
  if (next_check_ns_ == 0) connector_.wake_at(next_check_ns_ = clock_.now_ns() + kSilenceCheckNs);
  if (link.long_bodies) tune_for_long_bodies(link.descriptor);
  // The other connections got their goodbyes before this connection was made.
  if (departed_) link.sender.send_goodbye();
  transmit(link);
}

// ---- sending

bool TcpWire::try_send(std::uint32_t peer, const Header& header, const Region& body) {
  MARGAY_ASSERT(body.bytes() == header.length);
  TcpLink& link = link_to(peer);
  if (link.state == TcpLink::State::closed || !link.sender.try_put(header, body)) return false;
  transmit_short(link);
  return true;
}

void TcpWire::send(std::uint32_t peer, Transmission& transmission) {
  MARGAY_ASSERT(transmission.body.bytes() == transmission.header.length);
  TcpLink& link = link_to(peer);
  // The transmission is queued even on a closed link, where fail() below puts it on the list of finished ones.
  link.sender.queue(transmission);
  transmission.method = body_taken();
  // A closed link never opens again.
  if (link.state == TcpLink::State::closed) {
    link.sender.fail();
    return miss(link);
  }
  if (transmission.header.length > kWholeBytes && !std::exchange(link.long_bodies, true) &&
      link.state == TcpLink::State::connected) {
    tune_for_long_bodies(link.descriptor);
  }
  if (transmission.header.length > kGatherCopyBytes) return transmit(link);
  transmit_short(link);
}

void TcpWire::stop(std::uint32_t peer, Transmission& transmission) {
  link_to(peer).sender.stop(transmission);
}

bool TcpWire::replace(std::uint32_t peer, Transmission& transmission, Transmission& instead) {
  return link_to(peer).sender.replace(transmission, instead);
}

void TcpWire::transmit(TcpLink& link) {
  if (link.state != TcpLink::State::connected) return;
  backend_->start_send(link);
  needs_push_ |= backend_->needs_push();
}

void TcpWire::transmit_short(TcpLink& link) {
  if (!settings_.gather || link.state != TcpLink::State::connected) return transmit(link);
  const std::uint64_t now = clock_.ticks();
  // An equal count shows that push(), poll() and prepare_wait() have not been called since the last message.
  const bool burst = link.sent_at_call == calls_ && now - link.sent_ticks < kBurstTicks;
  if (burst && link.sender.gathered_bytes() < kBurstBytes && ++link.burst_messages < kBurstMessages) {
    if (!std::exchange(link.in_burst, true)) bursts_.push_back(&link);
    needs_push_ = true;
    return;
  }
  link.burst_messages = 0;
  link.sent_at_call = calls_;
  link.sent_ticks = now;
  transmit(link);
}

void TcpWire::end_bursts() {
  for (TcpLink* link : bursts_) {
    link->in_burst = false;
    transmit(*link);
  }
  bursts_.clear();
}

bool TcpWire::push() {
  if (backend_ == nullptr) return false;
  // Ends every burst, so that this round transmits the gathered messages.
  ++calls_;
  end_bursts();
  for (TcpLink* link : held_) {
    link->held = false;
    ready_.add(*link);
  }
  held_.clear();
  const bool moved = backend_->push();
  needs_push_ = backend_->needs_push();
  return moved;
}

// ---- arriving

bool TcpWire::poll(Arrival& arrival) {
  MARGAY_ASSERT(answering_ == nullptr);
  if (backend_ == nullptr) return false;
  ++calls_;
  if (!bursts_.empty()) end_bursts();
  if (ready_.front() != nullptr && next_arrival(arrival)) return true;
  // All arrivals of the last read have been taken, so the round ends without another system call.
  if (std::exchange(drained_, false)) return false;
  for (int attempt = 0; attempt < kAttemptsPerPoll; ++attempt) {
    const bool came = backend_->progress();
    if (backend_->connector_ready()) tend_connections();
    if (!came) return ready_.front() != nullptr && next_arrival(arrival);
    body_moved_ |= ready_.front() != nullptr;
    if (next_arrival(arrival)) return drained_ = true;
  }
  return false;
}

void TcpWire::tend_connections() {
  connector_.progress();
  connect_some();
  look_for_silence();
  if (!backend_->failure().empty() && !std::exchange(all_lost_, true)) lose_all();
}

// Reports the loss of all peers, including those without a link, because a receive from such a peer would wait for
// ever.
void TcpWire::lose_all() {
  for (std::uint32_t peer = 0; peer < settings_.world; ++peer) {
    if (reaches(peer)) lose(get_or_make_link(peer), backend_->failure());
  }
}

// Checks for silent hosts. Costs a system call (1 us) for each connection in each second: with 1,000 connections, a
// thousandth of a processor.
void TcpWire::look_for_silence() {
  const std::uint64_t now_ns = clock_.now_ns();
  if (next_check_ns_ == 0 || now_ns < next_check_ns_) return;
  for (TcpLink* link : made_) {
    TcpAnswers answers;
    if (link->state != TcpLink::State::connected || link->receiver.ended()) continue;
    if (read_answers(link->descriptor, answers) && link->silence.look(answers, now_ns)) lose(*link, silence_text());
  }
  next_check_ns_ = connections_ == 0 ? 0 : now_ns + kSilenceCheckNs;
  connector_.wake_at(next_check_ns_);
}

// Bytes that the peer's operating system has acknowledged are in the peer's socket. Other bytes may arrive later.
bool TcpWire::in_transit() const {
  return std::ranges::any_of(made_, [](const TcpLink* link) {
    if (link->state == TcpLink::State::closed) return false;
    if (!link->sender.idle() || unacknowledged_bytes(link->descriptor) > 0) return true;
    // Arrived bytes may be unread in the socket; with io_uring, until the thread that submitted the read fetches them.
    // Bytes that stay in the socket because this receiver has no room (starved) are not in transit.
    return !link->starved && unread_bytes(link->descriptor) > 0;
  });
}

bool TcpWire::next_arrival(Arrival& arrival) {
  for (TcpLink* link = ready_.front(); link != nullptr; link = ready_.front()) {
    if (link->receiver.next(arrival)) {
      last_arrival_ = link;
      if (arrival.kind == Arrival::Kind::whole || arrival.kind == Arrival::Kind::started) answering_ = link;
      if (arrival.kind == Arrival::Kind::lost) {
        close_link(*link);
        // It was the last arrival of this link, which has_ended() now.
        ready_.pop();
      }
      return true;
    }
    ready_.pop();
    // A loss would have been an arrival, so a stream that has ended here ended in an orderly way.
    if (link->receiver.ended()) {
      end_quietly(*link);
    } else if (link->starved) {
      backend_->resume(*link);
    }
  }
  return false;
}

// The peer said goodbye. That is a loss only if messages are still queued for the peer.
void TcpWire::end_quietly(TcpLink& link) {
  if (link.state == TcpLink::State::closed) return;
  const bool unsent = !link.sender.idle();
  close_link(link);
  if (unsent) miss(link);
}

void TcpWire::miss(TcpLink& link) {
  link.receiver.miss("it left the job before it received all messages that were sent to it");
  ready_.add(link);
}

void TcpWire::lose(TcpLink& link, std::string why) {
  link.receiver.end(std::move(why));
  ready_.add(link);
}

// Ends a link: the socket is closed, the wire does not write the landing any more, and queued messages fail.
void TcpWire::close_link(TcpLink& link) {
  if (link.state == TcpLink::State::connected) {
    // The backend must remove the link before the descriptor is closed, because the descriptor's number may be reused
    // at once.
    backend_->remove(link);
    drain(link.descriptor);
    close_if_open(link.descriptor);
    --connections_;
  }
  ++ends_;
  link.state = TcpLink::State::closed;
  link.sender.fail();
}

void TcpWire::end_answer() {
  MARGAY_ASSERT(answering_ != nullptr);
  answering_ = nullptr;
}

void TcpWire::consume() {
  answering_->receiver.consume();
  end_answer();
}

void TcpWire::hold() {
  MARGAY_ASSERT(answering_ != nullptr && ready_.front() == answering_);
  answering_->receiver.hold();
  ready_.pop();
  answering_->held = true;
  held_.push_back(answering_);
  needs_push_ = true;
  end_answer();
}

void TcpWire::accept(const Region& landing, void* cookie) {
  MARGAY_ASSERT(answering_ != nullptr);
  answering_->receiver.accept(landing, cookie);
  end_answer();
}

void TcpWire::refuse() {
  MARGAY_ASSERT(answering_ != nullptr);
  answering_->receiver.refuse();
  end_answer();
}

// ---- for traces

BodyReport TcpWire::body_report() const {
  // The link has been forgotten since its arrival.
  if (last_arrival_ == nullptr) return {};
  const TcpReceiver& receiver = last_arrival_->receiver;
  const bool provided = uring_ && receiver.copied_twice();
  return {provided ? TraceBody::uring_provided : body_taken(), receiver.copied_bytes()};
}

// ---- dormant, and leaving

bool TcpWire::idle() const {
  return std::all_of(made_.begin(), made_.end(), [](const TcpLink* link) { return link->sender.idle(); });
}

bool TcpWire::prepare_wait() {
  if (backend_ == nullptr) return false;
  drained_ = false;
  ++calls_;
  end_bursts();
  return ready_.front() != nullptr || backend_->prepare_wait();
}

void TcpWire::send_goodbye() {
  departed_ = true;
  for (TcpLink* link : made_) {
    // A peer that has ended needs no goodbye.
    if (link->state != TcpLink::State::connected || link->receiver.ended()) continue;
    link->sender.send_goodbye();
    transmit(*link);
  }
}

void TcpWire::shut() {
  for (const TcpLink* link : made_) {
    if (link->state == TcpLink::State::connected) shutdown(link->descriptor, SHUT_WR);
  }
  for (const TcpLink* link : made_) {
    if (link->state == TcpLink::State::connected) drain(link->descriptor);
  }
}

void TcpWire::resume() {
  departed_ = false;
  for (TcpLink* link : made_) link->sender.go_on();
}

}  // namespace margay::sim
