#include "sim/machine/process.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

#include "sim/base/processors.hpp"
#include "sim/base/resources.hpp"
#include "sim/boot/join.hpp"
#include "sim/boot/pmi_client.hpp"
#include "sim/kernel/forward_relay.hpp"
#include "sim/machine/cards.hpp"
#include "sim/machine/ways.hpp"
#include "sim/wire/self_wire.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "sim/wire/shm/shm_wire.hpp"
#include "sim/wire/tcp/tcp_wire.hpp"

namespace margay::sim {

using portals::Status;

namespace {

// The longest time that an orderly end waits for peers to take their queued messages.
constexpr std::uint64_t kFinishLimitNs = 10'000'000'000;

// The routes of rank `me` over several wires of a virtual machine.
Routes virtual_routes(std::uint32_t me, Wire& self, std::vector<VirtualWay> ways) {
  std::vector<Wire*> by_rank(ways.front().usual.size());
  by_rank[me] = &self;
  for (const VirtualWay& way : ways) {
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      if (way.usual[rank]) by_rank[rank] = way.wire;
    }
  }
  Routes routes(by_rank);
  for (VirtualWay& way : ways) {
    if (std::ranges::find(way.further, true) != way.further.end()) routes.add_way(*way.wire, std::move(way.further));
  }
  return routes;
}

}  // namespace

Process::Process(const Clock& clock)
    : clock_(clock),
      recorder_(clock),
      guests_(
          job_, finished_, clock, [this](std::uint32_t place, Wire& wire) { admit(place, wire); },
          [this] { count_guests(); }) {}

Process::~Process() {
  // The coprocessor is stopped first, because its thread uses all the other parts. The wires are destroyed after the
  // kernel, which refers to them.
  coprocessor_.stop();
  kernel_.reset();
  wires_.clear();
  recorder_.close();
  if (wake_descriptor_ >= 0) close(wake_descriptor_);
}

Status Process::start(std::unique_ptr<Process>& out, std::optional<std::uint32_t> thread_rank) {
  std::unique_ptr<Process> process(new Process(real_clock()));
  if (Status status = join(process->job_, &shm_segment_sizes, thread_rank); !status.ok()) return status;
  // The limit is raised before the wires open descriptors. Each rank of the operating system's process opens its own.
  raise_descriptor_limit_for(descriptors_of_job(process->job_.size) * process->job_.process_ranks);
  if (Status status = process->open_board(); !status.ok()) return status;
  // The trace is opened before the kernel is made, so that the kernel's first event is recorded too.
  if (Status status = process->open_trace(); !status.ok()) return status;
  if (Status status = process->open_wires(); !status.ok()) return status;
  if (Status status = process->set_polling(); !status.ok()) return status;
  process->choose_waiting();
  out = std::move(process);
  return {};
}

std::unique_ptr<Process> Process::start_virtual(const VirtualSettings& settings) {
  std::unique_ptr<Process> process(new Process(*settings.clock));
  process->virtual_policy_ = settings.yield_policy;
  process->job_ = settings.job;
  process->call_observer_ = settings.calls;
  if (settings.calls != nullptr) process->recorder_.start_observing();
  auto self = std::make_unique<SelfWire>(portals::ProcessId{0, settings.job.rank}, process->finished_);
  // Messages of the rank to itself do not pass the network.
  Wire& own = *self;
  process->wires_.push_back(std::move(self));
  if (settings.attach_ways) {
    process->make_kernel(virtual_routes(settings.job.rank, own, settings.attach_ways(process->finished_)));
  } else {
    const auto pattern = settings.route_pattern ? settings.route_pattern : Routes::pattern_of(settings.job.size);
    process->make_kernel(Routes(pattern, settings.job.rank, own, settings.attach(process->finished_)));
  }
  process->kernel_->polling().treat_yields_as_wakes();
  // The launcher has checked the option. A wire that no machine has is reported by every rank of a real job.
  static_cast<void>(process->set_polling());
  process->share_waiting(*settings.yield_policy);
  process->wait_means_.policy = WaitPolicy::yield;
  process->wait_means_.reason = "a virtual machine's process";
  return process;
}

