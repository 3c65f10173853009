// The table of functors: how a kind of request is named in another process (paper, 6.1; the paper leaves the naming
// open).
//
// Each kind of request, a class of object with a type of method, is a functor type (method.hpp). A static variable of a
// template registers it before main() in each process of the job, used there or not, because all run one program. On
// the wire it is a hash of its mangled name, so the order of registration is irrelevant. Two functors with one hash are
// an error at the start of the job, and so are nodes with different tables (identity.hpp).
//
//   Registration<Functor<Counter, Method>>::entry().hash()          // at the caller: the number in the request's head
//   find_functor(hash)->execute()(request, &counter, reply)         // at the destination
//
// Invariants:
// 1. The list of registered functors only grows, by constructors that run one after the other.
// 2. A table is immutable once it is published. For a functor that is not in it, find_functor() looks whether functors
//    were registered since, builds a new table and publishes it; threads that use the old one are not disturbed.
// 3. A functor's address, and so its entry, is another in each process; only its hash travels.
//
// Cost: a lookup is an atomic load and, without a collision, one slot. Each new table keeps the ones before, because a
// reader may still use them: a few kilobytes for each dlopen() of a library with functors.
#pragma once

#include <cxxabi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <typeinfo>
#include <vector>

#include "margay/rmi/error.hpp"
#include "margay/rmi/hash.hpp"
#include "margay/rmi/module.hpp"

namespace margay::rmi {

class RequestView;
class ReplySink;

// Executes a request's method on `object`, whose type the caller has checked. Writes the result to `reply` if the
// request wants one. Throws `error` for damaged arguments, and whatever the method throws.
using Execute = void (*)(const RequestView& request, void* object, ReplySink* reply);

// A readable form of a mangled name, or the name itself if it is not one. Allocates: for messages only.
inline std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

// One functor type: its name, and how to execute it. Constant after registration, and used by all threads.
class FunctorEntry {
 public:
  // The functor type, the class of its objects, the type of its method, and the functor's static execute().
  FunctorEntry(const std::type_info& functor_type, const std::type_info& object_type, const std::type_info& method_type,
               Execute function)
      : name_(functor_type.name()),
        hash_(hash_of(functor_type.name())),
        object_(&object_type),
        method_(&method_type),
        execute_(function) {}

  // The mangled name of the functor type, equal in all processes of a job. The string is its module's.
  [[nodiscard]] const char* name() const { return name_; }
  // Its number on the wire; never 0, which marks an empty slot of a table.
  [[nodiscard]] std::uint32_t hash() const { return hash_; }
  // The class of the object, which the execution compares with that of the found object; the type of the method, for
  // messages; and the function that executes a request.
  [[nodiscard]] const std::type_info& object() const { return *object_; }
  [[nodiscard]] const std::type_info& method() const { return *method_; }
  [[nodiscard]] Execute execute() const { return execute_; }

  // The module that its code is in: most methods lie in the same one, and are named by their offset alone.
  [[nodiscard]] const Module& module() const {
    const Module* known = module_.load(std::memory_order_acquire);  // pairs with the release in find_own_module()
    return known != nullptr ? *known : find_own_module();
  }

 private:
  [[nodiscard]] static std::uint32_t hash_of(const char* name) {
    const auto hash = static_cast<std::uint32_t>(hash_text(name));
    return hash == 0 ? 1 : hash;
  }
  // Several threads may call it at once; they store the same module. Throws `error` for code outside of all modules.
  [[gnu::noinline, gnu::cold]] const Module& find_own_module() const {
    const Module* module = module_of_code(reinterpret_cast<std::uintptr_t>(execute_));
    if (module == nullptr) fail("the code of a functor lies in no loaded module: " + demangled(name_));
    module_.store(module, std::memory_order_release);  // pairs with the acquire in module(): the module is complete
    return *module;
  }

  const char* name_;
  std::uint32_t hash_;
  const std::type_info* object_;
  const std::type_info* method_;
  Execute execute_;
  mutable std::atomic<const Module*> module_ = nullptr;
};

// A functor that is registered, in a list that begins at `registered_functors`. Static, so never destroyed while
// methods run; a library with functors must not be unloaded.
struct RegisteredFunctor {
  FunctorEntry entry;
  const RegisteredFunctor* next;
};

// The latest registration. Static constructors alone write it, one after the other, under the loader's lock for a
// library that is opened later. One for the whole process, if the program exports it (-rdynamic) to libraries opened by
// dlopen.
[[gnu::visibility("default")]] constinit inline std::atomic<const RegisteredFunctor*> registered_functors = nullptr;

// Registers `Functor` before main() in each program that names `Registration<Functor>::functor`.
template <class Functor>
struct Registration {
  // Valid from the static constructors of its module to the end of the process.
  static const FunctorEntry& entry() { return functor.entry; }

