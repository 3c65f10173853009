// The walk by hand: rank 1 has a match list behind portal 4, and rank 0 sends it messages, whose walks you predict.
// This program makes the list that page.md shows as a table. Fill the two blanks. The numbers are in variant.h.
#include <margay/portals.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "variant.h"

using namespace margay;
using namespace margay::portals;

constexpr PortalIndex kDesk = 4;
constexpr MatchBits kAllBits = ~MatchBits{0};

static void need(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.sentence().c_str());
  std::exit(1);
}

// Memory, and the descriptors that define how it is used. A heap must begin at a multiple of 64 bytes.
struct Blocks {
  std::array<std::byte, kExactRoom> exact_memory;
  std::array<std::byte, 2 * kFamilyRoom> family_memory;
  std::array<std::byte, kMaskedRoom> masked_memory;
  std::array<std::byte, kSpareRoom> spare_memory;
  std::array<std::byte, kWideRoom> wide_memory;
  alignas(64) std::array<std::byte, kHeapBytes> heap_memory;

  SingleBlock exact{Buffer{exact_memory.data(), exact_memory.size()}};
  std::array<IndependentBuffer, 2> family_table{
      IndependentBuffer{.memory = Region(family_memory.data(), kFamilyRoom)},
      IndependentBuffer{.memory = Region(family_memory.data() + kFamilyRoom, kFamilyRoom)}};
  IndependentBlock family{family_table, Progression::linear};
  SingleBlock masked{Buffer{masked_memory.data(), masked_memory.size()}};
  SingleBlock spare{Buffer{spare_memory.data(), spare_memory.size()}};
  SingleBlock wide{Buffer{wide_memory.data(), wide_memory.size()}};
  DynamicBlock heap{Buffer{heap_memory.data(), heap_memory.size()}};
};

// The match list. Links in variant.h name an entry by its index in `entries`.
struct Desk {
  explicit Desk(Program& program) {
    // "whole" and "header only" accept every message: one heap, used in two ways.
    whole.set({.ignore_bits = kAllBits}, blocks.heap, {.save = Save::both});
    header_only.set({.ignore_bits = kAllBits}, blocks.heap, {.save = Save::header});
    header_only.overlay(whole, {.save = Save::header});
    // Only links lead to these two: they are adopted, and have no next entry.
    spare.set({.ignore_bits = kAllBits}, blocks.spare, {}, {.no_room = Link::drop(), .too_small = Link::drop()});
    wide.set({.ignore_bits = kAllBits}, blocks.wide, {}, {.no_room = to(kWideNoRoom), .too_small = to(kWideTooSmall)});
    masked.set({.match_bits = kMaskedBits, .ignore_bits = kMaskedIgnore}, blocks.masked, {},
               {.no_match = to(kMaskedNoMatch), .no_room = to(kMaskedNoRoom), .too_small = to(kMaskedTooSmall)});
    exact.set({.match_bits = kExactBits}, blocks.exact, {},
              {.no_room = to(kExactNoRoom), .too_small = to(kExactTooSmall)});

    /* BLANK 1: the ignore bits of the entry "family", as page.md specifies them */
    const MatchBits family_ignore = 0;
    /* END 1 */
    /* BLANK 2: the link that the walk follows from "family" with a message that is too long for its buffer */
    const Link family_too_small = Link::drop();
    /* END 2 */
    family.set({.match_bits = kFamilyBits, .ignore_bits = family_ignore}, blocks.family, {},
               {.no_match = to(kFamilyNoMatch), .no_room = to(kFamilyNoRoom), .too_small = family_too_small});

    list.append(exact);
    list.append(kMaskedFirst ? masked : family, Start::active);
    list.append(kMaskedFirst ? family : masked, Start::active);
    if (kMaskedAsleep) list.deactivate(masked);
    list.append(whole);
    list.append(header_only);
    list.adopt(spare);
    list.adopt(wide);
    name(program);
  }

  // Gives the entries and the portal their names in the trace.
  void name(Program& program) {
    const std::array<const char*, 7> names{"exact", "family", "masked", "whole", "header only", "spare", "wide"};
    for (std::size_t i = 0; i < names.size(); ++i) program.name(*entries[i], names[i]);
    program.name(kDesk, "desk");
  }
  Link to(int entry) {
    if (entry == kNext) return Link::next();
    if (entry == kDrop) return Link::drop();
    return Link::at(*entries[static_cast<std::size_t>(entry)]);
  }

  using Start = MatchList::Start;
  Blocks blocks;
  MatchEntry exact, family, masked, whole, header_only, spare, wide;
  std::array<MatchEntry*, 7> entries{&exact, &family, &masked, &whole, &header_only, &spare, &wide};
  MatchList list;  // declared after its entries, so destroyed before them
};

int main() {
  std::unique_ptr<Program> program;
  need(Program::start(program));
  if (program->size() != 2) need(Status::error("this lab takes two ranks: margay run -n 2 ./program"));
  {
    Desk desk(*program);
    if (program->rank() == 1) need(program->table().attach(kDesk, desk.list));
    need(program->barrier());  // the list is attached
    std::vector<std::byte> body(kLongest);
    for (std::size_t i = 0; program->rank() == 0 && i < kMessageBitsCount; ++i) {
      need(program->put({.destination = 1, .portal = kDesk, .match_bits = static_cast<MatchBits>(kMessageBits[i])},
                        Region(body.data(), static_cast<std::size_t>(kMessageBytes[i]))));
    }
    need(program->settle());  // all messages are deposited or dropped
    program->table().detach(kDesk);
  }
  need(program->finish());
}
