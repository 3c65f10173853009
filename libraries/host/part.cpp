#include "libraries/host/part.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

#include "collectives/comm/construct.hpp"
#include "libraries/host/outgoing.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/rank/call_trace.hpp"
#include "mpi_adi/rank/callback.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "sim/machine/process.hpp"
#include "sim/machine/ways.hpp"

namespace margay::libraries {

using portals::Status;

// Equal names share one string, so memory is bounded by the number of different names. The set's elements never move.
const char* lasting_name(const char* library, const char* step) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string>;  // NOLINT(cppcoreguidelines-owning-memory): for the whole process
  const std::lock_guard guard(mutex);
  return names.insert(std::string(library) + ": " + step).first->c_str();
}

Part::Part(mpi_adi::MpiRank& rank, const host::Library& library, std::size_t slot, Release release)
    : rank_(rank), process_(mpi_adi::current_process()), library_(library), slot_(slot), release_(release) {
  for (const host::NamedPortal& each : library_.portals) portals_ |= std::uint64_t{1} << each.portal;
  sim::BoardLibrary& on_board = rank_.board().libraries[slot_];
  // A library that joins again continues its counts.
  if (on_board.name.data() != std::string_view(library_.name)) on_board = {};
  sim::set_text(on_board.name, library_.name);
  on_board.is_open = 1;
  for (std::size_t i = 0; i < library_.counters.size(); ++i)
    sim::set_text(on_board.counters[i].name, library_.counters[i]);
  // By index plus 1, because 0 is a counter without an equal one.
  on_board.equals = {};
  for (const host::EqualCounters& pair : library_.equal) on_board.equals[pair.one] = pair.other + 1;
  on_board.dividend = library_.quotient.dividend;
  on_board.divisor = library_.quotient.divisor;
  for (const host::NamedPortal& each : library_.portals) {
    rank_.device().name_portal(each.portal, std::string(library_.name) + ": " + each.name);
  }
  // Before the first message of the library: another rank may move at once.
  rank_.process().kernel().target().moves().enable();
  if (rank_.recorder().on()) define_in_trace(rank_.recorder());
}

void Part::define_in_trace(sim::Recorder& recorder) const {
  const std::string name = std::string(library_.name) + ": ";
  for (const host::NamedPortal& each : library_.portals) {
    recorder.define(sim::DefinitionKind::portal, each.portal, 0, name + each.name);
  }
  // Numbered from 0 on at each portal.
  std::map<portals::PortalIndex, std::uint64_t> next;
  for (const host::NamedBits& bits : library_.bits) {
    recorder.define(sim::DefinitionKind::match_bits, sim::entry_number(bits.portal, next[bits.portal]++),
                    bits.match_bits, sim::named_bits_text(bits.ignore_bits, bits.name));
  }
  for (std::size_t i = 0; i < library_.events.size(); ++i) {
    recorder.define(sim::DefinitionKind::library_event, sim::library_event_number(slot_, i), 0,
                    name + library_.events[i]);
  }
}

Status Part::open() {
  // The library's own group: the end of a session or of the world model does not end its messages.
  auto group = std::make_shared<mpi_adi::Group>(*rank_.worlds().own_world().group);
  group->session = mpi_adi::Group::kNoSession;
  const collectives::Made made =
      collectives::create_from_group(rank_, group, std::string("margay host ") + library_.name);
  if (made.communicator == nullptr) {
    return Status::error(std::string("the library ") + library_.name +
                         (made.error_class == MPIX_ERR_PROC_FAILED
                              ? " cannot join the job, because a rank is lost"
                              : " gets no communicator: all handles or contexts are taken; free some first"));
  }
  communicator_ = made.communicator;
  communicator_->name = std::string("the library ") + library_.name;
  return {};
}