void Process::make_kernel(Routes routes) {
  kernel_ = std::make_unique<Kernel>(portals::ProcessId{0, job_.rank}, std::move(routes), finished_, recorder_);
  // A virtual machine has no launcher that reads the counts.
  if (virtual_policy_ != nullptr) return;
  kernel_->initiator().count_wires_in(board_block_->by_wire);
  PollSchedule& polling = kernel_->polling();
  polling.set_wake([this] { wake(); });
  for (const PolledWire& row : polling.rows()) count_polls_on_board(row);
}

void Process::count_polls_on_board(const PolledWire& row) {
  if (!PollSchedule::is_polled(*row.wire)) return;
  for (BoardPolling& board : board_block_->polling) {
    if (board.wire.front() != '\0') continue;
    set_name(board.wire, name(row.wire->id()));
    return kernel_->polling().count_in(row, board.counts);
  }
}

Status Process::set_polling() {
  std::vector<NamedPollSetting> settings;
  Status status = parse_poll_settings(job_.options.text("skip_poll"), settings);
  if (status.ok()) status = kernel_->polling().apply(settings, kernel_->rounds());
  return status.ok() ? status : Status::error("--skip-poll (MARGAY_SKIP_POLL): " + status.sentence());
}

Status Process::open_board() {
  if (job_.board_fd < 0) {
    board_block_->pid = getpid();
    return {};
  }
  if (Status status = Board::attach(job_.board_fd, board_map_); !status.ok()) return status;
  board_block_ = &board_map_.block(job_.rank);  // join() has put the pid there
  findings_.count_in(board_block_->findings);
  return {};
}

bool Process::is_absent(std::uint32_t place) const {
  return board_map_.attached() && place < board_map_.size() && !is_guest(place) &&
         board_map_.block(place).state != RankState::initialized;
}

Status Process::open_guests() {
  bool is_new = false;
  if (Status status = guests_.open(is_new); !status.ok() || !is_new) return status;
  kernel_->add_wire(*guests_.wire());
  count_polls_on_board(kernel_->polling().rows().back());
  if (wake_descriptor_ < 0) open_wake_descriptor();
  if (!coprocessor_round_) return {};
  // The thread begins anew, because it ticks from now on.
  coprocessor_.stop();
  return start_coprocessor(coprocessor_round_);
}

void Process::admit(std::uint32_t place, Wire& wire) {
  kernel_->set_route(place, wire);
  SharedTable::Numbers nodes = job_.node_of_rank.numbers();
  nodes[place] = job_.node_count + place;
  job_.node_of_rank = std::move(nodes);
  if (node_memory_) node_memory_->exclude(place);
}

bool Process::has_left(std::uint32_t place) const {
  if (!board_map_.attached() || place >= board_map_.size()) return false;
  const RankState state = board_map_.block(place).state;
  return state == RankState::finalized || state == RankState::aborting;
}

void Process::place_ended(std::uint32_t place) {
  const bool is_by_shm = shm_ != nullptr && node_memory_.has_value();
  const std::uint32_t local = is_by_shm ? node_memory_->local_rank(place) : NodeMemory::kNotHere;
  if (local != NodeMemory::kNotHere) {
    shm_->process_ended(local);
  } else {
    kernel_->monitor(place);
  }
}

Status Process::open_trace() {
  if (job_.trace_dir.empty()) return {};
  std::uint64_t events = kDefaultTraceEvents;
  if (Status status = job_.options.bytes("trace_events", events); !status.ok()) return status;
  return recorder_.open(job_.trace_dir,
                        {.rank = job_.rank,
                         .size = job_.spawned ? board_map_.used() : job_.initial_ranks(),
                         .places = job_.size,
                         .node = job_.node,
                         .capacity_events = events,
                         .keep_ns = job_.options.seconds_ns("trace_last_seconds", 0),
                         .job = job_.job_id,
                         .walk_steps = job_.options.text("trace_walks") == "1" ? kAllWalkSteps : kDefaultWalkSteps});
}