  struct Registered : RegisteredFunctor {
    Registered()
        : RegisteredFunctor{
              {typeid(Functor), typeid(typename Functor::Object), typeid(typename Functor::Method), &Functor::execute},
              registered_functors.load(std::memory_order_relaxed)} {  // relaxed: constructors are serial
      registered_functors.store(this, std::memory_order_release);     // pairs with the acquire in all_functors()
    }
  };
  static inline const Registered functor;
};

// All functors that are registered now, the latest first. A template in two libraries has an entry for each. Any
// thread.
inline std::vector<const FunctorEntry*> all_functors() {
  std::vector<const FunctorEntry*> all;
  const RegisteredFunctor* at = registered_functors.load(std::memory_order_acquire);  // pairs with Registered()
  for (; at != nullptr; at = at->next) all.push_back(&at->entry);
  return all;
}

// A hash table of functors with open addressing, at most a quarter full, so that most are in their first slot.
// Immutable.
class FunctorTable {
 public:
  // Throws `error` with both names if two functors have one hash, or one name without being the same.
  // `before`: the table that this one replaces, if any, which stays for readers.
  explicit FunctorTable(const std::vector<const FunctorEntry*>& functors, const FunctorTable* before = nullptr)
      : before_(before) {
    std::size_t slots = 16;
    while (slots < 4 * functors.size()) slots *= 2;
    slots_.resize(slots);
    mask_ = slots - 1;
    for (const FunctorEntry* one : functors) insert(*one);
  }

  // The functor in the first place for it, or null if it is elsewhere or unknown.
  [[nodiscard]] const FunctorEntry* find_at_once(std::uint32_t hash) const {
    const Slot& slot = slots_[hash & mask_];
    return slot.hash == hash ? slot.entry : nullptr;
  }
  // The functor, or null.
  [[nodiscard]] const FunctorEntry* find(std::uint32_t hash) const {
    for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
      if (slots_[i].hash == hash) return slots_[i].entry;
      if (slots_[i].hash == 0) return nullptr;
    }
  }

 private:
  // The hash beside the entry: a search reads the slots only. A hash of 0 is an empty slot.
  struct Slot {
    std::uint32_t hash = 0;
    const FunctorEntry* entry = nullptr;
  };

  // Linear probing. A functor that another library has registered already keeps its slot.
  void insert(const FunctorEntry& functor) {
    std::size_t i = functor.hash() & mask_;
    while (slots_[i].hash != 0 && slots_[i].hash != functor.hash()) i = (i + 1) & mask_;
    if (slots_[i].hash == 0)
      slots_[i] = {functor.hash(), &functor};
    else
      check_same(*slots_[i].entry, functor);
  }
  // A template that two libraries have instantiated is registered by each, and is the same. A class of an unnamed
  // namespace has one name in several files, and is another class in each.
  static void check_same(const FunctorEntry& one, const FunctorEntry& other) {
    if (std::strcmp(one.name(), other.name()) != 0)
      fail("two functors have the same hash: " + demangled(one.name()) + " and " + demangled(other.name()) +
           "; rename the class or the method of one");
    const bool local = std::strstr(one.name(), "_GLOBAL__N_") != nullptr;
    if (&one != &other && (local || &one.module() == &other.module()))
      fail("two functors have the same name: " + demangled(one.name()) + " and " + demangled(other.name()) +
           "; classes of unnamed namespaces in two files need different names");
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  [[maybe_unused]] const FunctorTable* before_;  // reachable, so that no leak is reported
};

namespace detail {

// The current table, or null before the first rebuild. Earlier ones stay, for readers.
constinit inline std::atomic<const FunctorTable*> current_table = nullptr;

// Builds the table if functors were registered since the last time, by the program's start or a dlopen.
[[gnu::noinline]] inline const FunctorTable& rebuild_table() {
  static std::mutex mutex;
  static const RegisteredFunctor* latest = nullptr;  // guarded by mutex
  const std::lock_guard lock(mutex);
  const auto* now = registered_functors.load(std::memory_order_acquire);      // pairs with Registered()
  const FunctorTable* table = current_table.load(std::memory_order_relaxed);  // relaxed: written under the lock only
  if (table == nullptr || now != latest) {
    const FunctorTable* before = table;
    table = new FunctorTable(all_functors(), before);
    latest = now;
    current_table.store(table, std::memory_order_release);  // pairs with the acquire in find_functor(): it is complete
  }
  return *table;
}

// What is not in its first slot: a collision, a functor that was registered since, or none.
[[gnu::noinline]] inline const FunctorEntry* find_functor_slowly(std::uint32_t hash) {
  const FunctorTable* table = current_table.load(std::memory_order_acquire);  // pairs with rebuild_table()
  const FunctorEntry* found = table != nullptr ? table->find(hash) : nullptr;
  return found != nullptr ? found : rebuild_table().find(hash);
}

}  // namespace detail

// Throws `error` if two functors have the same hash or the same name; the message has both and the cure. For the start
// of a job, so that a mistake is found before a request needs the functor.
inline void check_functors() {
  static_cast<void>(detail::rebuild_table());
}

// The functor of this hash, or null if this process has none. Any thread; without a lock if the functor is in the
// table. An unknown hash, as of a damaged request, takes a lock. Throws as check_functors() after a dlopen.
[[nodiscard]] inline const FunctorEntry* find_functor(std::uint32_t hash) {
  const FunctorTable* table = detail::current_table.load(std::memory_order_acquire);  // pairs with rebuild_table()
  const FunctorEntry* found = table != nullptr ? table->find_at_once(hash) : nullptr;
  return found != nullptr ? found : detail::find_functor_slowly(hash);
}

}  // namespace margay::rmi
