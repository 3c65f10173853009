// Tests of the index against the linear walk, on random lists. The oracle below is a third implementation, written from
// the paper with public functions only; explain() and decide() must both agree with it.
#include "portals/match/match_index.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "portals/match/match_list.hpp"
#include "tests/portals/portals_fixture.hpp"
#include "tests/portals/random.hpp"
#include "tests/support/seeds.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/match/match_index");

namespace {

constexpr std::array<MatchBits, 6> kMasks = {0, 0, 0xff, 0xff00, 0xffff, ~MatchBits{0}};

// The parameters of the random cases.
struct Profile {
  std::size_t longest;       // of a list
  unsigned link_percent;     // chance that a no-match link is not `next`
  unsigned failure_percent;  // chance that a no-room or too-small link is not `next`
  unsigned alphabet;         // different values per field of the match bits
};

struct World {
  World(std::uint64_t seed, const Profile& wanted) : random(seed), profile(wanted) {
    REQUIRE(kernel.table.attach(kPortal, list).ok());
    make_storages();
    for (std::size_t at = 0; at < profile.longest; ++at) entries.push_back(std::make_unique<MatchEntry>());
  }

  void make_storages() {
    for (std::size_t at = 0; at < 12; ++at) {
      auto& rows = tables.emplace_back(1 + random.below(3));
      for (IndependentBuffer& row : rows) row.memory = Region(memory.data(), random.below(5) * 8);
      independents.emplace_back(rows, random.percent(50) ? Progression::linear : Progression::circular);
    }
    for (std::size_t at = 0; at < 3; ++at) singles.emplace_back(Buffer{memory.data(), random.below(5) * 8});
    for (std::size_t at = 0; at < 2; ++at) combineds.emplace_back(std::span(pieces).first(1 + random.below(2)));
    // One heap that never holds a message, and one that always does.
    heaps.push_back(std::make_unique<DynamicBlock>(Buffer{tiny.data(), 64}));
    heaps.push_back(std::make_unique<DynamicBlock>(big.buffer()));
  }

  Descriptor& any_storage() {
    switch (random.below(8)) {
      case 0:
        return singles[random.below(singles.size())];
      case 1:
        return combineds[random.below(combineds.size())];
      case 2:
        return *heaps[random.below(8) == 0 ? 1 : 0];
      default:
        return independents[random.below(independents.size())];
    }
  }

  Options any_options(DescriptorType type) {
    Options options;
    const bool windowed = type == DescriptorType::single_block || type == DescriptorType::combined_block;
    if (windowed && random.percent(40)) options.offset_by = OffsetBy::sender;
    if (type != DescriptorType::dynamic_block && random.percent(5)) options.direction = Direction::read_only;
    if (type != DescriptorType::combined_block && random.percent(20)) options.save = Save::header;
    if (type == DescriptorType::independent_block && random.percent(20)) options.truncate = true;
    return options;
  }

  Link any_link(unsigned percent) {
    if (!random.percent(percent)) return Link::next();
    return random.percent(30) ? Link::drop() : Link::at(*random.pick(entries));
  }

  MatchBits any_bits() {
    return random.below(profile.alphabet) | random.below(profile.alphabet) << 8 | random.below(2) << 32;
  }

  void set_and_enter(MatchEntry& entry) {
    Criteria criteria;
    criteria.match_bits = any_bits();
    criteria.ignore_bits = random.pick(kMasks);
    if (random.percent(70)) criteria.source_group = static_cast<GroupId>(random.below(2));
    if (random.percent(70)) criteria.source_rank = static_cast<Rank>(random.below(2));
    Descriptor& storage = any_storage();
    entry.set(criteria, storage, any_options(storage.type()),
              {any_link(profile.link_percent), any_link(profile.failure_percent), any_link(profile.failure_percent)});
    const auto start = random.percent(80) ? MatchList::Start::active : MatchList::Start::inactive;
    MatchEntry* const position = random.percent(60) ? chained() : nullptr;
    if (random.percent(8)) {
      list.adopt(entry, start);
    } else if (position != nullptr) {
      list.insert_before(*position, entry, start);
    } else {
      list.append(entry, start);
    }
  }

  MatchEntry* chained() {
    MatchEntry& entry = *random.pick(entries);
    const bool in_chain = entry.listed() && (list.next(entry) != nullptr || last() == &entry);
    return in_chain ? &entry : list.first();
  }
  MatchEntry* last() const {
    MatchEntry* at = list.first();
    while (at != nullptr && list.next(*at) != nullptr) at = list.next(*at);
    return at;
  }

  void change() {
    MatchEntry& entry = *random.pick(entries);
    const std::uint64_t what = random.below(100);
    if (!entry.listed()) {
      if (what < 95) set_and_enter(entry);
    } else if (what < 20) {
      list.remove(entry);
    } else if (what < 35) {
      list.deactivate(entry);
    } else if (what < 60) {
      list.activate(entry);
    }
    if (random.percent(30)) give_storage_back();
  }

