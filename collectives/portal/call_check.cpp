#include "collectives/portal/call_check.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "mpi_adi/device/match_bits.hpp"
#include "portals/base/assert.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/board.hpp"

namespace margay::collectives {

namespace {

// Room for reports that have arrived and are not compared yet. When it is full, reports are held on their wires.
constexpr std::size_t kHeapBytes = std::size_t{16} << 20;

}  // namespace

CallCheck::CallCheck(Host& host, sim::WireCounts& sent, sim::Findings& findings, sim::SourceLines& lines)
    : host_(host), sent_(sent), findings_(findings), lines_(lines), memory_(kHeapBytes), block_(memory_.buffer()) {
  block_.set_owner_tag(static_cast<mpi_adi::Listener*>(this), mpi_adi::kOwnerListener);
  catch_all_.set({.match_bits = 0, .ignore_bits = ~portals::MatchBits{0}}, block_, {.save = portals::Save::both});
  list_.append(catch_all_);
  sim::Kernel& kernel = host_.kernel();
  const bool attached = kernel.table().attach(mpi_adi::kCallCheckPortal, list_).ok();
  MARGAY_ASSERT(attached);
  kernel.target().hold_when_no_room(mpi_adi::kCallCheckPortal);
}

CallCheck::~CallCheck() {
  host_.kernel().table().detach(mpi_adi::kCallCheckPortal);
  list_.remove(catch_all_);
}

void CallCheck::begin(CallReport report, const mpi_adi::Communicator& communicator) {
  const mpi_adi::Communicator& all = communicator.both != nullptr ? *communicator.both : communicator;
  CallRecord& record = report.record;
  record.key = {all.generation, all.collective_context, all.group->world_ranks.front()};
  record.members = static_cast<std::uint32_t>(all.size());
  record.rank = static_cast<std::uint32_t>(all.rank());
  last_ = record.key;
  if (record.members == 1) {
    judge_alone(std::move(report));
  } else if (judges()) {
    handle_report(std::move(report), kJudge);
  } else {
    send(report.message());
  }
}

// Compares what this process sends to itself with what it expects from itself.
void CallCheck::judge_alone(CallReport report) {
  CallMatch alone(&lines_);
  const std::string differing = alone.add(std::move(report), host_.kernel().me().rank);
  if (!differing.empty()) report_mismatch(differing, alone.differing());
}

void CallCheck::finish(CallReport report, const mpi_adi::Communicator& world) {
  report.record.ends = true;
  const auto members = static_cast<std::uint32_t>(world.size());
  begin(std::move(report), world);
  if (!judges() || members == 1) return;
  sim::Kernel& kernel = host_.kernel();
  // A lost process never reports its end: waiting for it would hang MPI_Finalize.
  auto all_ended = [&] { return ended_ == members || kernel.initiator().losses() != 0; };
  if (!all_ended()) host_.wait(all_ended, 1);
  if (ended_ == members) report_unmade();
}

void CallCheck::send(std::vector<std::byte> message) {
  ++sent_.messages;
  sent_.bytes += message.size();
  // Frees the memory of the messages that the wires have taken over.
  std::erase_if(sendings_, [](const Sending& sending) { return sending.transmission.given_back; });
  portals::Header header;
  header.destination = {0, kJudge};
  header.portal = mpi_adi::kCallCheckPortal;
  header.length = message.size();
  sim::Kernel& kernel = host_.kernel();
  if (kernel.try_send(header, portals::Region(message.data(), message.size()))) return;
  Sending& sending = sendings_.emplace_back();
  sending.message = std::move(message);
  sending.transmission.header = header;
  sending.transmission.body = portals::Region(sending.message.data(), sending.message.size());
  sending.transmission.owner_tag_kind = mpi_adi::kOwnerOthers;
  kernel.send(sending.transmission);
}

// A question is a record with a key and without members; no report has 0 members.
void CallCheck::ask() {
  if (judges()) return;
  answered_ = false;
  CallReport question;
  question.record.key = last_;
  question.record.members = 0;
  send(question.message());
}

bool CallCheck::settled() const {
  if (!judges()) return answered_;
  const auto found = streams_.find(last_);
  // All calls of an erased stream have been compared, and a reported difference explains the error already.
  return found == streams_.end() || found->second.differs;
}

// A long message may still be arriving while a later one of its sender is complete. Reports of one sender are handled
// in their order.
void CallCheck::notify() {
  std::vector<std::uint32_t> behind;
  for (portals::ArrivedMessage* message = block_.first(); message != nullptr;) {
    portals::ArrivedMessage* const next = block_.next(*message);
    const std::uint32_t from = message->header.source.rank;
    if (!message->complete) {
      behind.push_back(from);
    } else if (std::ranges::find(behind, from) == behind.end()) {
      receive_message(*message);
      block_.release(*message);
    }
    message = next;
  }
}

void CallCheck::receive_message(const portals::ArrivedMessage& message) {
  const std::uint32_t from = message.header.source.rank;
  // An answer is a message without a body.
  if (message.header.length == 0) {
    answered_ = true;
  } else if (std::optional<CallReport> report = CallReport::read(message.body)) {
    report->record.members == 0 ? handle_question(report->record.key, from) : handle_report(std::move(*report), from);
  }
}

void CallCheck::handle_report(CallReport report, std::uint32_t from) {
  if (report.record.ends) ++ended_;
  const auto found = streams_.try_emplace(report.record.key).first;
  Stream& stream = found->second;
  if (stream.members == 0) stream.members = report.record.members;
  if (!stream.out_of_step && stream.takes(report.record, from)) compare(stream, std::move(report), from);
  if (!stream.differs && !stream.open.empty()) return;
  // All open calls are compared, or a difference is reported, so no settle() needs to wait longer.
  for (const std::uint32_t asker : stream.askers) answer(asker);
  stream.askers.clear();
  // All members have made the same number of calls, so the stream may begin again with new counts.
  if (!stream.out_of_step && stream.open.empty()) streams_.erase(found);
}

// A report may come from a faulty process, so one that no member can have sent is discarded. An assertion would end
// this process.
bool CallCheck::Stream::takes(const CallRecord& record, std::uint32_t from) const {
  const auto made = at.find(from);
  return record.members == members && (made == at.end() ? 0 : made->second) >= first;
}

void CallCheck::compare(Stream& stream, CallReport report, std::uint32_t from) {
  std::uint64_t& made = stream.at[from];
  MARGAY_ASSERT(made >= stream.first && made - stream.first <= stream.open.size());
  auto index = static_cast<std::size_t>(made++ - stream.first);
  if (index >= stream.open.size()) stream.open.emplace_back(&lines_);
  auto call = stream.open.begin();
  while (index-- > 0) ++call;
  const std::string differing = call->add(std::move(report), from);
  if (!differing.empty()) {
    stream.differs = true;
    report_mismatch(
        differing + (call->out_of_step()
                         ? "; the members are out of step, so later calls on this communicator are not compared"
                         : ""),
        call->differing());
  }
  if (call->out_of_step()) {
    stream.out_of_step = true;
    stream.open.clear();
  }
  // Removes the calls that all members have reported, oldest first.
  while (!stream.open.empty() && stream.open.front().seen() >= stream.members) {
    stream.open.pop_front();
    ++stream.first;
  }
}

void CallCheck::handle_question(const CallRecord::Key& key, std::uint32_t from) {
  const auto found = streams_.find(key);
  // Nothing is open, or the difference is reported: answer at once.
  if (found == streams_.end() || found->second.differs) return answer(from);
  found->second.askers.push_back(from);
}

void CallCheck::answer(std::uint32_t to) {
  portals::Header header;
  header.destination = {0, to};
  header.portal = mpi_adi::kCallCheckPortal;
  sim::Kernel& kernel = host_.kernel();
  if (kernel.try_send(header, {})) return;
  Sending& sending = sendings_.emplace_back();
  sending.transmission.header = header;
  sending.transmission.owner_tag_kind = mpi_adi::kOwnerOthers;
  kernel.send(sending.transmission);
}

// The finding's record names the first of the two calls and its rank, and the rank of the second call.
void CallCheck::report_mismatch(const std::string& calls, std::span<const CallMatch::Reported> of) {
  if (++printed_ > kLinesMax) return findings_.count(1);
  MARGAY_ASSERT(!of.empty());
  const CallRecord& call = of.front().record;
  sim::FindingRecord found;
  found.rank = of.front().by;
  if (of.back().by != found.rank) found.other_rank = static_cast<std::int32_t>(of.back().by);
  sim::set_name(found.call, call.function.data());
  sim::set_site(found, lines_.location_suffix(call.location));
  sim::set_text(found.communicator, call.communicator.data());
  findings_.add(sim::Finding::collective_mismatch, found, calls);
  std::fprintf(stderr, "margay: mismatched collective calls: %s%s%s\n", sim::one_line(calls).c_str(),
               printed_ == kLinesMax ? " (the last one that is printed)" : "",
               id_suffix(sim::Finding::collective_mismatch).c_str());
}

// All processes have reported their last call. A stream that is still open belongs to a communicator on which some
// members made fewer calls.
void CallCheck::report_unmade() {
  for (const auto& [key, stream] : streams_) {
    if (stream.out_of_step || stream.open.empty()) continue;
    const CallMatch& call = stream.open.front();
    report_mismatch(call.first() + ", a call that " + std::to_string(stream.members - call.seen()) + " of the " +
                        std::to_string(stream.members) + " members never make",
                    {&call.first_report(), 1});
  }
}

}  // namespace margay::collectives
