// Datatype constructors (MPI 4.0, 5.1.2 to 5.1.3), and their names of MPI-1, which make the same types. All but a
// duplicate use one of four constructions: hvector, indexed, struct, resized (mpi_adi/datatype).
#include <utility>

#include "mpi/call/binding.hpp"
#include "mpi/communicator/attribute_callbacks.hpp"
#include "mpi/datatype/type_call.hpp"

using namespace margay::mpi;

namespace {

// `Count` is int, or MPI_Count in the constructors for large counts.
template <typename Count>
std::span<const Count> one(const Count& number) {
  return {&number, 1};
}

// One block: a vector with a single row.
int contiguous(Call& call, auto count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  call.count(count);
  const TypePtr old = definition(call, oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  return hand_out_type(
      call, make_hvector(1, count, 0, old, origin_of(MPI_COMBINER_CONTIGUOUS, {one(count)}, {}, {old})), newtype);
}

// The stride counts extents of the old type.
template <typename Count>
int vector(Call& call, Count count, Count length, Count stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  call.count(count);
  call.count(length, "blocklength");
  const TypePtr old = definition(call, oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  std::int64_t bytes = 0;
  TypePtr made;
  // A stride whose bytes do not fit 63 bits makes no type: `made` stays null.
  if (!__builtin_mul_overflow(stride, old->extent(), &bytes)) {
    made = make_hvector(count, length, bytes, old,
                        origin_of(MPI_COMBINER_VECTOR, {one(count), one(length), one(stride)}, {}, {old}));
  }
  return hand_out_type(call, std::move(made), newtype);
}

// The same with a stride in bytes.
template <typename Count>
int hvector(Call& call, Count count, Count length, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  call.count(count);
  call.count(length, "blocklength");
  const TypePtr old = definition(call, oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  TypeOrigin origin = origin_of(MPI_COMBINER_HVECTOR, {one(count), one(length)}, one(stride), {old});
  return hand_out_type(call, make_hvector(count, length, stride, old, std::move(origin)), newtype);
}

// Displacements count extents of the old type.
template <typename Count>
int indexed(Call& call, Count count, const Count lengths[], const Count displacements[], MPI_Datatype oldtype,
            MPI_Datatype* newtype) {
  call.count(count);
  const auto blocks = block_lengths(call, lengths, count);
  const auto offsets = array(call, displacements, count, "array_of_displacements");
  const TypePtr old = definition(call, oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  TypeOrigin origin = origin_of(MPI_COMBINER_INDEXED, {one(count), blocks, offsets}, {}, {old});
  return hand_out_type(call, make_indexed(blocks, offsets, old->extent(), old, std::move(origin)), newtype);
}

// The same with displacements in bytes: the extent that scales them is 1.
template <typename Count>
int hindexed(Call& call, Count count, const Count lengths[], const MPI_Aint displacements[], MPI_Datatype oldtype,
             MPI_Datatype* newtype) {
  call.count(count);
  const auto blocks = block_lengths(call, lengths, count);
  const auto offsets = array(call, displacements, count, "array_of_displacements");
  const TypePtr old = definition(call, oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  TypeOrigin origin = origin_of(MPI_COMBINER_HINDEXED, {one(count), blocks}, offsets, {old});
  return hand_out_type(call, make_indexed(blocks, offsets, 1, old, std::move(origin)), newtype);
}

// Blocks of one length; the record keeps that length once.
template <typename Count>
int indexed_block(Call& call, Count count, Count length, const Count displacements[], MPI_Datatype oldtype,
                  MPI_Datatype* newtype) {
  call.count(count);
  call.count(length, "blocklength");
  const auto offsets = array(call, displacements, count, "array_of_displacements");
  const TypePtr old = definition(call, oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  const std::vector<Count> lengths(offsets.size(), length);
  TypeOrigin origin = origin_of(MPI_COMBINER_INDEXED_BLOCK, {one(count), one(length), offsets}, {}, {old});
  return hand_out_type(call, make_indexed(lengths, offsets, old->extent(), old, std::move(origin)), newtype);
}

// The same with displacements in bytes.
template <typename Count>
int hindexed_block(Call& call, Count count, Count length, const MPI_Aint displacements[], MPI_Datatype oldtype,
                   MPI_Datatype* newtype) {
  call.count(count);
  call.count(length, "blocklength");
  const auto offsets = array(call, displacements, count, "array_of_displacements");
  const TypePtr old = definition(call, oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  const std::vector<Count> lengths(offsets.size(), length);
  TypeOrigin origin = origin_of(MPI_COMBINER_HINDEXED_BLOCK, {one(count), one(length)}, offsets, {old});
  return hand_out_type(call, make_indexed(lengths, offsets, 1, old, std::move(origin)), newtype);
}

// Each block has a type of its own.
template <typename Count>
int structure(Call& call, Count count, const Count lengths[], const MPI_Aint displacements[],
              const MPI_Datatype types[], MPI_Datatype* newtype) {
  call.count(count);
  const auto blocks = block_lengths(call, lengths, count);
  const auto offsets = array(call, displacements, count, "array_of_displacements");
  std::vector<TypePtr> old;
  // An invalid type sets the error, so the list is not used.
  for (const MPI_Datatype type : array(call, types, count, "array_of_types")) old.push_back(definition(call, type));
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  TypeOrigin origin = origin_of(MPI_COMBINER_STRUCT, {one(count), blocks}, offsets, old);
  return hand_out_type(call, make_struct(blocks, offsets, old, std::move(origin)), newtype);
}

// `Count` determines the kind of numbers that MPI_Type_get_contents returns.
template <typename Count>
int resized(Call& call, MPI_Datatype oldtype, MPI_Aint lower, MPI_Aint extent, MPI_Datatype* newtype) {
  const TypePtr old = definition(call, oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  // In the order in which MPI_Type_get_contents returns them.
  const MPI_Aint bounds[] = {lower, extent};
  return hand_out_type(
      call, make_resized(old, lower, extent, origin_of<Count>(MPI_COMBINER_RESIZED, {}, bounds, {old})), newtype);
}

}  // namespace

MARGAY_TWINS(Type_contiguous, (Count count, MPI_Datatype oldtype, MPI_Datatype* newtype), {
  Call call(called);
  return contiguous(call, count, oldtype, newtype);
})

MARGAY_TWINS(Type_vector, (Count count, Count blocklength, Count stride, MPI_Datatype oldtype, MPI_Datatype* newtype), {
  Call call(called);
  return vector(call, count, blocklength, stride, oldtype, newtype);
})

MARGAY_TWINS(Type_create_hvector,
             (Count count, Count blocklength, Address stride, MPI_Datatype oldtype, MPI_Datatype* newtype), {
               Call call(called);
               return hvector(call, count, blocklength, stride, oldtype, newtype);
             })

extern "C" int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                                 MPI_Datatype* newtype) {
  Call call(call_name<"MPI_Type_hvector">);
  return hvector(call, count, blocklength, stride, oldtype, newtype);
}
MARGAY_ALIAS(Type_hvector)

MARGAY_TWINS(Type_indexed,
             (Count count, const Count array_of_blocklengths[], const Count array_of_displacements[],
              MPI_Datatype oldtype, MPI_Datatype* newtype),
             {
               Call call(called);
               return indexed(call, count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
             })

MARGAY_TWINS(Type_create_hindexed,
             (Count count, const Count array_of_blocklengths[], const Address array_of_displacements[],
              MPI_Datatype oldtype, MPI_Datatype* newtype),
             {
               Call call(called);
               return hindexed(call, count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
             })

extern "C" int PMPI_Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[],
                                  MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Call call(call_name<"MPI_Type_hindexed">);
  return hindexed(call, count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
}
MARGAY_ALIAS(Type_hindexed)

MARGAY_TWINS(Type_create_indexed_block,
             (Count count, Count blocklength, const Count array_of_displacements[], MPI_Datatype oldtype,
              MPI_Datatype* newtype),
             {
               Call call(called);
               return indexed_block(call, count, blocklength, array_of_displacements, oldtype, newtype);
             })

MARGAY_TWINS(Type_create_hindexed_block,
             (Count count, Count blocklength, const Address array_of_displacements[], MPI_Datatype oldtype,
              MPI_Datatype* newtype),
             {
               Call call(called);
               return hindexed_block(call, count, blocklength, array_of_displacements, oldtype, newtype);
             })

MARGAY_TWINS(Type_create_struct,
             (Count count, const Count array_of_blocklengths[], const Address array_of_displacements[],
              const MPI_Datatype array_of_types[], MPI_Datatype* newtype),
             {
               Call call(called);
               return structure(call, count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
             })

extern "C" int PMPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[],
                                MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
  Call call(call_name<"MPI_Type_struct">);
  return structure(call, count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}
MARGAY_ALIAS(Type_struct)

MARGAY_TWINS(Type_create_resized, (MPI_Datatype oldtype, Address lb, Address extent, MPI_Datatype* newtype), {
  Call call(called);
  return resized<Count>(call, oldtype, lb, extent, newtype);
})

extern "C" int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  Call call(call_name<"MPI_Type_dup">);
  Datatype* old = call.any_datatype(oldtype);
  call.not_null(newtype, "newtype");
  if (!call.ok()) return call.failed();
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int result =
      hand_out_type(call, make_dup(old->definition, {MPI_COMBINER_DUP, {}, {}, {old->definition}}), &made);
  if (result != MPI_SUCCESS) return result;
  Datatype* added = call.rank().handles().datatype(made);
  // "The new type is committed if the old one is."
  added->committed = old->committed;
  // If a copy function fails, the program gets no type.
  const bool copied = copy_attributes(call, *old, *added);
  if (!copied) call.rank().handles().free_datatype(*added);
  *newtype = copied ? made : MPI_DATATYPE_NULL;
  return call.done();
}
MARGAY_ALIAS(Type_dup)
