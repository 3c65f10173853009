#include "mpi/communicator/attribute_callbacks.hpp"

#include <cstdio>
#include <list>
#include <string>
#include <type_traits>

#include "sim/machine/process.hpp"

namespace margay::mpi {

namespace {

// A reference to an object, held while callbacks run, because they may free the object.
template <typename Object>
class Pin {
 public:
  Pin(Call& call, Object& object) : rank_(call.rank()), object_(object) { ++object_.references; }
  ~Pin() {
    if constexpr (std::is_same_v<Object, Datatype>) {
      Handles::release(object_);
    } else {
      rank_.release(object_);
    }
  }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

 private:
  MpiRank& rank_;
  Object& object_;
};

std::string callback_failure_text(const char* which, const Keyval& keyval, int code) {
  char key[16];
  std::snprintf(key, sizeof key, "0x%08x", static_cast<unsigned>(keyval.handle));
  return std::string("the ") + which + " function of attribute key " + key + " returned " + std::to_string(code);
}

void callback_failed(Call& call, const char* which, const Keyval& keyval, int code) {
  // A later error does not change the call's.
  if (call.ok()) call.set_error_origin(Call::ErrorOrigin::program_class);
  // A callback may return any number; only a valid code can be raised.
  call.error(call.rank().errors().is_code(code) ? code : MPI_ERR_OTHER, callback_failure_text(which, keyval, code));
}

// Takes the attribute by value, because the callback may change the list that holds it.
int call_delete(Call& call, Handle handle, Attribute attribute) {
  const Keyval& keyval = *attribute.keyval;
  // MPI_COMM_NULL_DELETE_FN and its variants.
  if (keyval.delete_value == nullptr) return MPI_SUCCESS;
  AttributeValue& value = attribute.value;
  call.step_out();
  const int code = keyval.foreign_delete != nullptr
                       ? keyval.foreign_delete(keyval.delete_value, handle, keyval.handle, value.kind(), value.word(),
                                               keyval.extra_state)
                       : keyval.delete_value(handle, keyval.handle, value.for_c(), keyval.extra_state);
  call.step_in();
  return code;
}

bool run_delete(Call& call, Handle handle, const Attribute& attribute) {
  const KeyvalPtr keyval = attribute.keyval;
  const int code = call_delete(call, handle, attribute);
  if (code != MPI_SUCCESS) callback_failed(call, "delete", *keyval, code);
  return code == MPI_SUCCESS;
}

// Calls the key's copy function. `value`: the old value, replaced by the new one. A function of C++ or Fortran returns
// a value of the old value's kind. A function of C gets a number by its address: if it returns this address, the number
// is copied; any other returned value is an address.
int call_copy(const Keyval& keyval, Handle handle, AttributeValue& value, int& flag) {
  void* copy = nullptr;
  if (keyval.foreign_copy != nullptr) {
    const int code = keyval.foreign_copy(keyval.copy, handle, keyval.handle, keyval.extra_state, value.kind(),
                                         value.word(), &copy, &flag);
    value = {copy, value.kind()};
    return code;
  }
  void* const given = value.for_c();
  const int code = keyval.copy(handle, keyval.handle, keyval.extra_state, given, static_cast<void*>(&copy), &flag);
  if (copy != given) value = {copy, AttributeKind::address};
  return code;
}

// By value: the callback may change the list that holds the attribute.
bool run_copy(Call& call, Handle handle, Attribute attribute, AttributeList& to) {
  const Keyval& keyval = *attribute.keyval;
  // MPI_COMM_NULL_COPY_FN: the duplicate does not get the attribute.
  if (keyval.copy == nullptr) return true;
  int flag = 0;
  call.step_out();
  const int code = call_copy(keyval, handle, attribute.value, flag);
  call.step_in();
  if (code != MPI_SUCCESS) {
    callback_failed(call, "copy", keyval, code);
    return false;
  }
  if (flag != 0) to.append(attribute.keyval, attribute.value);
  return true;
}

// The value stays set if the delete function fails.
bool delete_one(Call& call, Handle handle, AttributeList& list, const KeyvalPtr& keyval) {
  const Attribute* old = list.find(*keyval);
  if (old == nullptr) return true;
  if (!run_delete(call, handle, *old)) return false;
  list.remove(*keyval);  // also a value that the callback has set meanwhile
  return true;
}

template <typename Object>
bool set_in(Call& call, Object& object, const KeyvalPtr& keyval, AttributeValue value) {
  const Pin pin(call, object);
  if (!delete_one(call, object.handle, object.attributes, keyval)) return false;
  object.attributes.append(keyval, value);
  return true;
}

template <typename Object>
bool delete_in(Call& call, Object& object, const KeyvalPtr& keyval) {
  const Pin pin(call, object);
  return delete_one(call, object.handle, object.attributes, keyval);
}

// Looks at the list anew each time: a delete function may set or delete others.
template <typename Object>
bool delete_all_in(Call& call, Object& object) {
  const Pin pin(call, object);
  while (!object.attributes.all().empty()) {
    const KeyvalPtr last = object.attributes.all().back().keyval;
    if (!delete_one(call, object.handle, object.attributes, last)) return false;
  }
  return true;
}

// Deletes the copied attributes. Continues after further errors, because the call keeps the first one.
template <typename Object>
void take_back(Call& call, Object& object) {
  while (!object.attributes.all().empty()) {
    const Attribute last = object.attributes.all().back();
    (void)run_delete(call, object.handle, last);
    object.attributes.remove(*last.keyval);
  }
}

template <typename Object>
bool copy_all_in(Call& call, Object& from, Object& to) {
  if (from.attributes.all().empty()) return true;
  const Pin pin_from(call, from);
  const Pin pin_to(call, to);
  // A copy, because callbacks may change the attributes of `from`.
  const std::list<Attribute> as_they_are = from.attributes.all();
  for (const Attribute& attribute : as_they_are) {
    if (run_copy(call, from.handle, attribute, to.attributes)) continue;
    take_back(call, to);
    return false;
  }
  return true;
}

}  // namespace

bool set_attribute(Call& call, Communicator& communicator, const KeyvalPtr& keyval, AttributeValue value) {
  return set_in(call, communicator, keyval, value);
}
bool set_attribute(Call& call, Datatype& type, const KeyvalPtr& keyval, AttributeValue value) {
  return set_in(call, type, keyval, value);
}

bool delete_attribute(Call& call, Communicator& communicator, const KeyvalPtr& keyval) {
  return delete_in(call, communicator, keyval);
}
bool delete_attribute(Call& call, Datatype& type, const KeyvalPtr& keyval) {
  return delete_in(call, type, keyval);
}

bool delete_attributes(Call& call, Communicator& communicator) {
  return communicator.attributes.all().empty() || delete_all_in(call, communicator);
}
bool delete_attributes(Call& call, Datatype& type) {
  return type.attributes.all().empty() || delete_all_in(call, type);
}

// Removes each attribute even if its function fails, so that the loop ends.
void delete_attributes_at_end(Call& call, Communicator& communicator) {
  while (!communicator.attributes.all().empty()) {
    const KeyvalPtr last = communicator.attributes.all().back().keyval;
    const int code = call_delete(call, communicator.handle, communicator.attributes.all().back());
    communicator.attributes.remove(*last);
    if (code == MPI_SUCCESS) continue;
    std::fprintf(stderr, "margay: rank %u: MPI_Finalize: %s\n", call.rank().process().rank(),
                 callback_failure_text("delete", *last, code).c_str());
  }
}

bool copy_attributes(Call& call, Communicator& from, Communicator& to) {
  return copy_all_in(call, from, to);
}
bool copy_attributes(Call& call, Datatype& from, Datatype& to) {
  return copy_all_in(call, from, to);
}

}  // namespace margay::mpi