// The order: first the barrier, so that no rank detaches its lists while another one may still send to them; release_()
// last, because it deletes this object.
void Part::end() {
  const char* const kCall = lasting_name(library_.name, "end");
  enter(kCall, __builtin_return_address(0));
  if (communicator_ != nullptr) {
    // A lost rank cannot take part; the others then end without it. The library may have left a barrier that a lost
    // rank will end.
    mpi_adi::wait_until(rank_, [this] { return !in_barrier(); });
    static_cast<void>(barrier(kCall));
    barrier_.reset();
    rank_.free_communicator(*communicator_);
  }
  for (const host::NamedPortal& each : library_.portals) {
    detach(each.portal);
    rank_.device().name_portal(each.portal, "");
  }
  // Observers of descriptors need no removal: no message reaches a descriptor of a detached portal.
  for (const auto& [observer, listener] : listeners_) {
    std::erase(rank_.device().round_observers(), listener.get());
    std::erase(rank_.device().loss_observers(), listener.get());
  }
  rank_.board().libraries[slot_].is_open = 0;
  leave(kCall);
  release_(*this);
}

portals::Rank Part::rank() const {
  return rank_.process().rank();
}

std::uint32_t Part::size() const {
  return rank_.process().job().initial_ranks();
}

// The ranks of a simulated machine reach each other by one network, wherever they are; with ways, by its first network.
bool Part::on_node(portals::Rank peer) const {
  const sim::Job& job = rank_.process().job();
  const sim::Kernel& kernel = rank_.process().kernel();
  const sim::WireId usual = kernel.route(peer).id();
  return job.node_of_rank[peer] == job.node || usual == sim::WireId::virtual_ || usual == sim::WireId::shm ||
         kernel.route(peer, sim::way_by(sim::WireId::shm)) != nullptr;
}

std::span<const std::byte, 32> Part::secret() const {
  return rank_.process().job().secret;
}

void Part::enter(const char* name, const void* caller) {
  // First: the members and the board below belong to the thread inside the rank.
  rank_.enter();
  caller_ = caller;
  ++rank_.board().calls;
  if (name != name_on_board_) [[unlikely]] {
    sim::set_name(board_name_, name);
    name_on_board_ = name;
  }
  rank_.board().mpi_call = board_name_;
  if (rank_.recorder().on()) [[unlikely]]
    rank_.call_trace().enter(rank_.recorder(), name, caller);
}

void Part::leave(const char* name) {
  // The trace's event has an MPI error code. A library's call has none, so it is MPI_SUCCESS.
  if (rank_.recorder().on()) [[unlikely]]
    rank_.call_trace().leave(rank_.recorder(), name, MPI_SUCCESS);
  rank_.board().mpi_call[0] = '\0';
  rank_.leave();
}

void Part::begin_thread() {
  mpi_adi::set_thread_process(process_);
}

void Part::lock() {
  rank_.enter();
}

void Part::unlock() {
  rank_.leave();
}

Status Part::check_portal(portals::PortalIndex portal) const {
  if (has(portal)) return {};
  return Status::error(std::string("the library ") + library_.name + " may not attach to portal " +
                       std::to_string(portal) + ", which it has not named; add it to Library::portals");
}

Status Part::attach(portals::PortalIndex portal, portals::MatchList& list) {
  Status status = check_portal(portal);
  return status.ok() ? rank_.process().kernel().table().attach(portal, list) : status;
}

Status Part::attach(portals::PortalIndex portal, portals::Descriptor& memory, const portals::Options& options) {
  Status status = check_portal(portal);
  return status.ok() ? rank_.process().kernel().table().attach(portal, memory, options) : status;
}

void Part::detach(portals::PortalIndex portal) {
  portals::require(has(portal), "a library detaches a portal that it has not named");
  rank_.process().kernel().table().detach(portal);
}

void Part::name_entry(portals::PortalIndex portal, const portals::MatchEntry& entry, const char* name) {
  if (!recording()) return;
  rank_.recorder().define(sim::DefinitionKind::entry, sim::entry_number(portal, entry.order()), portal, name);
}

void Part::hold_when_no_room(portals::PortalIndex portal) {
  portals::require(has(portal), "a library's hold_when_no_room() of a portal that it has not named");
  rank_.process().kernel().target().hold_when_no_room(portal);
}

void Part::check(const portals::Header& header) const {
  portals::require(header.destination.rank < peers(), "a library sends to a rank that the job does not have");
  portals::require(has(header.portal), "a library sends to a portal that it has not named");
}

bool Part::try_send(const portals::Header& header, const portals::Region& body) {
  check(header);
  // A copy, because the caller's header is constant and its length is not set.
  portals::Header sent = header;
  sent.length = body.bytes();
  return rank_.process().kernel().try_send(sent, body);
}

