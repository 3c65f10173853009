// Tests of message signatures: equal for equal sequences of predefined types, for any construction of the types.
#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "mpi_adi/datatype/construct.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"
#include "mpi_adi/datatype/signature.hpp"
#include "mpi_adi/device/type_check.hpp"

namespace margay::mpi_adi {
namespace {

using SignatureKind = Signature::Kind;

struct SignatureFixture {
  PredefinedTypes types;
  [[nodiscard]] TypePtr type(MPI_Datatype handle) { return types.find(handle)->definition; }
  [[nodiscard]] TypePtr two(MPI_Datatype first, MPI_Datatype second, MPI_Aint second_at) {
    return make_struct(std::array{1, 1}, std::array<MPI_Aint, 2>{0, second_at},
                       std::array<TypePtr, 2>{type(first), type(second)}, {});
  }
};

TEST_CASE_FIXTURE(SignatureFixture, "a uniform signature is that of its basic type, for any layout") {
  const Signature ints = signature_of(*type(MPI_INT), 40);
  CHECK(ints.kind == SignatureKind::uniform);
  CHECK(ints.leaf == MPI_INT);
  CHECK(ints.fits(signature_of(*make_hvector(3, 1, 16, type(MPI_INT), {}), 20)));
  CHECK_FALSE(ints.fits(signature_of(*type(MPI_UNSIGNED), 40)));
  CHECK_FALSE(ints.fits(signature_of(*type(MPI_BYTE), 40)));
  CHECK(signature_of(*type(MPI_INT), 0).kind == SignatureKind::empty);
  CHECK(ints.fits(signature_of(*type(MPI_PACKED), 40)));
  CHECK(signature_of(*two(MPI_INT, MPI_PACKED, 8), 5).fits(ints));
  CHECK(signature_of(*two(MPI_PACKED, MPI_INT, 4), 5).fits(signature_of(*type(MPI_DOUBLE), 40)));
}

TEST_CASE_FIXTURE(SignatureFixture, "a mixed signature is that of the sequence, up to the message's end") {
  const TypePtr pair = two(MPI_DOUBLE, MPI_INT, 8);
  const TypePtr apart = two(MPI_DOUBLE, MPI_INT, 32);
  const TypePtr three = make_hvector(1, 3, 64, apart, {});
  const Signature sent = signature_of(*pair, 5 * 12);
  CHECK(sent.kind == SignatureKind::mixed);
  CHECK(sent.fits(signature_of(*three, 5 * 12)));
  CHECK_FALSE(sent.fits(signature_of(*three, 4 * 12)));
  CHECK_FALSE(sent.fits(signature_of(*two(MPI_INT, MPI_DOUBLE, 8), 5 * 12)));
  // The prefix of one element may consist of one type.
  CHECK(signature_of(*pair, 8).fits(signature_of(*type(MPI_DOUBLE), 8)));
}

TEST_CASE_FIXTURE(SignatureFixture, "a header's three bytes describe the sender's side, and leave the note unchanged") {
  for (const TypePtr& reported :
       {type(MPI_LONG_DOUBLE), type(MPI_C_DOUBLE_COMPLEX), two(MPI_DOUBLE, MPI_INT, 8), type(MPI_PACKED)}) {
    portals::UserData data{};
    data[0] = std::byte{0x82};
    data[4] = std::byte{7};
    const SentSide side{5, signature_of(*reported, 96)};
    write_sent_side(data, side);
    const SentSide read = read_sent_side(data);
    CHECK(read.call == 5);
    CHECK(read.signature.kind == side.signature.kind);
    CHECK(read.signature.leaf == side.signature.leaf);
    CHECK(read.signature.hash == side.signature.hash);
    CHECK(data[0] == std::byte{0x82});
    CHECK(data[4] == std::byte{7});
  }
  CHECK(read_sent_side(portals::UserData{}).call == 0);
  CHECK(basic_type_name(MPI_INT) == "MPI_INT");
}

}  // namespace
}  // namespace margay::mpi_adi