Status Process::open_wires() {
  std::vector<WireId> order;
  if (Status status = parse_ways(job_.options.text("way"), order); !status.ok()) return status;
  if (Status status = check_forwarding(job_.options); !status.ok()) return status;
  if (Status status = check_ways(job_, order); !status.ok()) return status;
  wires_.push_back(std::make_unique<SelfWire>(portals::ProcessId{0, job_.rank}, finished_));
  // A rank that is alone on its node needs no shared memory. Otherwise the wire is opened even if no message takes it,
  // because it has the memory that the node's ranks share.
  if (job_.ranks_on_node > 1 && job_.node_segment_fd >= 0) {
    if (Status status = open_shm(); !status.ok()) return status;
  }
  // By wire: the ranks that it reaches.
  std::array<std::vector<bool>, kWireCount> reached;
  reached.fill(std::vector<bool>(job_.size));
  std::vector<WireId> usual(job_.size);
  for (std::uint32_t rank = 0; rank < job_.size; ++rank) {
    const std::vector<WireId> wires = applicable_wires(job_, order, rank);
    usual[rank] = wires.front();
    for (const WireId wire : wires) reached[static_cast<std::size_t>(wire)][rank] = true;
  }
  const std::vector<bool>& by_tcp = reached[static_cast<std::size_t>(WireId::tcp)];
  if (job_.node_count > 1 || std::ranges::find(order, WireId::tcp) != order.end()) {
    const bool has_tcp = std::ranges::find(by_tcp, true) != by_tcp.end();
    if (Status status = has_tcp ? open_tcp(by_tcp) : skip_tcp(); !status.ok()) return status;
  }
  if (is_forwarding(job_)) open_forward();
  make_kernel(routes_of(usual, reached));
  if (forward_ != nullptr) connect_forwarding();
  if (job_.predecessors > 0) resume_registers();
  return {};
}

Routes Process::routes_of(const std::vector<WireId>& usual, std::array<std::vector<bool>, kWireCount>& reached) const {
  std::array<Wire*, kWireCount> by_id{};
  for (const auto& wire : wires_) by_id[static_cast<std::size_t>(wire->id())] = wire.get();
  std::vector<Wire*> by_rank;
  by_rank.reserve(usual.size());
  for (const WireId wire : usual) by_rank.push_back(by_id[static_cast<std::size_t>(wire)]);
  Routes routes(by_rank);
  for (std::size_t at = 0; at < kWireCount; ++at) {
    for (std::uint32_t rank = 0; rank < job_.size; ++rank) {
      if (usual[rank] == static_cast<WireId>(at)) reached[at][rank] = false;
    }
    if (std::ranges::find(reached[at], true) != reached[at].end()) routes.add_way(*by_id[at], std::move(reached[at]));
  }
  return routes;
}

Status Process::open_shm() {
  if (Status status = Mapping::map(job_.node_segment_fd, job_.node_segment_bytes, segment_); !status.ok())
    return status;
  // In the order of ranks, because local ranks are numbered in this order.
  std::vector<std::uint32_t> world_rank_of_local;
  for (std::uint32_t rank = 0; rank < job_.size; ++rank) {
    if (job_.node_of_rank[rank] == job_.node) world_rank_of_local.push_back(rank);
  }
  LongMethod long_method = LongMethod::automatic;
  if (Status status = parse_long_method(job_.options.item("method", "long"), long_method); !status.ok()) return status;
  auto wire = std::make_unique<ShmWire>(segment_.bytes(), job_.local_rank, job_.ranks_on_node, world_rank_of_local,
                                        finished_, 0, long_method, clock_);
  if (!wire->status().ok()) return wire->status();
  if (job_.predecessors > 0) wire->resume(received_by_predecessors(world_rank_of_local));
  shm_ = wire.get();
  // All that refers to the wire is set up before the move into wires_, which leaves `wire` empty.
  node_memory_.emplace(wire->layout(), world_rank_of_local, wire->has_memory_barrier(),
                       long_method != LongMethod::ring);
  node_heap_.emplace(wire->layout(), job_.local_rank);
  if (!job_.node_processes.empty()) peer_monitor_.begin(*shm_, job_.node_processes);
  bell_data_ = &wire->bell_data();
  wait_means_.bell = &wire->bell();
  wires_.push_back(std::move(wire));
  return {};
}

