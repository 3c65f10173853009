#include "mpi_adi/datatype/signature.hpp"

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"
#include "mpi_adi/datatype/walker.hpp"

namespace margay::mpi_adi {

namespace {

// A polynomial hash over the types of the bytes. A sequence of equal parts is hashed by repeated squaring, and the hash
// does not depend on the division of the bytes into runs.
struct Hash {
  static constexpr std::uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;  // odd, so no power of it is 0
  std::uint64_t value = 0;
  std::uint64_t power = 1;  // the factor to the number of bytes

  [[nodiscard]] static Hash of_byte(int leaf) {
    return {(static_cast<std::uint64_t>(static_cast<std::uint32_t>(leaf)) + 1) * 0xbf58'476d'1ce4'e5b9, kFactor};
  }
  [[nodiscard]] Hash then(const Hash& next) const { return {value * next.power + next.value, power * next.power}; }
  // By squaring: 64 steps at most.
  [[nodiscard]] Hash times(std::uint64_t count) const {
    Hash all;
    Hash part = *this;
    for (; count != 0; count >>= 1) {
      if ((count & 1) != 0) all = all.then(part);
      part = part.then(part);
    }
    return all;
  }
};

class Reader {
 public:
  // Hashes the types of the first `bytes` of one element.
  [[nodiscard]] Hash read(const TypeDefinition& type, std::uint64_t bytes) {
    Hash hash;
    if (bytes == 0) return hash;
    LayoutWalker walker(*type.signature.node, 0, 0);
    while (bytes != 0) {
      // Each run has one type, so it is hashed at once, for any length.
      const Strip run = walker.take(bytes);
      hash = hash.then(Hash::of_byte(run.leaf).times(run.total));
      bytes -= run.total;
      uniform_ = uniform_ && (leaf_ == 0 || leaf_ == run.leaf);
      packed_ = packed_ || run.leaf == MPI_PACKED;
      leaf_ = run.leaf;
    }
    return hash;
  }
  [[nodiscard]] Signature signature(const Hash& hash) const {
    if (packed_) return {.kind = Signature::Kind::packed};
    if (uniform_) return {.kind = Signature::Kind::uniform, .leaf = leaf_};
    // The upper bits, which depend on all factors.
    return {.kind = Signature::Kind::mixed, .hash = static_cast<std::uint16_t>(hash.value >> 48)};
  }

 private:
  int leaf_ = 0;
  bool uniform_ = true;
  bool packed_ = false;
};

}  // namespace

Signature signature_of(const TypeDefinition& type, std::uint64_t bytes) {
  if (bytes == 0 || type.size == 0) return {};
  Reader reader;
  const std::uint64_t whole = bytes / type.size;
  // The whole elements are read once, and the hash is repeated. The last element, if it is cut, is read up to the cut.
  const Hash elements = whole == 0 ? Hash{} : reader.read(type, type.size).times(whole);
  const Hash all = elements.then(reader.read(type, bytes % type.size));
  return reader.signature(all);
}

// The leaf is the type's handle, which contains the size of an element.
std::string elements_text(const Signature& signature, std::uint64_t bytes) {
  if (signature.kind == Signature::Kind::packed) return "MPI_PACKED";
  if (signature.kind != Signature::Kind::uniform) return "elements of several types";
  const std::uint64_t one = basic_size_bytes(signature.leaf);
  return (one == 0 ? "" : std::to_string(bytes / one) + " x ") + std::string(basic_type_name(signature.leaf));
}

}  // namespace margay::mpi_adi
