// Attributes of communicators (MPI 4.0, 7.7.2; the predefined ones: 9.1.2 and 11.10).
#include "mpi_adi/mpi/attribute/arguments.hpp"
#include "mpi_adi/mpi/attribute_callbacks.hpp"
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"

using namespace margay::mpi_adi;

namespace {

int set(Call& call, MPI_Comm comm, int keyval, void* value) {
  Communicator* communicator = call.communicator(comm);
  const KeyvalPtr key = find_unfreed_keyval(call, keyval, ObjectType::communicator);
  if (call.ok()) set_attribute(call, *communicator, key, value);
  return call.done();
}

int get(Call& call, MPI_Comm comm, int keyval, void* value, int* flag) {
  const Communicator* communicator = call.communicator(comm);
  call.not_null(value, "attribute_val");
  call.not_null(flag, "flag");
  if (!call.ok()) return call.failed();
  MpiRank& rank = call.rank();
  if (is_builtin(keyval) && keyval_owner(keyval) == ObjectType::communicator) {
    int* told = rank.tables().inquiries.find(keyval, rank.errors().last_used_code());
    *flag = told != nullptr ? 1 : 0;
    if (told != nullptr) *static_cast<void**>(value) = told;
    return call.done();
  }
  const KeyvalPtr key = find_keyval(call, keyval, ObjectType::communicator);
  if (!call.ok()) return call.failed();
  const Attribute* attribute = communicator->attributes.find(*key);
  *flag = attribute != nullptr ? 1 : 0;
  if (attribute != nullptr) *static_cast<void**>(value) = attribute->value;
  return call.done();
}

int remove(Call& call, MPI_Comm comm, int keyval) {
  Communicator* communicator = call.communicator(comm);
  const KeyvalPtr key = find_keyval(call, keyval, ObjectType::communicator);
  if (call.ok()) delete_attribute(call, *communicator, key);
  return call.done();
}

}  // namespace

extern "C" int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val) {
  Call call(call_name<"MPI_Comm_set_attr">);
  return set(call, comm, comm_keyval, attribute_val);
}
MARGAY_ALIAS(Comm_set_attr)

extern "C" int PMPI_Attr_put(MPI_Comm comm, int keyval, void* attribute_val) {
  Call call(call_name<"MPI_Attr_put">);
  return set(call, comm, keyval, attribute_val);
}
MARGAY_ALIAS(Attr_put)

extern "C" int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  Call call(call_name<"MPI_Comm_get_attr">);
  return get(call, comm, comm_keyval, attribute_val, flag);
}
MARGAY_ALIAS(Comm_get_attr)

extern "C" int PMPI_Attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  Call call(call_name<"MPI_Attr_get">);
  return get(call, comm, keyval, attribute_val, flag);
}
MARGAY_ALIAS(Attr_get)

extern "C" int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval) {
  Call call(call_name<"MPI_Comm_delete_attr">);
  return remove(call, comm, comm_keyval);
}
MARGAY_ALIAS(Comm_delete_attr)

extern "C" int PMPI_Attr_delete(MPI_Comm comm, int keyval) {
  Call call(call_name<"MPI_Attr_delete">);
  return remove(call, comm, keyval);
}
MARGAY_ALIAS(Attr_delete)
