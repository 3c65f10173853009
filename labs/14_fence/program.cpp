// Lab 14: aggregation of requests, and the end of a fence (page.md). Blanks 1 to 4; the numbers of your variant are in
// variant.h.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "margay/rmi.hpp"
#include "variant.h"

namespace rmi = margay::rmi;

// A request of a story (page.md, part 2).
struct Request {
  int from = 0, to = 0;
  int cause = 0;     // the number of the request whose method sends this one, or kProgram
  int interval = 0;  // 0: before its receiver arrives; k: after its report of wave k, and before that of wave k + 1
  int late = 0;      // 1: only after node 0 has decided on wave `interval`
};
using Story = std::vector<Request>;
constexpr int kProgram = -1;  // sent by the program of `from`, before it arrives

const Story kMyStory{
    /* BLANK 1: three requests, with which the paper's rule ends the fence while one from kSource to kVictim is left */
    /* END 1 */
};

// Counts of requests: of one node, or summed over all nodes.
struct Sums {
  std::int64_t sent = 0, executed = 0;
};

// Node 0 decides on a wave: whether no request of any node can be left. `now`: the sums of this wave; `before`: those
// of the wave before it (in wave 1: -1 and -2). Each node has counted at a time of its own.
static bool ends(int wave, const Sums& now, const Sums& before) {
  /* BLANK 2: the rule */
  static_cast<void>(wave), static_cast<void>(now), static_cast<void>(before);
  return false;
  /* END 2 */
}

class Node {
 public:
  explicit Node(bool paper) : paper_(paper), me_(rmi::get_node_id()) {}

  // Plays a story: this node's part, up to the end of its fence. Collective. Returns the wave with which it ended.
  int play(const Story& story);
  // Sets the bit of each request of the story that this node must execute and has not. For collect_rmi().
  void left(const int&, std::uint32_t& bits);
  // Whether the counts of wave 1 alone ended the last fence. On node 0.
  [[nodiscard]] bool ended_early() const { return ended_early_; }

  // Methods that other nodes call.
  void receive(int number, int colour) { arrived_[number] = colour; }
  void take_report(int wave, Sums early, Sums now);
  void take_answer(int wave, int is_over) { answered_ = wave, over_ = is_over != 0; }

 private:
  // The colour, 0 or 1, of a request that this node sends now. It travels with the request. `fences_`: the fences at
  // which this node has arrived until now.
  [[nodiscard]] int colour() const {
    /* BLANK 4: so that requests which are sent after this node's arrival at a fence are not of that fence's colour */
    return 0;
    /* END 4 */
  }
  // The counts with which this node arrives, for wave 1; `fences_` has this fence already. sent_[c] and executed_[c]:
  // requests of colour c that this node has sent and executed since the start. If the sums over all nodes are equal,
  // the fence ends with wave 1.
  [[nodiscard]] Sums early() const {
    /* BLANK 3: of which requests? */
    return {1, 0};
    /* END 3 */
  }

  void send(int number);
  void execute(int interval, int late);
  void report(int wave);

  const bool paper_;
  const int me_;
  const Story* story_ = nullptr;
  int fences_ = 0;
  std::array<std::int64_t, 2> sent_{}, executed_{};
  std::map<int, int> arrived_;  // request -> its colour
  std::vector<bool> done_;
  int answered_ = 0;
  bool over_ = false;
  // Node 0's.
  int reports_ = 0;
  Sums early_, now_, before_;
  bool ended_early_ = false;
};

// The rest of the program. Do not change what follows.

[[noreturn]] static void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::fflush(stderr);
  std::_Exit(3);
}

void Node::send(int number) {
  sent_[colour()] += 1;
  rmi::async_rmi((*story_)[number].to, this, &Node::receive, number, colour());
}

// Executes the requests of an interval, as they arrive. A request is received by RMI at once, and executed when its
// story says, as if the network or the node had delayed it.
void Node::execute(int interval, int late) {
  const Story& story = *story_;
  for (int number = 0; number < static_cast<int>(story.size()); ++number) {
    const Request& request = story[number];
    if (request.to != me_ || request.interval != interval || request.late != late) continue;
    while (!arrived_.contains(number)) rmi::rmi_wait();
    executed_[arrived_[number]] += 1;
    done_[number] = true;
    for (int next = 0; next < static_cast<int>(story.size()); ++next) {
      if (story[next].cause == number) send(next);
    }
  }
}