namespace {

// The kernel's code of a way. Ways have the kernel's numbers, so that they are valid for every peer.
sim::WayCode code_of(host::Way way) {
  return static_cast<sim::WayCode>(way);
}

}  // namespace

void Part::check_way(portals::Rank peer, host::Way way) const {
  portals::require(rank_.process().kernel().route(peer, code_of(way)) != nullptr,
                   "a library sends by a way that is not open to this rank; ask find_way() first");
}

bool Part::try_send_by(host::Way way, const portals::Header& header, const portals::Region& body) {
  check(header);
  check_way(header.destination.rank, way);
  portals::Header sent = header;
  sent.length = body.bytes();
  return rank_.process().kernel().try_send(sent, body, code_of(way));
}

std::vector<host::WayRow> Part::ways(portals::Rank peer) const {
  portals::require(peer < size(), "a library asks for the ways to a rank that the job does not have");
  std::vector<host::WayRow> rows;
  for (sim::WayRow& row : sim::way_table(rank_.process().job(), rank_.process().kernel(), peer)) {
    rows.push_back({.wire = sim::kind_of(row.wire).name.data(),
                    .way = static_cast<host::Way>(row.way),
                    .why_not = std::move(row.why_not),
                    .short_limit = rank_.device().short_limit(row.wire),
                    .is_usual = rows.empty()});
  }
  return rows;
}

host::WayRow Part::find_way(portals::Rank peer, const char* wire) const {
  host::WayRow unknown;
  unknown.why_not = "margay has no wire of this name";
  for (host::WayRow& row : ways(peer)) {
    if (std::strcmp(row.wire, wire) == 0) return std::move(row);
  }
  return unknown;
}

std::string Part::way_loss(portals::Rank peer, host::Way way) const {
  return rank_.process().kernel().initiator().way_loss(peer, code_of(way));
}

bool Part::way_lost(portals::Rank peer, host::Way way) const {
  return rank_.process().kernel().initiator().is_way_lost(peer, code_of(way));
}

portals::Status Part::move(portals::Rank peer, host::Way from, host::Way to) {
  sim::Kernel& kernel = rank_.process().kernel();
  for (const host::Way way : {from, to}) {
    if (peer < size() && kernel.route(peer, code_of(way)) != nullptr) continue;
    return portals::Status::error(name() + std::string(": cannot move to another way to rank ") + std::to_string(peer) +
                                  ": the way is not open; start the job with --way");
  }
  if (way_lost(peer, to)) {
    return portals::Status::error(name() + std::string(": cannot move to a way to rank ") + std::to_string(peer) +
                                  " that is lost: " + way_loss(peer, to));
  }
  kernel.move(peer, code_of(from), code_of(to));
  return {};
}

void Part::send(host::Outgoing& message) {
  sim::Transmission& record = record_of(message);
  check(message.header);
  check_way(message.header.destination.rank, message.way);
  portals::require(state(message) != host::SendState::queued,
                   "a library sends a message that is still under way; test state() first");
  // An earlier send has left its state in the record.
  record = {};
  // Without an observer the owner tests state(); the device ignores this kind.
  record.owner_tag_kind = mpi_adi::kOwnerOthers;
  record.header = message.header;
  record.header.length = message.body.bytes();
  record.body = message.body;
  record.way = code_of(message.way);
  if (message.observer != nullptr) {
    record.owner = &listener_of(*message.observer);
    record.owner_tag_kind = mpi_adi::kOwnerListener;
  }
  rank_.process().kernel().send(record);
}

host::SendState Part::state(const host::Outgoing& message) const {
  return state_of(message);
}

void Part::expect_answer(portals::Rank peer) {
  rank_.process().kernel().expect_answer(peer);
}

void Part::count_answer(portals::Rank peer) {
  rank_.process().kernel().count_answer(peer);
}

void Part::observe(portals::Descriptor& descriptor, host::Observer* observer) {
  if (observer == nullptr) return descriptor.set_owner_tag(nullptr, mpi_adi::kOwnerNone);
  descriptor.set_owner_tag(&listener_of(*observer), mpi_adi::kOwnerListener);
}

mpi_adi::Listener& Part::listener_of(host::Observer& observer) {
  std::unique_ptr<ObserverListener>& listener = listeners_[&observer];
  if (listener == nullptr) listener = std::make_unique<ObserverListener>(observer);
  return *listener;
}

