// Tests of listeners that change their list while they are notified.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "mpi_adi/device/listener.hpp"

namespace margay::mpi_adi {

namespace {

// Counts its notifications, and removes listeners.
struct Remover final : Listener {
  std::vector<Listener*>* list = nullptr;
  std::vector<Listener*> removes;
  int notified = 0;
  void notify() override {
    ++notified;
    for (Listener* const each : removes) std::erase(*list, each);
  }
};

struct List {
  List() {
    for (Remover& each : all) {
      each.list = &listeners;
      listeners.push_back(&each);
    }
  }
  std::array<Remover, 4> all;
  std::vector<Listener*> listeners;
};

}  // namespace

TEST_CASE("a listener that removes all others ends the round") {
  List list;
  for (Remover& each : list.all) list.all[3].removes.push_back(&each);
  notify_all(list.listeners);
  CHECK(list.all[3].notified == 1);
  for (int i = 0; i < 3; ++i) CHECK(list.all[static_cast<std::size_t>(i)].notified == 0);
}

TEST_CASE("removals of earlier and later listeners skip no listener and call no removed one") {
  for (std::size_t remover = 0; remover < 4; ++remover) {
    for (std::size_t removed = 0; removed < 4; ++removed) {
      List list;
      list.all[remover].removes = {&list.all[removed]};
      notify_all(list.listeners);
      for (std::size_t i = 0; i < 4; ++i) {
        CAPTURE(remover);
        CAPTURE(removed);
        // The last one is notified first.
        if (i == removed && removed < remover) {
          CHECK(list.all[i].notified == 0);
        } else {
          CHECK(list.all[i].notified >= 1);
        }
      }
    }
  }
}

}  // namespace margay::mpi_adi