  void give_storage_back() {
    IndependentBlock& block = random.pick(independents);
    bool reserved = false;
    for (std::size_t row = 0; row < block.table().size(); ++row) {
      reserved = reserved || block.table()[row].state == IndependentBuffer::State::reserved;
      if (block.table()[row].state == IndependentBuffer::State::filled && random.percent(80)) block.release(row);
    }
    if (!reserved && block.progression() == Progression::linear) block.rewind();
    if (random.percent(30)) random.pick(singles).reset_local_offset();
    if (random.percent(30)) random.pick(combineds).reset_local_offset();
    if (under_way.empty()) {
      while (heaps[1]->first() != nullptr) heaps[1]->release(*heaps[1]->first());
    }
  }

  Header any_message() {
    Header header = random.percent(95) ? put(any_bits(), random.below(6) * 8) : get(any_bits(), random.below(6) * 8);
    header.source = {static_cast<GroupId>(random.below(2)), static_cast<Rank>(random.below(2))};
    header.offset = random.below(5) * 8;
    return header;
  }

  Random random;
  Profile profile;
  Kernel kernel;
  std::array<std::byte, 64> memory{};
  Memory tiny{64};
  Memory big{1 << 20};
  std::array<Buffer, 2> pieces = {Buffer{memory.data(), 16}, Buffer{memory.data() + 16, 16}};
  std::deque<std::vector<IndependentBuffer>> tables;
  std::deque<IndependentBlock> independents;
  std::deque<SingleBlock> singles;
  std::deque<CombinedBlock> combineds;
  std::vector<std::unique_ptr<DynamicBlock>> heaps;
  std::vector<std::unique_ptr<MatchEntry>> entries;
  MatchList list;  // destroyed before the entries
  std::deque<std::pair<Verdict, Header>> under_way;
};

Passed window_answer(std::uint64_t bytes, std::uint64_t local, const Options& options, const Header& header) {
  const bool get = header.kind == Kind::get;
  const std::uint64_t wanted = get ? header.return_length : options.save == Save::header ? 0 : header.length;
  const bool by_sender = options.offset_by == OffsetBy::sender;
  if (!by_sender && wanted > 0 && local == bytes) return Passed::no_room;
  if (get != (options.direction == Direction::read_only)) return Passed::wrong_direction;
  const std::uint64_t offset = by_sender ? header.offset : local;
  if (!get && options.save == Save::header) return Passed::taken;
  if (offset > bytes) return Passed::offset_out_of_range;
  return offset + wanted > bytes ? Passed::too_small : Passed::taken;
}

Passed independent_answer(const IndependentBlock& block, const Options& options, const Header& header,
                          std::size_t row) {
  if (row == block.table().size()) return Passed::no_room;
  const bool get = header.kind == Kind::get;
  if (get != (options.direction == Direction::read_only)) return Passed::wrong_direction;
  const std::uint64_t wanted = get ? header.return_length : options.save == Save::header ? 0 : header.length;
  const bool fits = wanted <= block.table()[row].memory.bytes() || (!get && options.truncate);
  return fits ? Passed::taken : Passed::too_small;
}

// `row`: the row that likely_row() found for an independent block. It trusts the block's exhausted(), which
// independent_block_test tests.
Passed answer(World& world, const MatchEntry& entry, const Header& header, std::size_t row) {
  const Descriptor& storage = *entry.memory();
  if (!entry.active()) return Passed::inactive;
  if (!entry.criteria().accepts(header)) return Passed::no_match;
  switch (storage.type()) {
    case DescriptorType::single_block: {
      const auto& block = static_cast<const SingleBlock&>(storage);
      return window_answer(block.memory().bytes, block.local_offset(), entry.options(), header);
    }
    case DescriptorType::combined_block: {
      const auto& block = static_cast<const CombinedBlock&>(storage);
      return window_answer(block.memory().bytes(), block.local_offset(), entry.options(), header);
    }
    case DescriptorType::independent_block:
      return independent_answer(static_cast<const IndependentBlock&>(storage), entry.options(), header, row);
    case DescriptorType::dynamic_block:
      break;
  }
  if (header.kind == Kind::get) return Passed::wrong_direction;
  return &storage == world.heaps[1].get() ? Passed::taken : Passed::no_room;
}

// The row that an independent block would use, derived from its table. exhausted() shows whether a row is available.
// The table does not show which row is next, so any available row whose length explains the reported step is taken.
std::size_t likely_row(const IndependentBlock& block, const std::vector<Step>& steps, const MatchEntry& entry,
                       const Header& header, const Options& options) {
  if (block.exhausted()) return block.table().size();
  // Any available row that explains the step; otherwise the first one, which makes the comparison fail.
  std::size_t first = block.table().size();
  const auto step = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return s.entry == &entry; });
  for (std::size_t row = 0; row < block.table().size(); ++row) {
    if (block.table()[row].state != IndependentBuffer::State::available) continue;
    if (first == block.table().size()) first = row;
    if (step != steps.end() && independent_answer(block, options, header, row) == step->passed) return row;
  }
  return first;
}

