// The objects of one node that other nodes may name, and their monitors. Any thread of the node may call any function.
#pragma once

#include <cstdint>
#include <mutex>
#include <typeinfo>
#include <vector>

#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

// A thread of a node: the program's, which also runs the methods unless the node has a communication thread.
enum class Side : std::uint8_t { none, program, thread };

class Objects {
 public:
  // `threaded`: two threads use it.
  explicit Objects(bool threaded) : threaded_(threaded) {}

  // Returns the next id. All nodes add their objects in the same order, so that an object has one id everywhere.
  std::uint32_t add(void* address, const std::type_info& type) {
    const auto guard = lock();
    entries_.push_back({{address, &type}, {}});
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }
  // Removes an object. Its type stays, for messages about later requests.
  void remove(std::uint32_t id) {
    const auto guard = lock();
    if (id < entries_.size()) entries_[id].object.address = nullptr;
  }
  // An unknown id has a null address and no type; an object that was removed has a null address.
  [[nodiscard]] ObjectEntry find(std::uint32_t id) const {
    const auto guard = lock();
    return id < entries_.size() ? entries_[id].object : ObjectEntry{};
  }
  // The id of an object that is registered by this type, or kNoObject; the latest registration first. `other`: set to
  // another type by which the address is registered, if there is one.
  [[nodiscard]] std::uint32_t id_of(const void* address, const std::type_info& type,
                                    const std::type_info*& other) const {
    const auto guard = lock();
    for (std::size_t id = entries_.size(); id-- > 0 && address != nullptr;) {
      const ObjectEntry& object = entries_[id].object;
      if (object.address != address) continue;
      if (*object.type == type) return static_cast<std::uint32_t>(id);
      other = object.type;
    }
    return kNoObject;
  }

  // The thread that holds the object's monitor (paper, 5.1), as an atomic method in execution does. An unknown id's is
  // always free.
  [[nodiscard]] Side holder(std::uint32_t id) const {
    const auto guard = lock();
    return id < entries_.size() ? entries_[id].holder : Side::none;
  }
  // Enters the monitor if it is free.
  [[nodiscard]] bool try_enter(std::uint32_t id, Side side) {
    const auto guard = lock();
    if (id >= entries_.size()) return true;
    if (entries_[id].holder != Side::none) return false;
    entries_[id].holder = side;
    ++held_;
    return true;
  }
  void leave(std::uint32_t id) {
    const auto guard = lock();
    if (id >= entries_.size()) return;
    entries_[id].holder = Side::none;
    --held_;
  }
  // Whether any monitor is held.
  [[nodiscard]] bool any_held() const {
    const auto guard = lock();
    return held_ != 0;
  }

 private:
  struct Entry {
    ObjectEntry object;
    Side holder = Side::none;
  };
  [[nodiscard]] std::unique_lock<std::mutex> lock() const {
    return threaded_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }

  const bool threaded_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  unsigned held_ = 0;
};

}  // namespace margay::rmi::core