void Node::report(int wave) {
  const Sums all{sent_[0] + sent_[1], executed_[0] + executed_[1]};
  rmi::async_rmi(0, this, &Node::take_report, wave, wave == 1 ? early() : Sums(), all);
}

// On node 0.
void Node::take_report(int wave, Sums early, Sums now) {
  early_.sent += early.sent, early_.executed += early.executed;
  now_.sent += now.sent, now_.executed += now.executed;
  if (++reports_ < rmi::get_num_nodes()) return;
  ended_early_ = !paper_ && wave == 1 && early_.sent == early_.executed;
  const bool is_over = ended_early_ || (paper_ ? now_.sent == now_.executed : ends(wave, now_, before_));
  if (!is_over && wave == kMostWaves)
    fail("BLANK 2: fence " + std::to_string(fences_) + " does not end: after " + std::to_string(wave) + " waves " +
         std::to_string(now_.sent) + " requests were sent and " + std::to_string(now_.executed) + " executed");
  before_ = now_;
  early_ = now_ = Sums();
  reports_ = 0;
  rmi::broadcast_rmi(this, &Node::take_answer, wave, is_over ? 1 : 0);
}

int Node::play(const Story& story) {
  story_ = &story;
  arrived_.clear();
  done_.assign(story.size(), false);
  before_ = {-1, -2};
  answered_ = 0;
  rmi::rmi_fence();  // RMI's own: no request of this story is earlier than the story
  for (int number = 0; number < static_cast<int>(story.size()); ++number) {
    if (story[number].cause == kProgram && story[number].from == me_) send(number);
  }
  execute(0, 0);
  ++fences_;
  for (int wave = 1;; ++wave) {
    report(wave);
    execute(wave, 0);
    while (answered_ != wave) rmi::rmi_wait();
    if (over_) return wave;
    execute(wave, 1);
  }
}

void Node::left(const int&, std::uint32_t& bits) {
  bits = 0;
  for (std::size_t number = 0; number < story_->size(); ++number) {
    if ((*story_)[number].to == me_ && !done_[number]) bits |= std::uint32_t{1} << number;
  }
}

// The requests of a story that all nodes have left, as words. Collective.
static std::string left_over(Node& node, const Story& story, std::uint32_t& bits) {
  rmi::collect_rmi(&node, &Node::left, 0, bits, std::bit_or<>());
  std::string words;
  for (std::size_t number = 0; number < story.size(); ++number) {
    if ((bits >> number & 1) == 0) continue;
    words += (words.empty() ? "" : ", ") + std::to_string(number) + " from " + std::to_string(story[number].from) +
             " to " + std::to_string(story[number].to);
  }
  return words.empty() ? "none" : words;
}

// The stories of the variant.
static std::vector<Story> stories() {
  std::vector<Story> all(kStories);
  for (int i = 0; i < kStoryOfCount; ++i)
    all[kStoryOf[i]].push_back({kFrom[i], kTo[i], kCause[i] - 1, kInterval[i], kLate[i]});
  return all;
}

// Why blank 1 is no story, or "".
static std::string invalid(const Story& story) {
  if (story.size() != 3) return "it has " + std::to_string(story.size()) + " requests; three are wanted";
  for (int number = 0; number < 3; ++number) {
    const auto& [from, to, cause, interval, late] = story[number];
    const std::string name = "request " + std::to_string(number);
    if (from < 0 || from >= kNodes || to < 0 || to >= kNodes || from == to)
      return name + " must go from one node to another one, of 0 to " + std::to_string(kNodes - 1);
    if (cause < kProgram || cause >= number) return name + " must have the cause kProgram, or an earlier request";
    if (cause == kProgram && from != kFirst)
      return name + ": only the program of node " + std::to_string(kFirst) + " sends requests";
    if (cause != kProgram && from != story[cause].to)
      return name + " is sent by the method of request " + std::to_string(cause) + ", which runs on node " +
             std::to_string(story[cause].to);
    if (interval < 0 || interval > 2 || late < 0 || late > (interval > 0 ? 1 : 0))
      return name + ": the interval must be 0 to 2, and a request of interval 0 cannot be late";
  }
  return "";
}