std::vector<std::uint64_t> Process::received_by_predecessors(const std::vector<std::uint32_t>& peers) const {
  std::vector<std::uint64_t> received;
  for (const std::uint32_t peer : peers) {
    const std::size_t at = board_map_.pair(peer);
    const std::uint64_t* const dropped = board_map_.dropped(job_.rank) + at * kDropReasons;
    received.push_back(std::accumulate(dropped, dropped + kDropReasons, board_map_.delivered(job_.rank)[at]));
  }
  return received;
}

void Process::resume_registers() {
  for (std::uint32_t peer = 0; peer < board_map_.used(); ++peer) {
    for (std::uint32_t way = 0; way < board_map_.ways(); ++way) {
      const std::size_t at = board_map_.pair(peer, static_cast<WayCode>(way));
      DropCounts dropped;
      std::copy_n(board_map_.dropped(job_.rank) + at * kDropReasons, kDropReasons, dropped.begin());
      const std::uint64_t sent = board_map_.sent(job_.rank)[at];
      const std::uint64_t delivered = board_map_.delivered(job_.rank)[at];
      if (sent == 0 && delivered == 0 && dropped == DropCounts{}) continue;
      kernel_->resume_counts(peer, sent, delivered, dropped, static_cast<WayCode>(way));
    }
  }
}

Status Process::open_tcp(const std::vector<bool>& reached) {
  TcpWire::Settings settings;
  settings.job = job_.job_id;
  settings.rank = job_.rank;
  settings.world = job_.size;
  settings.secret = job_.secret;
  settings.remote.assign(reached.begin(), reached.end());
  if (Status status = choose_tcp(job_, settings); !status.ok()) return status;
  if (board_map_.attached() && job_.size > job_.world_size()) {
    settings.late_card = [this](std::uint32_t rank, std::string& card) {
      card = late_card(job_, board_map_.place(rank).world, rank);
      return !card.empty();
    };
  }
  auto wire = std::make_unique<TcpWire>(std::move(settings), finished_, clock_);
  if (Status status = wire->open(); !status.ok()) return status;
  std::vector<std::string> cards;
  if (Status status = exchange_cards(job_, wire->card(), reached, cards); !status.ok()) return status;
  if (Status status = wire->set_cards(cards); !status.ok()) return status;
  tcp_ = wire.get();
  wires_.push_back(std::move(wire));
  open_wake_descriptor();
  return {};
}

void Process::open_wake_descriptor() {
  wake_descriptor_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  wait_means_.wake_descriptor = wake_descriptor_;
}

Status Process::skip_tcp() {
  std::vector<std::string> none;
  return exchange_cards(job_, {}, std::vector<bool>(job_.size), none);
}

void Process::open_forward() {
  hops_ = std::make_unique<ForwardHops>(ForwardPaths(job_.rank, first_ranks(job_)));
  auto wire = std::make_unique<ForwardWire>(*hops_, finished_);
  forward_ = wire.get();
  wires_.push_back(std::move(wire));
}

void Process::connect_forwarding() {
  relay_ = std::make_unique<ForwardRelay>(*hops_, *forward_);
  relay_->report_to([this](const std::string& line) { report_refused(line); });
  kernel_->set_forwarding(*hops_, *relay_);
  if (!recorder_.on()) return;
  recorder_.define(DefinitionKind::portal, kForwardPortal, kInternalPortal, "hops of forwarded messages");
}

void Process::report_refused(const std::string& line) {
  findings_.add(Finding::forward_refused, {}, line);
  std::fprintf(stderr, "margay: %s%s\n", line.c_str(), id_suffix(Finding::forward_refused).c_str());
}

