// The objects of one node that other nodes may name, by ids that are equal on all nodes (paper, 5: "localObjPtr"), and
// their monitors (5.1). Any thread of the node may call any function.
//
// An id is the place in a vector and is not used again after remove(): a late request for a removed object finds a null
// address instead of another object. No function throws but add(), for lack of memory.
//
// A monitor is held from the begin of an atomic method to its end, also while the method waits, so that requests for
// its object wait, and with them their source's later ones (inbox.hpp, invariant 2); or by the program, during an
// rmi_monitor. Non-atomic methods neither hold a monitor nor wait for one.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <typeinfo>
#include <vector>

#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

// A thread of a node: the program's, which also runs the methods unless the node has a communication thread. As the
// holder of a monitor, `none` is a free one.
enum class Side : std::uint8_t { none, program, thread };

// The caller owns the objects; this class has their addresses only. Id 0 is the node's Service.
class Objects {
 public:
  // `threaded`: two threads use it. Otherwise no function locks.
  explicit Objects(bool threaded) : threaded_(threaded) {}

  // Sets `id` to the next one, before a method of the object can run in another thread and read it. Requires: all nodes
  // add their objects in the same order, so that an object has one id everywhere.
  void add(void* address, const std::type_info& type, std::uint32_t& id) {
    const auto guard = lock();
    id = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({{address, &type}, {}});
  }
  // Removes an object: forgets the address, also in `heres`, those of the node's threads. The id stays, and the type,
  // for messages about later requests. An unknown id is ignored.
  void remove(std::uint32_t id, std::initializer_list<Here*> heres) {
    const auto guard = lock();
    if (id < entries_.size()) entries_[id].object.address = nullptr;
    // Another object may get the same address.
    for (Here* const each : heres) each->forget(id);
  }
  // The object of an id that came from another node, so that any value is possible. An unknown id has a null address
  // and no type; an object that was removed has a null address.
  [[nodiscard]] ObjectEntry find(std::uint32_t id) const {
    const auto guard = lock();
    return id < entries_.size() ? entries_[id].object : ObjectEntry{};
  }
  // The id of an object that is registered by this type, or kNoObject. The latest registration comes first, because an
  // address may be used again after a destruction and because recent objects are named most. `other`: set to another
  // type by which the address is registered, if there is one, for the message. Time: proportional to the number of
  // registrations.
  [[nodiscard]] std::uint32_t id_of(const void* address, const std::type_info& type,
                                    const std::type_info*& other) const {
    const auto guard = lock();
    return search(address, type, other);
  }
  // The same, and the calling thread's `mine` remembers the object. In one step, so that remove() finds it there.
  [[nodiscard]] std::uint32_t look_up(Here& mine, const void* address, const std::type_info& type,
                                      const std::type_info*& other) const {
    const auto guard = lock();
    const std::uint32_t id = search(address, type, other);
    if (id != kNoObject) mine.remember(address, type, id);
    return id;
  }

  // The thread that holds the object's monitor (paper, 5.1), as an atomic method in execution does. An unknown id's is
  // always free.
  [[nodiscard]] Side holder(std::uint32_t id) const {
    const auto guard = lock();
    return id < entries_.size() ? entries_[id].holder : Side::none;
  }
  // Enters the monitor if it is free, for `side`. Never waits: the caller tries again when something has happened. True
  // for an unknown id, because its request fails anyway.
  [[nodiscard]] bool try_enter(std::uint32_t id, Side side) {
    const auto guard = lock();
    if (id >= entries_.size()) return true;
    if (entries_[id].holder != Side::none) return false;
    entries_[id].holder = side;
    ++held_;
    return true;
  }
  // Requires: try_enter() has returned true, and leave() was not called since. Wakes no waiter: the caller does.
  void leave(std::uint32_t id) {
    const auto guard = lock();
    if (id >= entries_.size()) return;
    entries_[id].holder = Side::none;
    --held_;
  }
  // Whether any monitor is held: a request need not be parsed before its turn if none is.
  [[nodiscard]] bool any_held() const {
    const auto guard = lock();
    return held_ != 0;
  }

 private:
  struct Entry {
    ObjectEntry object;
    Side holder = Side::none;
  };
  // id_of(). Requires: the lock.
  [[nodiscard]] std::uint32_t search(const void* address, const std::type_info& type,
                                     const std::type_info*& other) const {
    for (std::size_t id = entries_.size(); id-- > 0 && address != nullptr;) {
      const ObjectEntry& object = entries_[id].object;
      if (object.address != address) continue;
      if (*object.type == type) return static_cast<std::uint32_t>(id);
      other = object.type;
    }
    return kNoObject;
  }
  [[nodiscard]] std::unique_lock<std::mutex> lock() const {
    return threaded_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }

  const bool threaded_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  unsigned held_ = 0;
};

}  // namespace margay::rmi::core
