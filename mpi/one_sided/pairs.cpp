#include "mpi/one_sided/pairs.hpp"

#include <unordered_set>
#include <vector>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/rma/elements.hpp"

namespace margay::mpi {

namespace {

bool is_pair(MPI_Datatype type) {
  return type == MPI_2INT || (accumulate_element_bytes(type) != 0 && !is_basic_datatype(type));
}

// Where a datatype's elements begin, one after another.
class PairPlaces {
 public:
  PairPlaces(const void* base, std::int64_t count, const Datatype& type, std::uint64_t pair_bytes)
      : cursor_(pieces_.to_send(base, count, type)), pair_bytes_(pair_bytes) {}
  [[nodiscard]] bool any() const { return cursor_.left() != 0; }
  // Requires: any().
  [[nodiscard]] std::byte* next() {
    std::byte* const at = cursor_.peek(1).base;
    cursor_.skip(pair_bytes_);
    return at;
  }

 private:
  Pieces pieces_;
  portals::RegionCursor cursor_;
  std::uint64_t pair_bytes_;
};

}  // namespace

// In a loop: types may be nested deeper than a stack is.
MPI_Datatype pair_of(const TypeDefinition& definition) {
  MPI_Datatype found = 0;
  std::unordered_set<const TypeDefinition*> seen{&definition};
  std::vector<const TypeDefinition*> left{&definition};
  while (!left.empty()) {
    const TypeDefinition& type = *left.back();
    left.pop_back();
    if (type.elements == 0) continue;  // markers
    if (type.predefined != 0) {
      if (!is_pair(type.predefined) || (found != 0 && found != type.predefined)) return 0;
      found = type.predefined;
      continue;
    }
    for (const TypePtr& inner : type.origin.types) {
      if (seen.insert(inner.get()).second) left.push_back(inner.get());
    }
  }
  return found;
}

bool is_padded_pair(MPI_Datatype type) {
  return is_pair(type) && type != MPI_FLOAT_INT && type != MPI_2INT;
}

void accumulate_pairs(Rma& rma, Window& window, const Access& access, const AccumulateOperands& operands,
                      const OriginData& origin, const Datatype& pair) {
  // Of the target offsets: from an address of 0.
  PairPlaces there(nullptr, access.target_count, *access.target_type, pair.size);
  PairPlaces here(origin.buffer, operands.any() ? origin.count : 0, *origin.type, pair.size);
  PairPlaces results(access.buffer, access.count, access.wants_result() ? *access.type : pair, pair.size);
  AccumulateOperands one = operands;
  one.count = 1;
  while (there.any()) {
    Access single = access;
    single.offset += static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(there.next()));
    single.target_type = &pair;
    single.target_count = 1;
    if (access.wants_result()) {
      single.type = &pair;
      single.count = 1;
      single.buffer = results.next();
    }
    if (operands.any()) one.elements = portals::Region(here.next(), operands.element_bytes);
    rma.accumulate(window, single, one);
  }
}

}  // namespace margay::mpi