void Part::list(std::vector<mpi_adi::Listener*>& listeners, host::Observer& observer, bool on) {
  mpi_adi::Listener* const listener = &listener_of(observer);
  std::erase(listeners, listener);
  if (on) listeners.push_back(listener);
}

void Part::observe_rounds(host::Observer& observer, bool on) {
  list(rank_.device().round_observers(), observer, on);
}

void Part::observe_losses(host::Observer& observer, bool on) {
  list(rank_.device().loss_observers(), observer, on);
}

void Part::wake(portals::Rank peer) {
  // A rank that is alone on its node, and one of a virtual machine, have no such memory.
  const sim::NodeMemory* const memory = rank_.process().node_memory();
  if (memory == nullptr) return;
  if (const std::uint32_t local = memory->local_rank(peer); local != sim::NodeMemory::kNotHere) memory->ring(local);
}

bool Part::progress() {
  const bool has_moved = rank_.device().progress();
  // A program may poll for the answer of a rank that computes.
  if (!has_moved) rank_.process().kernel().count_empty_poll();
  return has_moved;
}

portals::Rank Part::first_lost(portals::Rank peer) const {
  const sim::Initiator& initiator = rank_.process().kernel().initiator();
  // In a job without losses this is the only test.
  if (initiator.losses() == 0) return portals::kAnyRank;
  // A wait for one rank also fails if that rank has left the job regularly, because it sends nothing more. A wait for
  // any rank does not.
  if (peer != portals::kAnyRank) return initiator.is_unreachable(peer) ? peer : portals::kAnyRank;
  for (portals::Rank each = 0; each < size(); ++each) {
    if (initiator.is_lost(each)) return each;
  }
  return portals::kAnyRank;
}

Status Part::lost_rank(const char* call, portals::Rank peer) const {
  return Status::error(std::string(call) + ": rank " + std::to_string(peer) + " is lost (" + loss(peer) + ")");
}

namespace {

// mpi_adi::wait_until() for a thread that has nothing to do. Its wait is a stall only while another thread of the rank
// waits, for which it polls.
template <typename Done>
void wait_idly(mpi_adi::MpiRank& rank, Done done, const mpi_adi::NamedWait& named) {
  if (done()) return;
  mpi_adi::SharedWait shared(rank, done);
  if (!shared.polls()) return;
  sim::Waiter waiter = mpi_adi::waiter_of(rank);
  std::optional<mpi_adi::StallTimer> stall;
  for (;;) {
    const bool moved = rank.device().progress();
    if (done()) return;
    const bool gave_way = shared.after_round(moved);
    if (moved || shared.alone() == stall.has_value()) {
      waiter.restart();
      stall.reset();
      if (!shared.alone()) stall.emplace(rank, &named);
      continue;
    }
    if (gave_way) waiter.record_yield();
    waiter.idle();
    if (waiter.sleeps()) rank.device().about_to_sleep();
    if (stall.has_value()) stall->idle(waiter.idle_ns());
  }
}

}  // namespace

Status Part::wait(const host::Wait& wait, bool (*done)(void*), void* argument) {
  portals::require(wait.peer == portals::kAnyRank || wait.peer < peers(),
                   "a library waits for a rank that the job does not have");
  portals::Rank lost = portals::kAnyRank;
  // An idle thread may get work from another thread, so its wait never proves a deadlock.
  const mpi_adi::NamedWait named{.call = wait.call,
                                 .peer = wait.peer == portals::kAnyRank ? -1 : static_cast<std::int32_t>(wait.peer),
                                 .needs_message = wait.needs_message && !wait.is_idle,
                                 .returns_to = caller_};
  const sim::Initiator& initiator = rank_.process().kernel().initiator();
  const auto over = [&] {
    if (done(argument)) return true;
    // Each round of a wait comes here.
    if (initiator.losses() == 0) [[likely]]
      return false;
    lost = first_lost(wait.peer);
    return lost != portals::kAnyRank;
  };
  if (wait.is_idle) {
    wait_idly(rank_, over, named);
  } else {
    mpi_adi::wait_until(rank_, over, wait.messages, &named);
  }
  // A round may find a loss and also end the wait. over() tests done() first, so such a wait succeeds.
  return lost == portals::kAnyRank ? Status() : lost_rank(wait.call, lost);
}

