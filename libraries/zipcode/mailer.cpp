#include "libraries/zipcode/mailer.hpp"

#include <limits>
#include <set>

#include "libraries/zipcode/error.hpp"

std::array<int, 3> ZIP_MAILER::place_of(int rank) const {
  if (rank == ZIP_POSTMASTER) return {ZIP_POSTMASTER, ZIP_POSTMASTER, ZIP_POSTMASTER};
  std::array<int, 3> place{};
  for (int dimension = traits->dimensions - 1; dimension >= 0; --dimension) {
    const auto at = static_cast<std::size_t>(dimension);
    place[at] = rank % shape[at];
    rank /= shape[at];
  }
  return place;
}

namespace margay::zipcode::core {

std::int64_t processes_of(int dimensions, const std::array<int, 3>& shape) {
  std::int64_t product = 1;
  for (int i = 0; i < dimensions; ++i) {
    const int extent = shape[static_cast<std::size_t>(i)];
    if (extent < 1 || product > static_cast<std::int64_t>(kMembersMost)) return 0;
    product *= extent;
  }
  return product;
}

void check_opening(const Opening& opening) {
  const MailClass* const traits = find_class(opening.mail_class);
  if (traits == nullptr) {
    fail("unknown class " + std::to_string(opening.mail_class) +
         "; all members register the same classes in one order");
  }
  if (opening.group.empty() || opening.group.size() > kMembersMost)
    fail("a group of " + std::to_string(opening.group.size()) + " processes");
  std::set<std::uint32_t> ranks;
  for (const Member& each : opening.group) {
    if (!ranks.insert(each.rank).second) fail("rank " + std::to_string(each.rank) + " is in the group twice");
  }
  if (traits->dimensions == 0) return;
  const auto size = static_cast<std::int64_t>(opening.group.size());
  const std::int64_t processes = processes_of(traits->dimensions, opening.shape);
  if (processes == size || processes + 1 == size) {
    if (processes != 0) return;
  }
  std::string grid;
  for (int i = 0; i < traits->dimensions; ++i)
    grid += (i == 0 ? "" : " x ") + std::to_string(opening.shape[static_cast<std::size_t>(i)]);
  fail("a grid of " + grid + " needs a group of as many processes, or of one more for a Postmaster outside; this one " +
       "has " + std::to_string(size));
}

namespace {

// The members of a parent whose coordinates equal `place` except in dimensions `first` and `second` (-1: none), in the
// order of these.
Group select(const ZIP_MAILER& parent, int first, int second) {
  const std::array<int, 3> mine = parent.place_of(parent.rank());
  Group group;
  for (int rank = 0; rank < parent.size(); ++rank) {
    const std::array<int, 3> place = parent.place_of(rank);
    bool is_in = true;
    for (int i = 0; i < parent.traits->dimensions; ++i) {
      const auto at = static_cast<std::size_t>(i);
      is_in = is_in && (i == first || i == second || place[at] == mine[at]);
    }
    if (is_in) group.push_back(parent.group[parent.index_of(rank)]);
  }
  return group;
}

void add_children(ZIP_MAILER& parent, std::uint32_t me);

void add_child(ZIP_MAILER& parent, std::uint32_t me, int first, int second, std::uint32_t context) {
  auto child = std::make_unique<ZIP_MAILER>();
  child->mail_class = parent.mail_class - 1;
  child->traits = find_class(child->mail_class);
  child->shape[0] = parent.shape[static_cast<std::size_t>(first)];
  if (second >= 0) child->shape[1] = parent.shape[static_cast<std::size_t>(second)];
  child->group = select(parent, first, second);
  child->index = index_of(child->group, me);
  child->context = static_cast<std::uint16_t>(context);
  child->family = parent.family;
  child->parent = &parent;
  child->conversion = parent.conversion;
  add_children(*child, me);
  parent.children.push_back(std::move(child));
}

void add_children(ZIP_MAILER& parent, std::uint32_t me) {
  const std::uint32_t each = context_ids(parent.traits->dimensions - 1);
  const std::uint32_t first = parent.context + 2U;
  if (parent.traits->dimensions == 3) {
    add_child(parent, me, 0, 1, first);
    add_child(parent, me, 1, 2, first + each);
    add_child(parent, me, 0, 2, first + 2 * each);
  } else if (parent.traits->dimensions == 2) {
    add_child(parent, me, 1, -1, first);         // the row: the caller's p, indexed by q
    add_child(parent, me, 0, -1, first + each);  // the column
  }
}

}  // namespace

std::unique_ptr<ZIP_MAILER> make_mailer(const Opening& opening, std::uint32_t me, Source source) {
  auto mailer = std::make_unique<ZIP_MAILER>();
  mailer->mail_class = opening.mail_class;
  mailer->traits = find_class(opening.mail_class);
  mailer->shape = opening.shape;
  mailer->group = opening.group;
  mailer->index = index_of(opening.group, me);
  const int dimensions = mailer->traits->dimensions;
  mailer->is_postmaster_outside =
      dimensions != 0 && processes_of(dimensions, opening.shape) + 1 == static_cast<std::int64_t>(opening.group.size());
  mailer->context = static_cast<std::uint16_t>(opening.context);
  mailer->family = std::make_shared<Family>();
  mailer->family->first = opening.context;
  mailer->family->last = opening.context + context_ids(dimensions);
  mailer->family->source = source;
  if (!mailer->is_outside()) add_children(*mailer, me);
  return mailer;
}

}  // namespace margay::zipcode::core
