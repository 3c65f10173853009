#include "mpi_adi/object/attribute.hpp"

#include <algorithm>
#include <utility>

namespace margay::mpi_adi {

Attribute* AttributeList::find(const Keyval& keyval) {
  for (Attribute& attribute : attributes_) {
    if (attribute.keyval.get() == &keyval) return &attribute;
  }
  return nullptr;
}

void AttributeList::append(KeyvalPtr keyval, AttributeValue value) {
  attributes_.push_back({std::move(keyval), value});
}

void AttributeList::remove(const Keyval& keyval) {
  std::erase_if(attributes_, [&keyval](const Attribute& attribute) { return attribute.keyval.get() == &keyval; });
}

}  // namespace margay::mpi_adi
