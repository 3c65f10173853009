// The objects of one node that other nodes may name, by ids that are equal on all nodes (paper, 5: "localObjPtr"), and
// their monitors (5.1).
//
// An id is the place in a vector and is not used again after remove(): a late request for a removed object finds a null
// address instead of another object. Used by the node's thread only. No function throws but add(), for lack of memory.
//
// A monitor is held from the begin of an atomic method to its end, also while the method waits, so that requests for
// its object wait, and with them their source's later ones (inbox.hpp, invariant 2). Non-atomic methods neither hold a
// monitor nor wait for one.
#pragma once

#include <cstdint>
#include <typeinfo>
#include <vector>

#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

// The caller owns the objects; this class has their addresses only. Id 0 is the node's Service.
class Objects {
 public:
  // Returns the next id. Requires: all nodes add their objects in the same order, so that an object has one id
  // everywhere.
  std::uint32_t add(void* address, const std::type_info& type) {
    entries_.push_back({{address, &type}, false});
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }
  // Forgets the address; the id stays. An unknown id is ignored.
  void remove(std::uint32_t id) {
    if (id < entries_.size()) entries_[id].object = {};
  }
  // The object of an id that came from another node, so that any value is possible. An unknown id has a null address.
  [[nodiscard]] ObjectEntry find(std::uint32_t id) const {
    return id < entries_.size() ? entries_[id].object : ObjectEntry{};
  }
  // The id of an object that is registered by this type, or kNoObject. The latest registration comes first, because an
  // address may be used again after a destruction and because recent objects are named most. `other`: set to another
  // type by which the address is registered, if there is one, for the message. Time: proportional to the number of
  // registrations; core::Here remembers the last result.
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

  // Whether an atomic method of the object is in execution: the paper's monitor (5.1). A flag is enough, because all
  // methods of a node run on one thread: the monitor only decides what runs while a method waits. Of an unknown id:
  // false.
  [[nodiscard]] bool busy(std::uint32_t id) const { return id < entries_.size() && entries_[id].busy; }
  // Enters and leaves the monitor. Requires: it is free, or held by the caller. An unknown id is ignored, because its
  // request fails anyway.
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