Status Part::barrier(const char* call) {
  begin_barrier();
  // The loss of a rank ends the barrier, so no test for losses is needed.
  const mpi_adi::NamedWait named{.call = call, .returns_to = caller_};
  mpi_adi::wait_until(
      rank_, [this] { return !in_barrier(); }, 1, &named);
  return end_barrier(call);
}

Status Part::end_barrier(const char* call) {
  portals::require(barrier_ != nullptr && !in_barrier(), "a library ends a barrier that is in progress");
  std::string why;
  if (barrier_->outcome(rank_, MPI_STATUS_IGNORE, why) == MPI_SUCCESS) return {};
  const portals::Rank lost = first_lost(portals::kAnyRank);
  if (lost != portals::kAnyRank) return lost_rank(call, lost);
  return Status::error(std::string(call) + ": the barrier failed: " + why);
}

void Part::begin_barrier() {
  portals::require(!in_barrier(), "a library begins a barrier while another one is in progress");
  barrier_ = std::make_unique<collectives::PlainCallTask<collectives::BarrierCall>>(rank_, *communicator_);
  barrier_->name_it("a library's barrier");
  barrier_->start(rank_);
}

bool Part::in_barrier() {
  return barrier_ != nullptr && !barrier_->complete;
}

bool Part::lost(portals::Rank peer) const {
  return rank_.process().kernel().initiator().is_unreachable(peer);
}

std::string Part::loss(portals::Rank peer) const {
  return rank_.process().kernel().initiator().loss(peer);
}

void Part::run_program(void (*function)(void*), void* argument) {
  // Calls of the library inside `function` have places of their own.
  const void* const caller = caller_;
  mpi_adi::call_program(rank_, [&] {
    function(argument);
    return 0;
  });
  caller_ = caller;
}

bool Part::recording() const {
  return rank_.recorder().on();
}

void Part::record(const host::Event& event) {
  if (!recording()) return;
  sim::TraceEvent traced;
  traced.kind = sim::TraceKind::library_event;
  traced.source = rank();
  traced.destination = event.peer;
  if (event.of_sent) {
    portals::require(event.peer < peers(),
                     "a library records an event about a message to a rank that the job does not have");
    traced.sequence = rank_.process().kernel().registers().next(event.peer, code_of(event.way)) - 1;
  } else if (event.of_arrived != nullptr) {
    // The event has the identity of its message, so the other rank is its source.
    traced.source = event.of_arrived->header.source.rank;
    traced.destination = rank();
    traced.sequence = rank_.device().number_of(*event.of_arrived);
  }
  traced.reason = event.number;
  traced.header = sim::kNoHeader;
  // A library's event has the library's slot in place of match bits (docs/trace_format.md, library_event).
  traced.match_bits = slot_;
  traced.bytes = event.bytes;
  traced.detail = event.detail;
  traced.a = event.a;
  traced.b = event.b;
  rank_.recorder().record(traced);
}

std::uint64_t& Part::counter(std::size_t index) {
  portals::require(index < library_.counters.size(), "a library counts by a counter that it has not named");
  return rank_.board().libraries[slot_].counters[index].count;
}

void Part::abort(int code, const std::string& message) {
  rank_.process().abort(code, std::string(library_.name) + ": " + message);
}

bool Part::has(portals::PortalIndex portal) const {
  return portal < portals::kPortalCount && (portals_ >> portal & 1) != 0;
}

Status Part::set_poll_interval(const std::string& wire, const std::string& interval) {
  sim::PollSetting setting;
  if (Status status = sim::parse_poll_setting(interval, setting); !status.ok()) return status;
  return rank_.process().kernel().set_polling(wire, setting);
}

Status Part::set_polling(const std::string& wire, bool on) {
  return rank_.process().kernel().switch_polling(wire, on);
}

Status Part::poll_counts(const std::string& wire, host::PollCounts& out) {
  sim::PollCounts counts;
  if (Status status = rank_.process().kernel().poll_counts(wire, counts); !status.ok()) return status;
  // The measurement of a poll may have received messages.
  static_cast<void>(progress());
  out = {counts.polls, counts.hits, counts.wasted_ns, counts.interval};
  return {};
}

}  // namespace margay::libraries