void Process::choose_waiting() {
  const ProcessorShare share = processor_share();
  processors_ = share.processors;
  const std::string asked = job_.options.text("wait", "auto");
  // Emulated nodes share this host's processors.
  const std::uint32_t ranks_here = board_map_.attached() ? board_map_.used() : job_.ranks_on_node;
  const bool crowded = are_crowded(asked, ranks_here, share);
  wait_means_.policy = crowded ? WaitPolicy::yield : WaitPolicy::spin;
  // Ranks share processors, so cache lines are not pushed towards the receiver's processor: with 8 ranks on 2
  // processors, a body of 16 KiB took 29 us with the push, and 21 us without.
  if (crowded && shm_ != nullptr) shm_->keep_lines();
  wait_means_.reason = asked == "auto" ? std::to_string(ranks_here) + " ranks on " + share.text : "--wait " + asked;
  look_for_company();
  // If ranks outnumber processors, each wait yields, without a look at the company, because some rank always needs the
  // processor, this one or the one for which it waits.
  if (asked == "auto" && !crowded && company_ != nullptr) wait_means_.policy = WaitPolicy::automatic;
}

// The job board has a word for each rank of this host, on all emulated nodes. Without a job board, the node's segment
// has a word for each rank of the node.
void Process::look_for_company() {
  std::vector<std::uint32_t*> words;
  for (std::uint32_t rank = 0; board_map_.attached() && rank < job_.size; ++rank) {
    words.push_back(&board_map_.block(rank).processor);
  }
  for (std::uint32_t rank = 0; !board_map_.attached() && shm_ != nullptr && rank < job_.ranks_on_node; ++rank) {
    words.push_back(&shm_->layout().area(rank).processor);
  }
  if (words.empty()) return;
  rank_processors_ = RankProcessors(std::move(words), board_map_.attached() ? job_.rank : job_.local_rank);
  company_ = std::make_unique<Company>(rank_processors_, real_scheduler());
  company_->update();
  wait_means_.company = company_.get();
}

void Process::count_guests() {
  if (company_ == nullptr) return;
  const std::uint32_t guests = guests_.on_this_host();
  const bool crowded = guests > 0 && static_cast<double>(board_map_.used() + guests) > processors_;
  if (!crowded) {
    crowd_of_guests_.reset();
  } else if (!crowd_of_guests_) {
    crowd_of_guests_.emplace(company_.get());
  }
}

Status Process::start_coprocessor(Coprocessor::Round round) {
  if (virtual_policy_ != nullptr) return {};
  Coprocessor::Settings settings;
  settings.lock = &lock_;
  settings.bell = bell_data_;
  settings.kernel = kernel_.get();
  settings.wake_descriptor = wake_descriptor_;
  // Sockets ring no bell.
  settings.ticks = minds_threads();
  if (minds_threads()) settings.ends = [this] { thread_ends(); };
  if (peer_monitor_.watching()) {
    settings.periodic_check = [this] { peer_monitor_.look(clock_.now_ns()); };
    settings.check_period_ns = PeerMonitor::kLookNs;
  }
  coprocessor_round_ = round;
  return coprocessor_.start(settings, std::move(round));
}

void Process::publish_accounts() {
  BoardBlock& board = *board_block_;
  board.entries_walked = kernel_->target().entries_walked();
  kernel_->polling().update_counts(kernel_->rounds());
  const auto by_kind = [&](CountedProtocol protocol, portals::Kind kind) {
    const WireCounts& counts = kernel_->initiator().counts(kind);
    board.by_protocol[static_cast<std::size_t>(protocol)] = {counts.messages, counts.bytes};
  };
  by_kind(CountedProtocol::get, portals::Kind::get);
  by_kind(CountedProtocol::reply, portals::Kind::reply);
  by_kind(CountedProtocol::acknowledgment, portals::Kind::acknowledgment);
  // A private block has no counts for each peer.
  if (!board_map_.attached()) return;
  for (std::uint32_t peer = 0; peer < size(); ++peer) {
    for (std::uint32_t way = 0; way < board_map_.ways(); ++way) publish_pair(peer, static_cast<WayCode>(way));
  }
}