struct Expected {
  const MatchEntry* entry = nullptr;
  DropReason reason = DropReason::no_match;
  std::vector<Step> steps;
};

// "the kernel traverses the list": entry by entry, by the link of the failure that happened.
Expected oracle(World& world, const Header& header, const std::vector<Step>& explained) {
  Expected expected;
  const MatchEntry* entry = world.list.first();
  while (entry != nullptr && expected.steps.size() < world.list.size()) {
    std::size_t row = 0;
    if (entry->memory()->type() == DescriptorType::independent_block) {
      row = likely_row(static_cast<const IndependentBlock&>(*entry->memory()), explained, *entry, header,
                       entry->options());
    }
    const Passed passed = answer(world, *entry, header, row);
    expected.steps.push_back({entry, passed});
    Link link = entry->links().no_match;
    if (passed == Passed::taken) {
      expected.entry = entry;
      expected.reason = DropReason::none;
      return expected;
    }
    if (passed == Passed::wrong_direction) {
      expected.reason = header.kind == Kind::get ? DropReason::write_only : DropReason::read_only;
      return expected;
    }
    if (passed == Passed::offset_out_of_range) {
      expected.reason = DropReason::offset_out_of_range;
      return expected;
    }
    if (passed == Passed::no_room) link = entry->links().no_room, expected.reason = DropReason::no_room;
    if (passed == Passed::too_small) link = entry->links().too_small, expected.reason = DropReason::too_small;
    if (link.to == Link::To::drop) return expected;
    entry = link.to == Link::To::next ? world.list.next(*entry) : link.entry->listed() ? link.entry : nullptr;
  }
  return expected;
}

bool same(const std::vector<Step>& a, const std::vector<Step>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Step& x, const Step& y) { return x.entry == y.entry && x.passed == y.passed; });
}

// One case: a random message and three answers. Returns whether it was taken.
bool check_message(World& world) {
  const Header header = world.any_message();
  std::vector<Step> steps;
  const Outcome outcome = world.kernel.delivery.explain(header, steps);
  const Expected expected = oracle(world, header, steps);
  const Verdict verdict = world.kernel.delivery.decide(header);
  // Plain comparisons first, because a million doctest assertions would take longer than the cases.
  const bool right = same(steps, expected.steps) && verdict.entry == expected.entry &&
                     verdict.reason == expected.reason && outcome == verdict.outcome;
  if (!right) {
    CHECK(same(steps, expected.steps));
    CHECK(verdict.entry == expected.entry);
    CHECK(name(verdict.reason) == name(expected.reason));
    CHECK(outcome == verdict.outcome);
    REQUIRE(right);
  }
  if (verdict.outcome == Outcome::drop) return false;
  world.under_way.emplace_back(verdict, header);
  return true;
}

void finish_some(World& world) {
  while (!world.under_way.empty() && world.random.percent(60)) {
    const std::size_t at = world.random.below(world.under_way.size());
    const auto [verdict, header] = world.under_way[at];
    world.under_way.erase(world.under_way.begin() + static_cast<std::ptrdiff_t>(at));
    if (world.random.percent(20)) {
      world.kernel.delivery.abandon(verdict);
    } else {
      world.kernel.delivery.complete(verdict, header);
    }
  }
}

void run(std::uint64_t seed, const Profile& profile, std::uint64_t cases) {
  CAPTURE(seed);
  World world(seed, profile);
  // Most cases begin with a list long enough for the index.
  const std::size_t listed = world.random.below(profile.longest);
  for (std::size_t at = 0; at < listed; ++at) world.set_and_enter(*world.entries[at]);
  for (std::uint64_t at = 0; at < cases; ++at) {
    CAPTURE(at);
    world.change();
    check_message(world);
    finish_some(world);
  }
  while (!world.under_way.empty()) finish_some(world);
}

}  // namespace

TEST_CASE("the index gives the linear walk's verdict on a million random lists and messages") {
  constexpr std::array<Profile, 6> kProfiles = {{
      {80, 0, 0, 2},    // as MPI: only `next`
      {80, 5, 20, 2},   // some links
      {90, 0, 30, 3},   // links on failures only, so most entries are indexed
      {50, 40, 60, 2},  // around the length from which lists are indexed, mostly links
      {300, 1, 10, 4},  // long
      {60, 10, 10, 1},  // every message matches
  }};
  constexpr std::uint64_t kSeeds = 400;
  constexpr std::uint64_t kCases = 420;
  for (const std::uint64_t seed : margay::testing::Seeds(kSeeds / kFewer)) {
    for (const Profile& profile : kProfiles) run(seed, profile, kCases);
  }
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
