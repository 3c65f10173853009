// A tour of everything that a portal can be: each descriptor with each of its options, overlays, the three failure
// links, and each reason to drop a message that a program can cause. For each message the zoo prints the kernel's
// decision and its reason; it exits with status 1 if a decision is not the expected one. docs/portals_api.md refers to
// it. The descriptors are in portals_zoo_descriptors.cpp; match lists and other cases are here.
//
//   margay run -n 2 portals_zoo
#include "portals_zoo.hpp"

using namespace zoo;

namespace {

// --- Match lists. ---

void criteria(Zoo& zoo) {
  zoo.say("\n== A match list: match bits, ignore bits, source, inactive entries ==");
  Memory<32> memory;
  zoo.show_memory(memory.all());
  SingleBlock a(memory.part(0, 8));
  SingleBlock b(memory.part(8, 8));
  SingleBlock c(memory.part(16, 8));
  SingleBlock d(memory.part(24, 8));
  MatchEntry asleep({.ignore_bits = ~MatchBits{0}}, a, {});
  MatchEntry exact({.match_bits = 0x1234}, b, {});
  MatchEntry stranger({.ignore_bits = ~MatchBits{0}, .source_rank = kKeeper}, c, {});
  MatchEntry masked({.match_bits = 0x1200, .ignore_bits = 0xff}, d, {});
  MatchList list;
  list.append(asleep, MatchList::Start::inactive);
  list.append(exact);
  list.append(stranger);
  list.append(masked);
  zoo.name(asleep, "asleep");
  zoo.name(exact, "exact");
  zoo.name(stranger, "from rank 1");
  zoo.name(masked, "masked");
  const auto cage = zoo.open(list);
  zoo.put(4, deposited(Saved::both, 4).after(1), {.match_bits = 0x1234});
  zoo.put(4, deposited(Saved::both, 4).after(3), {.match_bits = 0x1235});
  zoo.put(4, kNoMatch.after(3), {.match_bits = 0x4321});
  list.activate(asleep);
  zoo.put(4, deposited(Saved::both, 4), {.match_bits = 0x4321});
}

void failure_links(Zoo& zoo) {
  zoo.say("\n== The three links: no match, no room, too small; each leads where its entry says ==");
  Memory<40> memory;
  zoo.show_memory(memory.all());
  SingleBlock small(memory.part(0, 4));
  SingleBlock never(memory.part(4, 4));
  SingleBlock for_long(memory.part(8, 16));
  SingleBlock for_more(memory.part(24, 8));
  SingleBlock for_others(memory.part(32, 8));
  MatchEntry others({.ignore_bits = ~MatchBits{0}}, for_others, {});
  MatchEntry long_ones({.match_bits = 7}, for_long, {}, {.too_small = Link::drop()});
  MatchEntry more({.match_bits = 7}, for_more, {}, {.no_room = Link::at(long_ones), .too_small = Link::drop()});
  MatchEntry skipped({.ignore_bits = ~MatchBits{0}}, never, {});
  MatchEntry first({.match_bits = 7}, small, {},
                   {.no_match = Link::at(others), .no_room = Link::at(more), .too_small = Link::at(long_ones)});
  MatchList list;
  list.append(first);
  list.append(skipped);
  list.append(others);
  // These two are not in the list: only links lead to them.
  list.adopt(long_ones);
  list.adopt(more);
  zoo.name(first, "first");
  zoo.name(skipped, "skipped");
  zoo.name(others, "others");
  zoo.name(long_ones, "long ones");
  zoo.name(more, "more");
  const auto cage = zoo.open(list);
  zoo.put(4, deposited(Saved::both, 4).after(1), {.match_bits = 8});
  zoo.put(6, deposited(Saved::both, 6).after(1), {.match_bits = 7});
  zoo.put(4, deposited(Saved::both, 4), {.match_bits = 7});
  zoo.put(8, deposited(Saved::both, 8).after(1), {.match_bits = 7});
  zoo.put(4, deposited(Saved::both, 4, 6).after(2), {.match_bits = 7});
  zoo.put(20, kTooSmall.after(2), {.match_bits = 7});
}

void overlay(Zoo& zoo) {
  zoo.say("\n== An overlay: one heap, short messages whole, of long ones the header; one queue for both ==");
  zoo.show_memory({});
  Memory<1024> memory;
  DynamicBlock heap(memory.all());
  MatchEntry whole({.ignore_bits = ~MatchBits{0}}, heap, {.save = Save::both, .acknowledge = true});
  MatchEntry header_only({.ignore_bits = ~MatchBits{0}}, heap, {});
  header_only.overlay(whole, {.save = Save::header, .acknowledge = true});
  MatchList list;
  list.append(whole);
  list.append(header_only);
  zoo.name(whole, "whole");
  zoo.name(header_only, "header only");
  const auto cage = zoo.open(list);
  zoo.put(10, deposited(Saved::both, 10).and_acknowledged());
  zoo.put(4000, deposited(Saved::header, 0).after(1).and_acknowledged());
  zoo.put(10, deposited(Saved::both, 10).and_acknowledged());
  if (!zoo.keeper()) return;
  const ArrivedMessage* const second = heap.next(*heap.first());
  zoo.check(heap.queued() == 3 && second->saved == Saved::header && second->header.length == 4000,
            "the three in order of arrival");
}

// --- Other outcomes. ---

void held(Zoo& zoo) {
  zoo.say("\n== Held, not dropped: without room the message waits on its wire until there is some ==");
  constexpr PortalIndex kPatient = 8;
  Memory<8> memory;
  zoo.show_memory(memory.all());
  SingleBlock block(memory.all());
  if (zoo.keeper()) need(zoo.program().table().attach(kPatient, block, {}));
  if (zoo.keeper()) zoo.program().hold_when_no_room(kPatient);
  need(zoo.program().barrier());
  zoo.launch(8, {.portal = kPatient});
  zoo.launch(8, {.portal = kPatient});
  if (zoo.keeper()) {
    need(zoo.program().wait_until([&] { return zoo.program().decisions_kept() == 2; }));
    zoo.check(block.messages() == 1, "the second is held");
    block.reset_local_offset();
  }
  need(zoo.program().settle());
  zoo.meet({deposited(Saved::both, 8), kNoRoom /* but held */, deposited(Saved::both, 8)});
  if (zoo.keeper()) zoo.program().table().detach(kPatient);
}

void every_option(Zoo& zoo) {
  zoo.say("\n== Every option of every descriptor: one put or get of 8 bytes to each that is legal ==");
  zoo.brief(true);
  const std::array<const char*, 4> saves{"", "header", "body  ", "both  "};
  for (int combination = 0; combination < 4 * 3 * 2 * 2 * 2; ++combination) {
    Memory<1024> memory;
    TwoBuffers two;
    const std::array<Buffer, 2> pieces{memory.part(0, 5), memory.part(8, 11)};
    SingleBlock single(memory.all());
    DynamicBlock dynamic(memory.all());
    IndependentBlock independent(std::span(two.rows).subspan(1), Progression::linear);
    CombinedBlock combined(pieces);
    const std::array<Descriptor*, 4> blocks{&single, &dynamic, &independent, &combined};
    Descriptor& block = *blocks[static_cast<std::size_t>(combination / 24)];
    const Options options{.save = static_cast<Save>(1 + combination / 8 % 3),
                          .offset_by = (combination & 4) != 0 ? OffsetBy::sender : OffsetBy::receiver,
                          .direction = (combination & 2) != 0 ? Direction::read_only : Direction::write_only,
                          .acknowledge = (combination & 1) != 0};
    zoo.say(std::string(name(block.type())) + ": save " + saves[static_cast<std::size_t>(options.save)] +
            ", offset by " + (options.offset_by == OffsetBy::sender ? "sender  " : "receiver") + ", " +
            (options.direction == Direction::read_only ? "read only" : "write only") +
            (options.acknowledge ? ", acknowledge" : ""));
    if (const Status status = check_options(block.type(), options); !status.ok()) {
      zoo.say("  refused: " + status.sentence());
      continue;
    }
    const auto cage = zoo.open(block, options);
    if (options.direction == Direction::read_only) {
      zoo.get(8, replied(8));
      continue;
    }
    const bool body = options.save != Save::header;
    const Saved saved = block.type() == DescriptorType::combined_block ? Saved::body : static_cast<Saved>(options.save);
    const Expected expected = deposited(saved, body ? 8 : 0);
    zoo.put(8, options.acknowledge ? expected.and_acknowledged() : expected);
  }
  zoo.brief(false);
}

void drops(Zoo& zoo) {
  zoo.say("\n== No animal in the cage, and drops that no program can cause ==");
  zoo.show_memory({});
  zoo.put(8, dropped(DropReason::no_such_portal).without_walk());
  const Status status = zoo.program().put({.destination = 1'000'000, .portal = kCage});
  zoo.say("  A put to rank 1000000 is refused before it is sent: " + std::string(status.ok() ? "no" : "yes"));
  zoo.say("\n== The keeper's drops, by reason ==");
  zoo.drops();
}

}  // namespace

int main() {
  std::unique_ptr<Program> program;
  need(Program::start(program));
  if (program->size() < 2) {
    std::fprintf(stderr, "portals_zoo: needs a keeper and a visitor; start it with: margay run -n 2 portals_zoo\n");
    return 2;
  }
  int surprises = 0;
  {
    Zoo zoo(*program);
    show_descriptors(zoo);
    for (const auto exhibit : {criteria, failure_links, overlay, held, every_option, drops}) exhibit(zoo);
    need(program->settle());
    surprises = zoo.surprises();
  }
  need(program->finish());
  return surprises == 0 ? 0 : 1;
}
