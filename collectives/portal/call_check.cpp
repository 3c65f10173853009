#include "collectives/portal/call_check.hpp"

#include <cstdio>
#include <cstring>
#include <string>

#include "mpi_adi/device/portal_numbers.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

constexpr std::size_t kHeapBytes = std::size_t{16} << 20;

// Match bits: a record has none of these.
constexpr portals::MatchBits kQuestion = 1;  // its body is a key
constexpr portals::MatchBits kAnswer = 2;

std::string say(std::uint32_t by, const CallRecord& record) {
  return "rank " + std::to_string(by) + " calls " + record.words.data();
}

}  // namespace

bool CallRecord::fits(const CallRecord& other) const {
  return std::strcmp(function.data(), other.function.data()) == 0 && root == other.root &&
         operation == other.operation && bytes == other.bytes && signature.fits(other.signature);
}

CallCheck::CallCheck(Host& host, sim::WireCounts& sent, std::uint32_t& findings)
    : host_(host), sent_(sent), findings_(findings), memory_(kHeapBytes), block_(memory_.buffer()) {
  block_.set_owner(static_cast<mpi_adi::Listener*>(this), mpi_adi::kOwnerListener);
  catch_all_.set({.match_bits = 0, .ignore_bits = ~portals::MatchBits{0}}, block_, {.save = portals::Save::both});
  list_.append(catch_all_);
  sim::Kernel& kernel = host_.kernel();
  const bool attached = kernel.table().attach(mpi_adi::kCallCheckPortal, list_).ok();
  MARGAY_ASSERT(attached);
  kernel.hold_when_no_room(mpi_adi::kCallCheckPortal);
}

CallCheck::~CallCheck() {
  host_.kernel().table().detach(mpi_adi::kCallCheckPortal);
  list_.remove(catch_all_);
}

void CallCheck::begin(CallRecord& record, const mpi_adi::Communicator& communicator) {
  const mpi_adi::Communicator& all = communicator.both != nullptr ? *communicator.both : communicator;
  record.key = {all.generation, all.collective_context, all.group->world_ranks.front()};
  record.members = static_cast<std::uint32_t>(all.size());
  last_ = record.key;
  if (record.members == 1) return;
  if (judges()) {
    hear(record, kJudge);
  } else {
    send(record);
  }
}

void CallCheck::finish(CallRecord& record, const mpi_adi::Communicator& world) {
  record.ends = true;
  begin(record, world);
  if (!judges() || record.members == 1) return;
  sim::Kernel& kernel = host_.kernel();
  auto all_ended = [&] { return ended_ == kernel.ranks() || kernel.losses() != 0; };
  if (!all_ended()) host_.wait(all_ended, 1);
  if (ended_ == kernel.ranks()) tell_unmade();
}

void CallCheck::send(CallRecord record) {
  ++sent_.messages;
  sent_.bytes += sizeof record;
  std::erase_if(under_way_, [](const Sending& sending) { return sending.transmission.given_back; });
  portals::Header header;
  header.destination = {0, kJudge};
  header.portal = mpi_adi::kCallCheckPortal;
  header.length = sizeof record;
  sim::Kernel& kernel = host_.kernel();
  if (kernel.try_send(header, portals::Region(&record, sizeof record))) return;
  Sending& sending = under_way_.emplace_back();
  sending.record = record;
  sending.transmission.header = header;
  sending.transmission.body = portals::Region(&sending.record, sizeof sending.record);
  sending.transmission.owner_kind = mpi_adi::kOwnerOthers;
  kernel.send(sending.transmission);
}

// The key goes as a record without words.
void CallCheck::ask() {
  if (judges()) return;
  answered_ = false;
  CallRecord question;
  question.key = last_;
  question.members = 0;
  send(question);
}

bool CallCheck::settled() const {
  if (!judges()) return answered_;
  const auto found = streams_.find(last_);
  return found == streams_.end() || found->second.told;
}

void CallCheck::told() {
  for (portals::ArrivedMessage* message = block_.first(); message != nullptr;) {
    portals::ArrivedMessage* const next = block_.next(*message);
    if (message->complete) {
      const std::uint32_t from = message->header.source.rank;
      CallRecord record;
      if (message->header.length == 0) {
        answered_ = true;
      } else if (message->header.length == sizeof record) {
        std::memcpy(&record, message->body.base, sizeof record);
        record.function.back() = record.words.back() = '\0';
        record.members == 0 ? hear_question(record.key, from) : hear(record, from);
      }
      block_.release(*message);
    }
    message = next;
  }
}

void CallCheck::hear(const CallRecord& record, std::uint32_t from) {
  if (record.ends) ++ended_;
  const auto found = streams_.try_emplace(record.key).first;
  Stream& stream = found->second;
  if (!stream.told) compare(stream, record, from);
  if (!stream.told && !stream.open.empty()) return;
  for (const std::uint32_t asker : stream.askers) answer(asker);
  stream.askers.clear();
  // All members have made the same number of calls: it may begin anew.
  if (!stream.told) streams_.erase(found);
}

void CallCheck::compare(Stream& stream, const CallRecord& record, std::uint32_t from) {
  auto place = static_cast<std::size_t>(stream.at[from]++ - stream.first);
  if (place >= stream.open.size()) {
    stream.open.push_back({record, from});
  } else {
    auto call = stream.open.begin();
    while (place-- > 0) ++call;
    if (!call->record.fits(record)) {
      tell(*call, record, from);
      stream.told = true;
      stream.open.clear();
      return;
    }
    ++call->seen;
  }
  while (!stream.open.empty() && stream.open.front().seen == record.members) {
    stream.open.pop_front();
    ++stream.first;
  }
}

void CallCheck::hear_question(const CallRecord::Key& key, std::uint32_t from) {
  const auto found = streams_.find(key);
  if (found == streams_.end() || found->second.told) return answer(from);
  found->second.askers.push_back(from);
}

void CallCheck::answer(std::uint32_t to) {
  portals::Header header;
  header.destination = {0, to};
  header.portal = mpi_adi::kCallCheckPortal;
  sim::Kernel& kernel = host_.kernel();
  if (kernel.try_send(header, {})) return;
  Sending& sending = under_way_.emplace_back();
  sending.transmission.header = header;
  sending.transmission.owner_kind = mpi_adi::kOwnerOthers;
  kernel.send(sending.transmission);
}

void CallCheck::tell(const Stream::Call& one, const CallRecord& other, std::uint32_t by) {
  ++findings_;
  std::fprintf(stderr, "margay: collective calls do not fit each other: %s, where %s\n",
               say(one.by, one.record).c_str(), say(by, other).c_str());
}

// Everybody has ended. A stream that is still open is of a communicator on which some have made fewer calls.
void CallCheck::tell_unmade() {
  for (const auto& [key, stream] : streams_) {
    if (stream.told || stream.open.empty()) continue;
    const Stream::Call& call = stream.open.front();
    ++findings_;
    std::fprintf(stderr, "margay: collective calls do not fit each other: %s, which %u of the %u members never do\n",
                 say(call.by, call.record).c_str(), call.record.members - call.seen, call.record.members);
  }
}

}  // namespace margay::collectives
