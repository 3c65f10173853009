// The objects of one node that other nodes may name.
#pragma once

#include <cstdint>
#include <typeinfo>
#include <vector>

#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

class Objects {
 public:
  // Returns the next id. All nodes add their objects in the same order, so that an object has one id everywhere.
  std::uint32_t add(void* address, const std::type_info& type) {
    entries_.push_back({{address, &type}, false});
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }
  void remove(std::uint32_t id) {
    if (id < entries_.size()) entries_[id].object = {};
  }
  // An unknown id has a null address.
  [[nodiscard]] ObjectEntry find(std::uint32_t id) const {
    return id < entries_.size() ? entries_[id].object : ObjectEntry{};
  }
  // The id of an object that is registered by this type, or kNoObject; the latest registration first. `other`: set to
  // another type by which the address is registered, if there is one.
  [[nodiscard]] std::uint32_t id_of(const void* address, const std::type_info& type,
                                    const std::type_info*& other) const {
    for (std::size_t id = entries_.size(); id-- > 0;) {
      const ObjectEntry& object = entries_[id].object;
      if (object.address != address) continue;
      if (*object.type == type) return static_cast<std::uint32_t>(id);
      other = object.type;
    }
    return kNoObject;
  }

  // Whether an atomic method of the object is in execution: the paper's monitor (5.1). Of an unknown id: false.
  [[nodiscard]] bool busy(std::uint32_t id) const { return id < entries_.size() && entries_[id].busy; }
  void set_busy(std::uint32_t id, bool busy) {
    if (id < entries_.size()) entries_[id].busy = busy;
  }

 private:
  struct Entry {
    ObjectEntry object;
    bool busy = false;
  };
  std::vector<Entry> entries_;
};

}  // namespace margay::rmi::core
