#include "libraries/zipcode/postmaster.hpp"

#include "libraries/zipcode/opening_text.hpp"

namespace margay::zipcode::core {

PostmasterGeneral::PostmasterGeneral(Post& post, bool has_token)
    : post_(post), has_token_(has_token), used_(post.rank().places()) {
  // The loss of the token's holder lets the next opening begin.
  post_.rank().observe_losses(*this, true);
}

PostmasterGeneral::~PostmasterGeneral() {
  watch_rounds(false);
  post_.rank().observe_losses(*this, false);
}

void PostmasterGeneral::watch_rounds(bool on) {
  if (on == is_watching_) return;
  is_watching_ = on;
  post_.rank().observe_rounds(*this, on);
}

void PostmasterGeneral::serve() {
  const std::uint32_t processes = post_.rank().places();
  Opening opening;
  const auto decodes = [&](portals::Rank source, Bytes body) {
    const bool is_valid = decode(body, processes, opening) && opening.postmaster == source;
    if (!is_valid) opening.group.clear();  // a damaged letter is freed
    return true;
  };
  while (post_.take_system(Tag::token, [&](portals::Rank source, Bytes) {
    if (source == holder_) holder_ = portals::kAnyRank;
    return true;
  })) {
  }
  while (post_.take_system(Tag::close, decodes)) {
    if (!opening.group.empty()) close(opening);
  }
  while (post_.take_system(Tag::open, decodes)) {
    if (!opening.group.empty()) waiting_.push_back(opening);
  }
  // A Postmaster that died with the token does not need it.
  if (holder_ != portals::kAnyRank && post_.rank().lost(holder_)) holder_ = portals::kAnyRank;
  while (!waiting_.empty() && (!has_token_ || holder_ == portals::kAnyRank)) {
    begin(waiting_.front());
    waiting_.pop_front();
  }
  if (!active_.empty()) {
    Active next = std::move(active_.front());
    active_.pop_front();
    if (!send_copy(next)) active_.push_back(std::move(next));
  }
  watch_rounds(!active_.empty());
}

void PostmasterGeneral::begin(const Opening& opening) {
  Active active{opening, opening.group.size()};
  const MailClass* const traits = find_class(opening.mail_class);
  const std::uint32_t count = context_ids(traits == nullptr ? 0 : traits->dimensions);
  ContextSet used;
  for (const Member& each : opening.group) used.unite(used_[each.rank]);
  active.opening.context = used.find_free(count);
  if (active.opening.context != 0) {
    for (const Member& each : opening.group) used_[each.rank].add(active.opening.context, count);
  }
  if (!has_token_) {
    active_.push_back(std::move(active));
    return;
  }
  holder_ = opening.postmaster;
  host::Rank& rank = post_.rank();
  if (rank.recording()) rank.record({.number = kGivesToken, .peer = holder_, .a = active.opening.context});
  while (!send_copy(active)) {
  }
}

bool PostmasterGeneral::send_copy(Active& active) {
  const Member& member = active.opening.group[--active.copies_left];
  const std::vector<std::int32_t> words = encode(active.opening);
  post_.send_system(member.rank, Tag::copy, std::as_bytes(std::span(words)));
  if (post_.rank().recording())
    post_.rank().record({.number = kTellsContexts, .peer = member.rank, .a = active.opening.context, .of_sent = true});
  return active.copies_left == 0;
}

void PostmasterGeneral::close(const Opening& closed) {
  const MailClass* const traits = find_class(closed.mail_class);
  const std::uint32_t count = context_ids(traits == nullptr ? 0 : traits->dimensions);
  if (closed.context < kFirstContext || closed.context + count > kLastContext + 1) return;
  for (const Member& each : closed.group) used_[each.rank].remove(closed.context, count);
}

}  // namespace margay::zipcode::core
