// A mailer: group, contexts, topology, cached methods, attributes and children.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libraries/zipcode/addressees.hpp"
#include "libraries/zipcode/classes.hpp"
#include "libraries/zipcode/shared_memory.hpp"

namespace margay::zipcode::core {

// The values that all members of an opened mailer have, and that the Postmaster General promulgates.
struct Opening {
  int mail_class = 0;
  std::array<int, 3> shape{};
  std::uint32_t postmaster = 0;  // a rank
  std::uint32_t context = 0;     // the first context_id; 0: none was free
  Group group{};                 // the Postmaster first
};

// Where the context_ids come from, and who frees them.
enum class Source : std::uint8_t { postmaster_general, agreement, program };

// A mailer with its children, which share this.
struct Family {
  std::uint32_t first = 0, last = 0;  // context_ids, the last one excluded
  Source source = Source::program;
  // By rank in the job: point-to-point letters that this process has sent in these contexts; those that it has taken.
  std::map<std::uint32_t, std::uint64_t> sent;
  std::uint64_t taken = 0;
};

// A cached method.
struct Operation {
  Method* method = nullptr;
  std::string name;
};

}  // namespace margay::zipcode::core

struct ZIP_MAILER {
  using Group = margay::zipcode::core::Group;

  int mail_class = 0;
  const margay::zipcode::core::MailClass* traits = nullptr;
  std::array<int, 3> shape{};
  // The Postmaster first, also if it is outside of the grid.
  Group group;
  bool is_postmaster_outside = false;
  int index = 0;  // of this process in `group`
  // The context_id of point-to-point letters; that of collective ones is the next one.
  std::uint16_t context = 0;
  std::shared_ptr<margay::zipcode::core::Family> family;
  ZIP_MAILER* parent = nullptr;
  // Of G3: PQ, QR, PR; of G2: row, column.
  std::vector<std::unique_ptr<ZIP_MAILER>> children;
  std::array<margay::zipcode::core::Operation, ZIP_OPERATIONS> operations;
  // Its operations by shared memory, if they are cached.
  std::unique_ptr<margay::zipcode::core::SharedMemory> shared_memory;
  int in_replacement = 0;
  std::map<int, void*> attributes;
  int conversion = 0;

  [[nodiscard]] int size() const { return static_cast<int>(group.size()) - (is_postmaster_outside ? 1 : 0); }
  // This process's rank among the members; ZIP_POSTMASTER: it is outside.
  [[nodiscard]] int rank() const { return index - (is_postmaster_outside ? 1 : 0); }
  // The index in `group` of a rank. Requires: a valid rank, or ZIP_POSTMASTER if the Postmaster is outside.
  [[nodiscard]] std::size_t index_of(int rank) const {
    return static_cast<std::size_t>(rank + (is_postmaster_outside ? 1 : 0));
  }
  [[nodiscard]] bool is_outside() const { return is_postmaster_outside && index == 0; }
  // The coordinates of a rank, row-major with the last one fastest.
  [[nodiscard]] std::array<int, 3> place_of(int rank) const;
};

namespace margay::zipcode::core {

// The number of dimensions of a class, and the processes of a grid.
[[nodiscard]] std::int64_t processes_of(int dimensions, const std::array<int, 3>& shape);
// Checks group and shape. Throws Error.
void check_opening(const Opening& opening);
// Makes the mailer of an opening in the process of rank `me`, with its children. Requires: a checked opening with `me`.
[[nodiscard]] std::unique_ptr<ZIP_MAILER> make_mailer(const Opening& opening, std::uint32_t me, Source source);

}  // namespace margay::zipcode::core
