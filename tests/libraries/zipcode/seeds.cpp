// Mailers of overlapping groups that open at once, with different Postmasters, on a virtual machine
// (tests/libraries/support/virtual_machine.hpp), one run for each seed:
//
//   zipcode_seeds FIRST_SEED LAST_SEED
//
// The seed draws the processes, the groups, their letters, and whose turn is next. A process is either Postmaster of
// some groups, which it opens in turn, or a member of several groups, and then opens as many mailers as it is in
// groups, without knowing their order. Each opened mailer is entered in a ledger that all processes share, because they
// are threads that run in turn: all members of a group have the same mailer, and no process has two open mailers with
// one context_id. Letters, some long and some never received, reach whom they are sent to.
//
// With MARGAY_ZIPCODE_TOKEN=off, some seeds fail by a deadlock.
//
// Prints a line for each seed that failed, "seed 17: REASON".
#include <margay/zipcode.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/libraries/support/seed_runs.hpp"
#include "tests/libraries/support/virtual_machine.hpp"

namespace {

using margay::testing::need;

// A group, and what the members do with its mailer.
struct Plan {
  std::vector<int> nodes;  // the Postmaster first
  bool closes_at_once = false;
  int letters = 0;
  int bytes = 0;
};

// The state that all processes of a run share.
struct World {
  std::uint64_t seed = 0;
  int processes = 0;
  int postmasters = 0;  // nodes 0 to postmasters - 1
  std::vector<Plan> plans{};
  // By process: the context_ids of its open mailers.
  std::vector<std::set<int>> used{};
  // By group: the context_id that its first member got.
  std::map<int, int> context{};
};
World* world = nullptr;

World make_world(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<std::uint64_t>(bound)); };
  World made;
  made.seed = seed;
  made.postmasters = 2 + below(2);
  made.processes = made.postmasters + 2 + below(5);
  made.used.resize(static_cast<std::size_t>(made.processes));
  for (int i = 0, groups = 3 + below(8); i < groups; ++i) {
    Plan plan;
    std::vector<int> members;
    for (int node = made.postmasters; node < made.processes; ++node) {
      if (below(4) != 0) members.push_back(node);
    }
    std::shuffle(members.begin(), members.end(), random);
    plan.nodes.push_back(below(made.postmasters));
    plan.nodes.insert(plan.nodes.end(), members.begin(), members.end());
    plan.closes_at_once = below(2) == 0;
    plan.letters = below(4);
    plan.bytes = below(8) == 0 ? 20000 : 4 + below(100);
    made.plans.push_back(plan);
  }
  return made;
}

// One process.
class Player {
 public:
  explicit Player(int node) : node_(node) {}

  void play() {
    need(Zip_nohost_init() == 0, "Zip_nohost_init failed");
    for (int number = 0; number < static_cast<int>(world->plans.size()); ++number) {
      const Plan& plan = world->plans[static_cast<std::size_t>(number)];
      const bool is_member = std::find(plan.nodes.begin() + 1, plan.nodes.end(), node_) != plan.nodes.end();
      if (plan.nodes.front() == node_) take_part(open_as_postmaster(plan), number);
      if (is_member) take_part(z_open(nullptr), -1);
    }
    for (ZIP_MAILER*& each : open_) close(each);
    zip_exit();
  }

 private:
  ZIP_MAILER* open_as_postmaster(const Plan& plan) {
    std::vector<Zip_process> processes;
    for (const int node : plan.nodes) processes.push_back({node, 1});
    ZIP_ADDRESSEES* group = zip_new_addressees(static_cast<int>(processes.size()), processes.data());
    ZIP_MAILER* const mailer = z_open(group);
    zip_free_addressees(&group);
    return mailer;
  }

  // `number`: of the group; -1: the caller is not the Postmaster, which sends it.
  void take_part(ZIP_MAILER* mailer, int number) {
    need(mailer != nullptr, "a mailer was not opened");
    const int context = zip_context_id(mailer);
    need(world->used[static_cast<std::size_t>(node_)].insert(context).second,
         "a process has two open mailers with one context_id");
    int length = static_cast<int>(sizeof number);
    void* data = &number;
    need(z_fanout(mailer, &data, &length, 0) == 0, "the fan-out failed");
    const Plan& plan = world->plans[static_cast<std::size_t>(number)];
    const int expected = world->context.emplace(number, context).first->second;
    need(expected == context, "two members of a group have different mailers");
    need(zip_size(mailer) == static_cast<int>(plan.nodes.size()), "a mailer has another group's size");
    need(plan.nodes[static_cast<std::size_t>(zip_rank(mailer))] == node_, "a mailer has another group's ranks");
    exchange(mailer, plan, number);
    open_.push_back(mailer);
    if (plan.closes_at_once) close(open_.back());
  }

  // Letters to the next member; the last one of them is not received.
  void exchange(ZIP_MAILER* mailer, const Plan& plan, int number) {
    const int rank = zip_rank(mailer), size = zip_size(mailer);
    for (int i = 0; i < plan.letters; ++i) {
      char* const letter = z_new_letter(mailer, plan.bytes);
      std::memset(letter, number * 10 + i, static_cast<std::size_t>(plan.bytes));
      z_send(mailer, letter, (rank + 1) % size);
    }
    for (int i = 0; i + 1 < plan.letters; ++i) {
      char* const letter = z_recvb(mailer, (rank + size - 1) % size);
      need(letter != nullptr && zip_length(mailer, letter) == plan.bytes, "a letter has another length");
      need(letter[0] == number * 10 + i && letter[plan.bytes - 1] == number * 10 + i, "a letter is another one's");
      z_free_letter(mailer, letter);
    }
  }

  void close(ZIP_MAILER*& mailer) {
    if (mailer == nullptr) return;
    world->used[static_cast<std::size_t>(node_)].erase(zip_context_id(mailer));
    need(zip_close(&mailer) == 0, "a mailer was not closed");
  }

  const int node_;
  std::vector<ZIP_MAILER*> open_;
};

// Returns the failure; empty: none.
std::string run(std::uint64_t seed) {
  World made = make_world(seed);
  world = &made;
  margay::testing::VirtualMachine machine(static_cast<std::uint32_t>(made.processes), seed);
  return machine.run([](std::uint32_t rank) {
    Player(static_cast<int>(rank)).play();
    return 0;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return margay::testing::run_seeds(argc, argv, nullptr, run);
}