// `./program paper [NUMBER]`: the paper's rule, with your story, or with one of the variant's.
static void play_paper(int number) {
  const Story story = number == 0 ? kMyStory : stories().at(static_cast<std::size_t>(number) - 1);
  if (const std::string why = number == 0 ? invalid(story) : ""; !why.empty()) fail("BLANK 1: " + why);
  Node node(true);
  const rmi::rmi_object<Node> handle(node);
  const int wave = node.play(story);
  std::uint32_t bits = 0;
  const std::string left = left_over(node, story, bits);
  if (rmi::get_node_id() == 0) std::printf("paper: ended in wave %d, left: %s\n", wave, left.c_str());
}

// `./program`: your rule, with all stories of the variant.
static void play_all() {
  Node node(false);
  const rmi::rmi_object<Node> handle(node);
  int number = 0;
  for (const Story& story : stories()) {
    ++number;
    const int wave = node.play(story);
    std::uint32_t bits = 0;
    const std::string left = left_over(node, story, bits);
    if (rmi::get_node_id() != 0) continue;
    const std::string name = "story " + std::to_string(number) + " ended in wave " + std::to_string(wave);
    if (bits != 0)
      fail((node.ended_early() ? "BLANK 3: the early counts were equal, so " : "BLANK 2: ") + name +
           " while requests were left: " + left + (node.ended_early() ? ". See BLANK 4 too" : ""));
    if (kQuiet[number - 1] != 0 && wave != 1)
      fail("BLANK 3: " + name +
           ", although each request was executed before its receiver arrived: the early counts must be "
           "equal then, so that one wave is enough");
    if (wave > kWavesMost[number - 1])
      fail("BLANK 2: " + name + ", but its last request was executed before wave " +
           std::to_string(kWavesMost[number - 1] - 2) + ": end as soon as two waves show it");
    std::printf("%s\n", name.c_str());
  }
}

struct Counter {
  std::int64_t total = 0;
  void add(int amount) { total += amount; }
};

// `./program buffers` (part 1): node 0 sends requests to nodes 1, 2 and 3.
static void buffers() {
  Counter counter;
  const rmi::rmi_object<Counter> handle(counter);
  for (int to = 1; to <= 3 && rmi::get_node_id() == 0; ++to) {
    rmi::set_aggregation(to, kFactor[to - 1]);
    rmi::set_poll_rate(kPollRate[to - 1]);
    for (int i = 0; i < kRequests[to - 1]; ++i) rmi::async_rmi(to, &counter, &Counter::add, 1);
    rmi::rmi_poll();
  }
  rmi::rmi_fence();
}

// `./program sweep` (part 1): the rate from node 0 to node 1, by aggregation factor.
static void sweep() {
  constexpr int kCount = 100000;
  Counter counter;
  const rmi::rmi_object<Counter> handle(counter);
  for (int factor = 1; factor <= 512; factor *= 2) {
    if (rmi::get_node_id() == 0) rmi::set_aggregation(1, static_cast<std::uint32_t>(factor));
    rmi::rmi_fence();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCount && rmi::get_node_id() == 0; ++i) rmi::async_rmi(1, &counter, &Counter::add, 1);
    rmi::rmi_fence();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (rmi::get_node_id() == 0)
      std::printf("factor %3d: %6.2f million requests/s\n", factor, kCount / seconds.count() / 1e6);
  }
}

static int program(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "sweep") {
    if (rmi::get_num_nodes() < 2) fail("sweep takes 2 nodes: margay run -n 2 ./program sweep");
    sweep();
    return 0;
  }
  if (rmi::get_num_nodes() != kNodes)
    fail("this lab takes " + std::to_string(kNodes) + " nodes: margay run -n " + std::to_string(kNodes) + " ./program");
  if (mode == "buffers") buffers();
  if (mode == "paper") play_paper(argc > 2 ? std::atoi(argv[2]) : 0);
  if (mode.empty()) play_all();
  return 0;
}

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