void Process::publish_pair(std::uint32_t peer, WayCode way) {
  const Registers& registers = kernel_->registers();
  const std::size_t at = board_map_.pair(peer, way);
  board_map_.sent(job_.rank)[at] = registers.sent(peer, way);
  board_map_.delivered(job_.rank)[at] = registers.delivered(peer, way);
  const DropCounts drops = registers.dropped(peer, way);
  std::copy(drops.begin(), drops.end(), board_map_.dropped(job_.rank) + at * kDropReasons);
}

void Process::thread_ends() {
  for (TcpWire* const wire : {tcp_, guests_.wire()}) {
    if (wire != nullptr) wire->thread_ends();
  }
}

void Process::wake() {
  if (bell_data_ != nullptr) BellRinger(*bell_data_, false).ring();
  if (wake_descriptor_ < 0) return;
  const std::uint64_t one = 1;
  static_cast<void>(!write(wake_descriptor_, &one, sizeof one));
}

void Process::finish(const std::function<bool()>& round) {
  // Messages may still wait on a wire that is switched off.
  kernel_->poll_all_wires();
  if (virtual_policy_ == nullptr) kernel_->measure_polls();
  // The goodbyes are sent first, so that the loop below waits for them too.
  for (TcpWire* const wire : {tcp_, guests_.wire()}) {
    if (wire != nullptr) wire->send_goodbye();
  }
  if (forward_ != nullptr) forward_->close();
  std::uint64_t begin = clock_.now_ns();
  // The time is limited, because a peer that hangs never takes its messages. A forwarder waits for the ranks of its
  // node without a limit, because they cannot communicate without it.
  while (!is_drained() && clock_.now_ns() - begin < kFinishLimitNs) {
    peer_monitor_.look(clock_.now_ns());
    const bool moved = round();
    if (!moved && virtual_policy_ != nullptr) wait_means_.yield_policy->yield(0);
    if (forward_ == nullptr) continue;
    // A forwarder that has no forwarded messages of its own does not poll the wire.
    static_cast<void>(forward_->push());
    if (forward_->serves_node()) begin = clock_.now_ns();
    if (!moved) give_processor_up(0);
  }
  if (shm_ != nullptr) shm_->leave(true);
  if (company_ != nullptr) company_->withdraw();
  publish_accounts();
  // The trace is complete from here on. resume() reopens it, and so does a finding at the end of the process.
  recorder_.suspend();
  static_cast<void>(leave(job_));
  // Another thread may resume this process.
  thread_ends();
}

bool Process::forwards_for_others() const {
  return forward_ != nullptr && forward_->forwards_for_others();
}

bool Process::node_has_finished() const {
  return forward_->node_has_parted();
}

bool Process::is_drained() {
  return kernel_->idle() && (forward_ == nullptr || forward_->idle());
}

void Process::resume() {
  recorder_.reopen();
  if (shm_ != nullptr) shm_->leave(false);
  for (TcpWire* const wire : {tcp_, guests_.wire()}) {
    if (wire != nullptr) wire->resume();
  }
  if (forward_ != nullptr) forward_->resume();
}

void Process::shut() {
  for (TcpWire* const wire : {tcp_, guests_.wire()}) {
    if (wire != nullptr) wire->shut();
  }
}

bool Process::signed_off() const {
  return job_.board_fd < 0 && job_.pmi != nullptr && job_.pmi->finalized();
}

void Process::announce_abort(int code, std::string_view message, Finding finding) {
  board_block_->abort_finding = static_cast<std::uint32_t>(finding);
  board_block_->abort_code = code;
  set_text(board_block_->message, message);
  board_block_->state = RankState::aborting;
}

void Process::abort(int code, std::string_view message, Finding finding) {
  // The board is written before abort_job(), because the launcher may read it at once.
  announce_abort(code, message, finding);
  abort_job(job_, code, message, finding_id(finding));
}

}  // namespace margay::sim
