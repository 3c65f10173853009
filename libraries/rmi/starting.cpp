// start(), stop() and objects of include/margay/rmi/node.hpp.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "libraries/rmi/scheduler.hpp"

namespace margay::rmi::core {
namespace {

// The communication thread of the node that this thread has started; owned. No unique_ptr, because exit() destroys
// those of its thread before the program's exit handlers, which may call stop().
constinit thread_local CommunicationThread* communication = nullptr;

// At exit(), of a thread that is still a node.
void end_at_exit() {
  if (communication != nullptr) communication->stop_soon();
}

// The scheduler of set_scheduler(). The nodes of a process may start in several threads.
std::mutex choosing;
std::optional<Scheduler> chosen_scheduler;

// Ends the node of this thread, if there is one, and its part in the rank.
void leave(host::Rank& rank) {
  // Outside, because the thread's last step needs the lock; before the node, which the thread uses.
  delete std::exchange(communication, nullptr);
  // Cleared before the node ends, so that no call finds a node that is half destroyed.
  if (Here* const last = std::exchange(here, nullptr); last != nullptr) {
    const host::Call call(rank, "rmi::stop");
    // Inside, because it detaches portals; end() must be outside.
    const std::unique_ptr<Node> node(last->node);
  }
  rank.end();
}

}  // namespace

void not_started(const char* call) {
  fail(std::string(call) + " is called on a thread that is not a node; call margay::rmi::start() first, or run()");
}

void out_of_range(const char* call, int node) {
  fail(std::string(call) + ": invalid node " + std::to_string(node) + "; there are nodes 0 to " +
       std::to_string(here->nodes - 1));
}

int run_nodes(int argc, char** argv, int (*node)(int, char**, int (*)(int, char**)), int (*program)(int, char**)) {
  // The host calls a plain function. One run at a time in a process, so all of its ranks find the same two here.
  static int (*node_of_run)(int, char**, int (*)(int, char**)) = nullptr;
  static int (*program_of_run)(int, char**) = nullptr;
  node_of_run = node;
  program_of_run = program;
  return host::run_ranks(argc, argv, [](int count, char** words) { return node_of_run(count, words, program_of_run); });
}

void set_scheduler(Scheduler scheduler) {
  if (here != nullptr) fail("rmi::set_scheduler() is called after rmi::start(); call it before");
  const std::lock_guard guard(choosing);
  chosen_scheduler = scheduler;
}

void start(const ProgramIdentity& identity) {
  if (here != nullptr) fail("rmi::start() is called twice; call stop() in between");
  Settings settings = read_settings();
  {
    const std::lock_guard guard(choosing);
    settings.scheduler = chosen_scheduler.value_or(settings.scheduler);
  }
  const bool threads = settings.scheduler != Scheduler::explicit_polling;
  host::Rank* joined = nullptr;
  if (const portals::Status status = host::join(kLibrary, joined, threads); !status.ok()) fail(status.sentence());
  try {
    {
      const host::Call call(*joined, "rmi::start");
      // Set before open(), whose wait may execute requests of nodes that were faster.
      Node* const node = std::make_unique<Node>(*joined, settings).release();
      here = &node->here;
      node->open(call.name(), identity);
    }
    communication = std::make_unique<CommunicationThread>(*here->node).release();
    communication->start();
  } catch (...) {
    leave(*joined);
    throw;
  }
  // Before the destructors of objects with static storage, which methods may use. Once in a process.
  static const int registered = std::atexit(&end_at_exit);
  static_cast<void>(registered);
}

void stop() {
  constexpr char kCall[] = "rmi::stop";
  Node& node = this_node(kCall);
  node.refuse_in_method(kCall);
  // For an exit handler that runs after end_at_exit(), which has ended the thread.
  communication->start();
  // The program's requests end here; what follows waits for credits and replies, which fences do not count. Only one
  // fence, even if stop() is called again after an error: the other nodes do not make theirs again.
  if (!std::exchange(node.past_last_fence, true)) fence();
  node.refuse_held_calls(kCall);
  {
    const host::Call call(node.rank, kCall);
    node.drain(call.name());
    // Answers the others until none has anything under way.
    node.barrier(call.name());
    node.publish();
  }
  leave(node.rank);
}

void give_up(const std::string& why) {
  // Without a node there is no job to end, so only this process ends.
  if (here != nullptr) here->node->rank.abort(1, why);
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

void add_object(void* address, const std::type_info& type, std::uint32_t& id) {
  constexpr char kCall[] = "rmi_object";
  Node& node = this_node(kCall);
  node.refuse_in_method(kCall);
  // Before the barrier: a node that leaves it first may send a request for the object at once.
  node.objects.add(address, type, id);
  const host::Call call(node.rank, kCall);
  try {
    node.barrier(kCall);
  } catch (...) {
    // The caller has no rmi_object that would remove it.
    remove_object(id);
    throw;
  }
}

void remove_object(std::uint32_t id) {
  // An rmi_object may end after stop().
  if (here == nullptr) return;
  Node& node = *here->node;
  node.objects.remove(id, {&node.here, &node.thread_here});
}

std::uint32_t look_up(const char* call, const void* address, const std::type_info& type) {
  const std::type_info* other = nullptr;
  const std::uint32_t id = this_node(call).objects.look_up(*here, address, type, other);
  if (id != kNoObject) return id;
  const std::string cure = other == nullptr
                               ? " is not registered; register it on all nodes by rmi_object"
                               : " is registered as a " + demangled(other->name()) + "; call its methods by that type";
  fail(std::string(call) + ": the object, a " + demangled(type.name()) + "," + cure);
}

}  // namespace margay::rmi::core
