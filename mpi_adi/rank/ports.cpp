#include "mpi_adi/rank/ports.hpp"

#include <algorithm>
#include <utility>

#include "mpi_adi/progress/device.hpp"
#include "sim/base/random.hpp"
#include "sim/machine/guests.hpp"

namespace margay::mpi_adi {

namespace {

// The tags of the messages on Worlds::places(). An answer has the tag of its call's number.
constexpr int kRequestTag = 0;
constexpr std::uint32_t kCallNumbers = 1U << 28U;
constexpr int kStrangerTag = 1 + static_cast<int>(kCallNumbers);

int answer_tag(std::uint32_t number) {
  return 1 + static_cast<int>(number % kCallNumbers);
}

// A meeting's tag has one bit for the process that chose it, and fits the number of an internal_tag
// (collectives/comm/agree).
constexpr std::uint32_t kMeetings = 1U << 27U;

}  // namespace

Ports::Ports(Device& device, Communicator& places, std::uint64_t job, std::uint32_t me, sim::Guests* guests)
    : device_(device), places_(places), job_(job), me_(me), guests_(guests), bytes_(own_bytes()) {
  device_.round_observers().push_back(this);
}

Ports::~Ports() {
  std::erase(device_.round_observers(), this);
}

std::optional<PortName> Ports::open() {
  if (open_.size() >= kOpenPortsMax) return std::nullopt;
  PortName name{job_, me_, sim::random_u64(), {}};
  if (guests_ != nullptr) {
    name.place = guests_->self().place;
    name.address = port_address_of_card(guests_->address());
  }
  // Equal keys of two open ports are improbable, and would mix their callers.
  while (!open_.try_emplace(name.key).second) name.key = sim::random_u64();
  return name;
}

PortResult Ports::find_own(std::string_view text, PortName& name, std::string& why) const {
  if (const portals::Status parsed = parse_port_name(text, name); !parsed.ok()) {
    why = parsed.sentence();
    return PortResult::malformed;
  }
  if (name.job != job_) return PortResult::other_job;
  name.place = sim::rank_of_endpoint_place(name.place);
  if (name.place != me_) return PortResult::other_process;
  return is_open(name.key) ? PortResult::met : PortResult::not_open;
}

PortResult Ports::close(std::string_view text, std::string& why) {
  PortName name;
  const PortResult found = find_own(text, name, why);
  if (found != PortResult::met) return found;
  // Requests that have arrived since the latest round are queued first, and refused with the others.
  notify();
  const auto port = open_.extract(name.key);
  for (const PortCaller& caller : port.mapped()) answer(caller, PortResult::not_open, 0);
  return PortResult::met;
}

std::optional<PortCaller> Ports::next_caller(std::uint64_t key) {
  const auto port = open_.find(key);
  while (port != open_.end() && !port->second.empty()) {
    const PortCaller caller = port->second.front();
    port->second.pop_front();
    if (!device_.is_source_lost(static_cast<int>(caller.place), places_)) return caller;
  }
  return std::nullopt;
}

void Ports::forget(std::uint32_t place) {
  for (auto& port : open_) {
    std::erase_if(port.second, [place](const PortCaller& caller) { return caller.place == place; });
  }
  seen_by_.erase(place);
}

Meeting Ports::accept(const PortCaller& caller) {
  const std::uint32_t tag = new_tag(caller.place);
  answer(caller, PortResult::met, tag);
  return {PortResult::met, caller.place, tag};
}

PortResult Ports::find_other(std::string_view text, PortName& name, std::string& why) const {
  const PortResult found = find_own(text, name, why);
  if (found == PortResult::met) return PortResult::own;
  if (found != PortResult::other_process) return found;
  if (name.place < static_cast<std::uint32_t>(places_.size())) return PortResult::met;
  why = "port_name names process " + std::to_string(name.place) + "; this job has " + std::to_string(places_.size());
  return PortResult::malformed;
}

std::unique_ptr<PortCall> Ports::call(const PortName& name) {
  auto call = std::make_unique<PortCall>();
  const std::uint32_t number = calls_++;
  call->place = name.place;
  // The loss of the port's process ends this receive, too.
  call->request = receive(name.place, answer_tag(number), call->words);
  if (guests_ != nullptr && guests_->contains(name.place)) {
    // The first request is sent as if by place 0, because the caller does not know its place there.
    if (!seen_by_.contains(name.place)) know_as(name.place, 0);
    send(name.place, kStrangerTag, StrangerWords{name.key, number, job_, guests_->self().place, name.place},
         places_for(name.place));
  } else {
    send(name.place, kRequestTag, PortWords{name.key, number, 0}, places_);
  }
  return call;
}

Meeting Ports::end(std::unique_ptr<PortCall> call) {
  const bool lost = call->request->error_class != MPI_SUCCESS || call->request->cancelled;
  device_.free(*call->request);
  if (lost) return {PortResult::owner_lost};
  if (call->words[0] != static_cast<std::uint64_t>(PortResult::met)) return {PortResult::not_open};
  if (guests_ != nullptr && guests_->contains(call->place)) {
    know_as(call->place, static_cast<std::uint32_t>(call->words[2]));
  }
  return {PortResult::met, call->place, static_cast<std::uint32_t>(call->words[1])};
}

Communicator& Ports::places_for(std::uint32_t place) {
  const auto seen = seen_by_.find(place);
  return seen == seen_by_.end() || !guests_->contains(place) ? places_ : *seen->second;
}

void Ports::know_as(std::uint32_t place, std::uint32_t number) {
  std::unique_ptr<Communicator>& seen = seen_by_[place];
  // Other threads may be sending to the process meanwhile.
  if (seen != nullptr && seen->rank() == static_cast<int>(number)) return;
  if (seen == nullptr) {
    seen = std::make_unique<Communicator>();
    seen->context = places_.context;
    seen->collective_context = places_.collective_context;
    seen->name = places_.name;
    seen->error_handler = places_.error_handler;
  }
  auto group = std::make_shared<Group>(*places_.group);
  group->my_rank = static_cast<int>(number);
  seen->set_groups(std::move(group));
}

std::uint32_t Ports::new_tag(std::uint32_t place) {
  const bool is_lower = guests_ == nullptr ? me_ < place : guests_->is_before(me_, place);
  return (meetings_++ % kMeetings) << 1U | (is_lower ? 1U : 0U);
}

void Ports::answer(const PortCaller& caller, PortResult result, std::uint32_t tag) {
  send(caller.place, answer_tag(caller.number), PortWords{static_cast<std::uint64_t>(result), tag, caller.place},
       places_for(caller.place));
}

void Ports::send(std::uint32_t place, int tag, std::span<const std::uint64_t> words, Communicator& places) {
  Passage& passage = leaving_.emplace_back();
  std::ranges::copy(words, passage.words.begin());
  passage.request =
      device_.start_send({SendMode::standard, passage.words.data(), static_cast<std::int64_t>(words.size_bytes()),
                          &bytes_, static_cast<int>(place), tag, &places, Context::point_to_point});
  sweep();
}

Request* Ports::receive(std::uint32_t place, int tag, std::span<std::uint64_t> words) {
  return device_.start_receive({words.data(), static_cast<std::int64_t>(words.size_bytes()), &bytes_,
                                static_cast<int>(place), tag, &places_, Context::point_to_point});
}

void Ports::sweep() {
  std::erase_if(leaving_, [this](const Passage& passage) {
    if (!passage.request->complete) return false;
    // An error means that the other process is lost; a process that waits for its answer detects that itself.
    device_.free(*passage.request);
    return true;
  });
}

void Ports::take_request(std::uint32_t place, std::span<const std::uint64_t> words) {
  const PortCaller caller{place, static_cast<std::uint32_t>(words[1])};
  const auto port = open_.find(words[0]);
  if (port == open_.end() || port->second.size() >= kWaitingCallersMax) {
    return answer(caller, PortResult::not_open, 0);
  }
  port->second.push_back(caller);
}

// The connection of the caller exists, and has proved that the caller has the user's key.
void Ports::take_stranger(const StrangerWords& words) {
  const auto caller_place = static_cast<std::uint32_t>(words[3]);
  std::uint32_t place = 0;
  if (guests_ == nullptr || guests_->wire() == nullptr || words[2] == job_) return;
  if (!guests_->find({words[2], caller_place}, {}, place).ok()) return;
  know_as(place, static_cast<std::uint32_t>(words[4]));
  take_request(place, words);
}

void Ports::receive_requests(int tag) {
  Envelope envelope;
  while (device_.probe(MPI_ANY_SOURCE, tag, places_, envelope)) {
    Passage& passage = arriving_.emplace_back();
    passage.place = static_cast<std::uint32_t>(envelope.source);
    passage.of_stranger = tag == kStrangerTag;
    const std::size_t words = passage.of_stranger ? passage.words.size() : std::tuple_size_v<PortWords>;
    passage.request = receive(passage.place, tag, std::span(passage.words).first(words));
  }
}

// Requests are short, so their bodies are usually whole when they are found; otherwise a later round takes them.
void Ports::notify() {
  receive_requests(kRequestTag);
  if (guests_ != nullptr && guests_->wire() != nullptr) receive_requests(kStrangerTag);
  for (auto passage = arriving_.begin(); passage != arriving_.end();) {
    if (!passage->request->complete) {
      ++passage;
      continue;
    }
    const std::size_t bytes = passage->of_stranger ? sizeof(StrangerWords) : sizeof(PortWords);
    const bool whole = passage->request->error_class == MPI_SUCCESS && passage->request->bytes == bytes;
    device_.free(*passage->request);
    if (whole && passage->of_stranger) take_stranger(passage->words);
    if (whole && !passage->of_stranger) take_request(passage->place, passage->words);
    passage = arriving_.erase(passage);
  }
  if (!leaving_.empty()) sweep();
}

}  // namespace margay::mpi_adi
