#include "sim/program/program.hpp"

#include <algorithm>
#include <cstdio>

#include "sim/machine/ways.hpp"
#include "sim/program/control.hpp"

namespace margay::sim {

using portals::Header;
using portals::Kind;
using portals::Region;
using portals::Status;

namespace {

// Owner tag of a program's transmissions; the kernel's own have kOwnerKernel.
constexpr std::uint32_t kOwnerProgram = 1;
// One per process, because the job has one place for it.
bool one_is_there = false;

}  // namespace

Sending::~Sending() {
  portals::require(done(), "a Sending is destroyed while its message is being sent; wait_until() it is done()");
}

Program::Program() = default;

Status Program::start(std::unique_ptr<Program>& out) {
  if (one_is_there) {
    return Status::error("this process has a Program already; start one, and pass it to the code that needs it");
  }
  // On a failure below, the destructor undoes all earlier steps.
  std::unique_ptr<Program> program(new Program());
  if (Status status = Process::start(program->process_); !status.ok()) return status;
  Process& process = *program->process_;
  // A program addresses its peers by their places, which are ranks only for those that began with the job.
  if (process.job().spawned) {
    return Status::error(
        "a program on portals cannot be started by MPI_Comm_spawn: start it with `margay run`, or use MPI in it");
  }
  // Hops take a portal that belongs to the program, and settle() would count them.
  if (is_forwarding(process.job())) {
    return Status::error("a program on portals cannot forward messages; omit --forward (MARGAY_FORWARD)");
  }
  // The owner is inside the process lock from here on, except in compute(). It enters before the coprocessor starts.
  process.lock().owner_enter();
  program->asked_.resize(process.size());
  program->control_ = std::make_unique<Control>(program->control_means());
  if (Status status = program->control_->attach(); !status.ok()) return status;
  Program* const self = program.get();
  const Status bypass = process.start_coprocessor([self] { return self->round(); });
  program->has_bypass_ = bypass.ok();
  if (!bypass.ok()) std::fprintf(stderr, "margay: rank %u: %s\n", process.rank(), bypass.sentence().c_str());
  if (process.recorder().on()) {
    program->portals_in_trace_ =
        std::make_unique<PortalsInTrace>(program->names_, process.recorder(), process.kernel().table(), kControlPortal);
    process.kernel().target().set_match_probe(program->portals_in_trace_->probe());
  }
  program->stall_report_ns_ = process.job().options.seconds_ns("stall_seconds", kStallReportNs);
  one_is_there = true;
  process.board().on_portals = 1;
  process.board().state = RankState::initialized;
  out = std::move(program);
  return {};
}

ControlMeans Program::control_means() {
  return {*process_, kControlPortal,
          [this](const portals::Header& header, const portals::Region& body) { return send(header, body); },
          [this] { return progress(); },
          [this](const char* call, portals::Rank from, std::uint64_t limit_ns, const ControlMeans::Done& done) {
            ProgramWait wait(*this, call, static_cast<std::int32_t>(from), limit_ns,
                             ProgramWait::FailureCause::losses_and_holds);
            while (!done()) {
              if (Status status = wait.after_round(progress()); !status.ok()) return status;
            }
            return Status();
          }};
}

Program::~Program() {
  if (process_ == nullptr) return;
  one_is_there = false;
  // Stopped before the members that the coprocessor's rounds use are destroyed.
  process_->stop_coprocessor();
  // The probe is removed, because portals_in_trace_ is destroyed before the process that calls it.
  process_->kernel().target().set_match_probe({});
  if (process_->lock().owner_inside()) process_->lock().owner_leave();
}

void Program::name(portals::PortalIndex portal, std::string name) {
  if (portals_in_trace_ != nullptr) portals_in_trace_->portal(portal, name);
  names_.set(portal, std::move(name));
}

Status Program::check_call() const {
  if (finished_) {
    return Status::error(
        "finish() was this program's last call, and the process is out of the job; make the call before it");
  }
  if (!process_->lock().owner_inside()) {
    return Status::error("inside compute() messages are the coprocessor's; make the call before compute(), or after");
  }
  return {};
}

Status Program::check(const HeaderValues& values, const Region& body) const {
  if (Status status = check_call(); !status.ok()) return status;
  if (body.contiguous() && body.bytes() != 0 && body.single().base == nullptr) {
    return Status::error("the body has a length, " + std::to_string(body.bytes()) +
                         " bytes, and no address; name the memory it lies in");
  }
  // Checked here, because the kernel asserts it.
  if (values.destination >= size()) {
    return Status::error("rank " + std::to_string(values.destination) + " is not in this job, which has ranks 0 to " +
                         std::to_string(size() - 1) + "; choose one of those, or start more");
  }
  if (values.portal >= kControlPortal) {
    return Status::error("portal " + std::to_string(values.portal) + " is not a program's; choose one from 0 to " +
                         std::to_string(kControlPortal - 1));
  }
  if (values.return_portal >= kControlPortal && values.return_portal != portals::kNoPortal) {
    return Status::error("return portal " + std::to_string(values.return_portal) +
                         " is not a program's; choose one from 0 to " + std::to_string(kControlPortal - 1) +
                         ", or kNoPortal");
  }
  return {};
}

Header Program::header_of(Kind kind, const HeaderValues& values, std::uint64_t length) {
  Header header;
  header.kind = kind;
  header.destination = {0, values.destination};
  header.portal = values.portal;
  header.match_bits = values.match_bits;
  header.offset = values.offset;
  header.return_portal = values.return_portal;
  header.return_match_bits = values.return_match_bits;
  header.return_offset = values.return_offset;
  header.user_data = values.user_data;
  (kind == Kind::get ? header.return_length : header.length) = length;
  return header;
}

Status Program::put(const HeaderValues& values, const Region& body) {
  if (Status status = check(values, body); !status.ok()) return status;
  // Recorded before the message is sent, because the answer may arrive while put() still sends.
  if (values.return_portal != portals::kNoPortal) asked(values.destination);
  return send(header_of(Kind::put, values, body.bytes()), body);
}

Status Program::get(const HeaderValues& values, std::uint64_t length) {
  if (Status status = check(values, {}); !status.ok()) return status;
  if (values.return_portal == portals::kNoPortal) {
    return Status::error("a get needs a return portal, where its reply goes; set return_portal");
  }
  asked(values.destination);
  return send(header_of(Kind::get, values, length), {});
}

Status Program::start_put(const HeaderValues& values, const Region& body, Sending& sending) {
  if (!sending.done()) {
    return Status::error(
        "start_put() with a Sending whose message is still on its way; wait until it is done(), or use "
        "another one");
  }
  if (Status status = check(values, body); !status.ok()) return status;
  if (values.return_portal != portals::kNoPortal) asked(values.destination);
  start_sending(header_of(Kind::put, values, body.bytes()), body, sending);
  return {};
}

void Program::start_sending(const Header& header, const Region& body, Sending& sending) {
  Transmission& transmission = sending.transmission_;
  transmission = {};
  // Sent at once: the common case, in which `sending` is done at its return.
  if (kernel().try_send(header, body)) {
    transmission.state = Transmission::State::sent;
    return;
  }
  transmission.header = header;
  transmission.body = body;
  transmission.owner = &sending;
  transmission.owner_tag_kind = kOwnerProgram;
  sending.unfinished_ = true;
  kernel().send(transmission);
}

void Program::stop(Sending& sending) {
  // No effect on one that is done, because the kernel does not refer to it any more.
  if (!sending.done()) kernel().stop(sending.transmission_);
}

// The body's memory must be the caller's at the return in any case, so this wait does not end early.
Status Program::send(const Header& header, const Region& body) {
  if (kernel().try_send(header, body)) return {};
  Sending sending;
  start_sending(header, body, sending);
  ProgramWait wait(*this, header.kind == Kind::get ? "Program::get" : "Program::put",
                   static_cast<std::int32_t>(header.destination.rank), kNoLimitNs, ProgramWait::FailureCause::nothing);
  while (!sending.done()) static_cast<void>(wait.after_round(progress()).ok());
  return sending.failed() ? lost_peer(header.destination.rank) : Status();
}

Status Program::lost_peer(portals::Rank peer) const {
  return Status::error("rank " + std::to_string(peer) + " is lost: " + loss(peer) +
                       "; end this program, or go on without it");
}

bool Program::progress() {
  require_inside();
  portals::require(!finished_, "progress() after finish(), which was this program's last call");
  return round();
}

bool Program::round() {
  Kernel& kernel = process_->kernel();
  bool moved = kernel.progress();
  while (Transmission* const transmission = kernel.next_finished()) {
    moved = true;
    if (transmission->owner_tag_kind == kOwnerProgram) static_cast<Sending*>(transmission->owner)->unfinished_ = false;
  }
  return moved;
}

void Program::asked(portals::Rank peer) {
  // A list beside the flags: expect_answers() must not scan thousands of ranks.
  if (asked_[peer]) return;
  asked_[peer] = true;
  asked_list_.push_back(peer);
}

void Program::expect_answers() {
  for (const portals::Rank peer : asked_list_) process_->kernel().expect_answer(peer);
  expected_ = asked_list_.size();
}

void Program::stop_expecting() {
  for (std::size_t i = 0; i < expected_; ++i) process_->kernel().count_answer(asked_list_[i]);
  expected_ = 0;
}

// The coprocessor ticks while a message is in flight or may be answered, so that requested answers make progress.
void Program::leave_kernel() {
  require_inside();
  expect_answers();
  if (kernel().unfinished()) process_->arm_coprocessor();
  process_->lock().owner_leave();
}

void Program::enter_kernel() {
  process_->lock().owner_enter();
  // The coprocessor no longer needs to wake these ranks, because the program polls itself now.
  stop_expecting();
}

// MPI counts its puts by protocol, so Process leaves them out. Puts of barrier() and settle() are not the program's.
void Program::publish_puts() {
  const WireCounts& sent = process_->kernel().initiator().counts(Kind::put);
  process_->board().by_protocol[static_cast<std::size_t>(CountedProtocol::put)] = {
      sent.messages - control_->sent(), sent.bytes - control_->sent() * sizeof(Sums)};
}

Status Program::barrier() {
  if (Status status = check_call(); !status.ok()) return status;
  return control_->barrier("Program::barrier", kNoLimitNs);
}

Status Program::settle(std::uint64_t limit_ns) {
  if (Status status = check_call(); !status.ok()) return status;
  return control_->settle("Program::settle", limit_ns, std::min(limit_ns, kHoldLimitNs));
}

// Leaves the job even when settling failed, so that the launcher need not wait for this rank.
Status Program::finish() {
  if (Status status = check_call(); !status.ok()) return status;
  process_->kernel().poll_all_wires();
  Status settled = control_->settle("Program::finish", kNoLimitNs, kHoldLimitNs);
  finished_ = true;
  // From here on this thread makes the last rounds alone.
  process_->stop_coprocessor();
  process_->finish([this] { return round(); });
  publish_puts();
  process_->board().state = RankState::finalized;
  return settled;
}

}  // namespace margay::sim
