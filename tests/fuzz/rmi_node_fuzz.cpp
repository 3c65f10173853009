// libFuzzer target: a whole node of RMI among two others, which are the input. A host without wires delivers the
// input's messages to the real portal table whenever the node polls or waits: buffers of requests, results, messages of
// fences, credits, long bodies, identities, each well-formed or not. Whatever they are, the node's program ends, by
// itself, by an `error`, or by the end of the job; nothing is read outside of buffers. When the input is used up, the
// other nodes are lost. Corpus: tests/fuzz/rmi_node_corpus.
#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "libraries/rmi/node.hpp"
#include "margay/rmi.hpp"
#include "portals/base/assert.hpp"
#include "tests/fuzz/script.hpp"
#include "tests/libraries/support/test_host.hpp"
#include "tests/libraries/support/test_rank.hpp"

namespace margay::rmi::fuzz {

constexpr std::uint32_t kNodes = 3;
constexpr std::uint64_t kLongMost = std::uint64_t{1} << 20;

using margay::fuzz::Script;

// The objects of the program. Methods that wait execute further messages of the input.
struct Target {
  std::uint32_t calls = 0;
  int depth = 0;
  void add(std::uint32_t x) { calls += x; }
  std::size_t views(std::span<const double> values, std::string_view text) { return values.size() + text.size(); }
  std::vector<std::string> names(std::vector<std::string> names) { return names; }
  std::string long_result(std::uint16_t bytes) { return std::string(bytes, 'x'); }
  // Of limited depth, because each further message of the input could make it use more of the stack.
  int ask(int node) {
    if (depth == 50) return 0;
    ++depth;
    struct End {
      int& depth;
      ~End() { --depth; }
    } const end{depth};
    return sync_rmi(static_cast<int>(static_cast<unsigned>(node) % kNodes), this, &Target::refuse);
  }
  int refuse() { fail("refused"); }
  void part(const int& factor, long& part) { part = factor; }
};

// A request for one of the methods with packed arguments from the input, whose head is right. Its bytes are appended.
class RequestMaker {
 public:
  RequestMaker(Script& script, std::vector<std::uint64_t>& words) : script_(script), words_(words) {}
  void make() {
    switch (script_.byte() % 6) {
      case 0:
        return make(method<&Target::add>);
      case 1:
        return make(method<&Target::views>);
      case 2:
        return make(method<&Target::names>);
      case 3:
        return make(method<&Target::long_result>);
      case 4:
        return make(method<&Target::ask>);
      default:
        return make(method<&Target::refuse>);
    }
  }

 private:
  template <class Method>
  void make(Method /*method*/) {
    const std::uint8_t choice = script_.byte();
    const auto object = static_cast<std::uint32_t>(choice / 4 % 4);
    const bool wants_reply = (choice & 1) != 0;
    const auto flags =
        static_cast<std::uint8_t>((wants_reply ? kReplyWanted : 0) | ((choice & 2) != 0 ? kNonAtomic : 0));
    const std::uint64_t call = choice >= 0xf0 ? script_.number(8) : choice;
    const std::span<const std::byte> arguments = script_.take(script_.byte());
    const std::size_t before = head_bytes(flags);
    const std::size_t bytes = round_up(before + arguments.size(), kPackedAlignment);
    const std::size_t start = words_.size();
    words_.resize(start + bytes / sizeof(std::uint64_t));
    auto* const at = reinterpret_cast<std::byte*>(&words_[start]);
    if (!arguments.empty()) std::memcpy(at + before, arguments.data(), arguments.size());
    const std::uint32_t functor = Registration<Functor<Target, Method>>::entry().hash();
    const std::size_t tail = bytes - before - arguments.size();
    if (wants_reply)
      detail::write_head(at, functor, object, bytes, tail, flags, std::array<std::uint64_t, 1>{call});
    else
      detail::write_head(at, functor, object, bytes, tail, flags, std::array<std::uint64_t, 0>{});
  }

  Script& script_;
  std::vector<std::uint64_t>& words_;
};

// The rank of the node under test: a portal table, and the input instead of wires. What the node sends is dropped.
class ScriptedRank final : public testing::PortalsRank {
 public:
  // `tree`: of the program's first fence.
  ScriptedRank(portals::Rank me, bool with_start, Tree tree, std::span<const std::byte> input)
      : PortalsRank(me, kNodes), tree_(tree), script_(input), start_(with_start ? 0 : kNodes) {}

  [[nodiscard]] bool on_node(portals::Rank peer) const override { return peer != 2; }
  bool progress() override { return deliver_next(); }
  [[nodiscard]] bool lost(portals::Rank /*peer*/) const override { return script_.empty(); }
  [[nodiscard]] std::string loss(portals::Rank /*peer*/) const override { return "the input is used up"; }
  // Ends the node's thread. A message names the node and the reason.
  [[noreturn]] void abort(int /*code*/, const std::string& message) override {
    MARGAY_ASSERT(message.find("node ") != std::string::npos);
    pthread_exit(nullptr);
  }

 private:
  // Delivers the input's next message. Returns false if there is none.
  bool deliver_next() {
    // The node takes each message before it wants the next one, and a wrong number ends its job.
    MARGAY_ASSERT(!wrong_number_);
    if (start_ != kNodes) {
      deliver_start();
      return true;
    }
    if (script_.empty()) return false;
    switch (script_.byte() % 8) {
      case 0:
        deliver_requests();
        break;
      case 1:
        deliver_anything();
        break;
      case 2:
        deliver_reply();
        break;
      case 3:
        deliver_notice();
        break;
      case 4:
        deliver_body();
        break;
      case 5:
        deliver_wave();
        break;
      case 6:
        deliver(header(core::kCreditPortal, core::MessageKind::credit, 0, script_.byte() % 4), {});
        break;
      default: {
        portals::Header get = header(core::kBodyPortal, core::MessageKind::body, script_.byte() % 4, 0);
        get.kind = portals::Kind::get;
        get.return_length = script_.number(2);
        get.offset = script_.byte() % 4;
        deliver(get, {});
      }
    }
    return true;
  }
  // The messages by which a node's start ends: identities of its own program, or node 0's verdict.
  void deliver_start() {
    const std::uint32_t node = start_++;
    if (node == rank() || (rank() != 0 && node != 0)) return;
    portals::Header start;
    start.portal = core::kControlPortal;
    start.source.rank = node;
    start.match_bits = core::match_bits(rank() == 0 ? core::MessageKind::identity : core::MessageKind::verdict, 0);
    const ProgramIdentity identity = program_identity();
    if (rank() == 0)
      deliver(start, std::as_bytes(std::span(&identity, 1)));
    else
      deliver(start, {});
  }
  void deliver_requests() {
    const std::uint8_t shape = script_.byte();
    const std::uint32_t count = 1 + shape % 4;
    std::vector<std::uint64_t> words;
    RequestMaker maker(script_, words);
    for (std::uint32_t i = 0; i < count; ++i) maker.make();
    // Some buffers have a wrong number, count their requests wrong, or are cut off.
    portals::Header buffer = header(core::kRequestPortal, core::MessageKind::buffer, 0, 0);
    const std::uint32_t number = number_for(buffer.source.rank, (shape & 0xc0) == 0x40 ? script_.byte() : 0);
    buffer.match_bits = core::buffer_bits(core::MessageKind::buffer, (shape & 4) != 0, number);
    const std::uint32_t counted = shape >= 0xf0 ? script_.byte() : count;
    std::span<const std::byte> bytes = std::as_bytes(std::span(words));
    if ((shape & 0x08) != 0) bytes = bytes.first(bytes.size() - std::min<std::size_t>(bytes.size(), script_.byte()));
    core::set_count(buffer, counted);
    deliver(buffer, bytes);
  }
  void deliver_anything() {
    portals::Header any;
    any.portal = static_cast<portals::PortalIndex>(core::kRequestPortal + script_.byte() % 5);
    any.source.rank = others(script_.byte());
    any.match_bits = std::uint64_t{script_.byte()} << 56 | script_.number(5);
    for (std::byte& each : any.user_data) each = std::byte{script_.byte()};
    deliver(any, script_.take(script_.number(2)));
  }
  // A result of one of the first calls.
  void deliver_reply() {
    const std::uint8_t choice = script_.byte();
    portals::Header reply = header(core::kReplyPortal, core::MessageKind::reply, call_of(choice), script_.byte() % 4U);
    deliver(reply, script_.take(script_.byte()));
  }
  // The notice of a long request or a long result.
  void deliver_notice() {
    const std::uint8_t choice = script_.byte();
    const bool is_request = (choice & 1) != 0;
    portals::Header notice =
        is_request ? header(core::kRequestPortal, core::MessageKind::long_request, 0, choice / 64)
                   : header(core::kReplyPortal, core::MessageKind::long_reply, call_of(choice / 2), script_.byte());
    if (is_request) {
      const std::uint32_t number = number_for(notice.source.rank, choice / 2 % 4);
      notice.match_bits = core::buffer_bits(core::MessageKind::long_request, false, number);
    }
    core::set_length(notice, script_.number(2) * 8);
    deliver(notice, {});
  }
  // The fetched body of a long request or result: a request or nothing, perhaps cut off or extended by zeros.
  void deliver_body() {
    const std::uint8_t choice = script_.byte();
    portals::Header body = header(core::kBodyPortal, core::MessageKind::fetched, choice % 4, 0);
    body.kind = portals::Kind::reply;
    std::vector<std::uint64_t> words;
    if ((choice & 0x80) != 0) RequestMaker(script_, words).make();
    if ((choice & 0x40) != 0) words.resize(script_.number(2));
    deliver(body, std::as_bytes(std::span(words)));
  }
  void deliver_wave() {
    struct {
      std::uint32_t fence, wave, down, ends, step, source, group, tree;
      std::uint64_t sent, executed, executed_ever;
    } wave{};
    wave.fence = script_.byte() % 4;
    wave.wave = script_.byte() % 4;
    wave.down = script_.byte() % 2;
    const std::uint8_t end = script_.byte();
    wave.ends = end % 2;
    // Mostly the tree of the program's fence of this number.
    wave.tree = (static_cast<std::uint32_t>(wave.fence == 1 ? tree_ : Tree::exchange) + end / 2) % 8;
    const std::uint8_t step = script_.byte();
    wave.step = step >= 0x80 ? ~std::uint32_t{0} : step;
    // Mostly of all nodes.
    wave.group = step == 0x7e ? 1 : 0;
    wave.sent = script_.byte();
    wave.executed = script_.byte();
    wave.executed_ever = script_.byte();
    const std::size_t bytes = step == 0x7f ? script_.byte() : sizeof wave;
    deliver(header(core::kControlPortal, core::MessageKind::wave, wave.fence, 0),
            std::as_bytes(std::span(&wave, 1)).first(std::min(bytes, sizeof wave)));
  }

  // The number of a node's next buffer; with a deviation, another one.
  [[nodiscard]] std::uint32_t number_for(std::uint32_t node, std::uint8_t deviation) const {
    return first_missing(node) + static_cast<std::uint32_t>(static_cast<std::int8_t>(deviation));
  }
  [[nodiscard]] std::uint32_t first_missing(std::uint32_t node) const {
    std::uint32_t next = 0;
    while (numbers_[node].contains(next)) ++next;
    return next;
  }
  // Notes a delivered buffer, and whether its number cannot be due: it is that of an earlier buffer, or kCredits or
  // more behind the node's first one that is missing.
  void note_number(const portals::Header& buffer) {
    const auto number = static_cast<std::uint32_t>(buffer.match_bits);
    const std::uint32_t distance = number - first_missing(buffer.source.rank);
    wrong_number_ = !numbers_[buffer.source.rank].insert(number).second || distance >= core::kCredits;
  }
  // One of the two other nodes.
  [[nodiscard]] std::uint32_t others(std::uint8_t choice) const { return (rank() + 1 + choice % 2U) % kNodes; }
  // The number of the n-th call in one of the first slots.
  [[nodiscard]] static std::uint64_t call_of(std::uint8_t choice) {
    return (1 + choice / 4 % 4) * std::uint64_t{core::kCalls} + choice % 4;
  }
  [[nodiscard]] portals::Header header(portals::PortalIndex portal, core::MessageKind kind, std::uint64_t below,
                                       std::uint32_t count) {
    portals::Header header;
    header.portal = portal;
    header.source.rank = others(script_.byte());
    header.match_bits = core::match_bits(kind, below & core::kBelowKind);
    core::set_count(header, count);
    return header;
  }
  void deliver(portals::Header header, std::span<const std::byte> body) {
    // The sanitizer's allocator ends a program that has no memory for a long body.
    const core::MessageKind kind = core::kind_of(header.match_bits);
    if (kind == core::MessageKind::long_request || kind == core::MessageKind::long_reply)
      core::set_length(header, core::length_of(header) % kLongMost);
    header.destination.rank = rank();
    header.length = body.size();
    const portals::Verdict verdict = deposit(header, body);
    if (verdict.outcome == portals::Outcome::drop) return;
    complete(verdict, header);
    if (header.portal == core::kRequestPortal) note_number(header);
    notify_observers();
  }

  const Tree tree_;
  Script script_;
  std::array<std::set<std::uint32_t>, kNodes> numbers_;  // of the buffers of each node that were delivered
  bool wrong_number_ = false;                            // of the last buffer
  std::uint32_t start_;                                  // the node whose part of the start is next; kNodes: it is over
};

// A program with each sort of call. One that ends with an error is followed by the next.
class Program {
 public:
  // Frees the node that an error or the end of the job has left: most inputs end so, and a node has a heap of
  // megabytes.
  ~Program() {
    registered_.reset();
    if (core::Here* const left = std::exchange(core::here, nullptr); left != nullptr) {
      const host::Call call(*testing::TestHost::mine, "rmi::stop");
      const std::unique_ptr<core::Node> node(left->node);
    }
  }
  void run(Tree tree) {
    attempt([] { start(); });
    if (core::here == nullptr) return;
    attempt([&] { registered_.emplace(target_); });
    attempt([&] { send_some(); });
    attempt([&] { ask_some(); });
    attempt([&] {
      long sum = 0;
      collect_rmi(&target_, &Target::part, 3, sum);
    });
    attempt([&] { rmi_fence(tree); });
    attempt([] { rmi_poll(); });
    attempt([] { rmi_fence(); });
    registered_.reset();
    attempt([] { stop(); });
  }

 private:
  template <class Step>
  static void attempt(Step&& step) {
    try {
      step();
    } catch (const error&) {
    }
  }
  void send_some() {
    const int me = get_node_id();
    for (int i = 0; i < 6; ++i)
      async_rmi((me + i) % static_cast<int>(kNodes), &target_, &Target::add, std::uint32_t{7});
    async_rmi((me + 1) % 3, &target_, method<&Target::names>, std::vector<std::string>(600, "a name of many bytes"));
    rmi_poll();
    broadcast_rmi(&target_, &Target::add, std::uint32_t{7});
  }
  void ask_some() {
    const int me = get_node_id();
    auto handle = sync_rmi_nonblocking((me + 1) % 3, &target_, &Target::refuse);
    auto dropped = sync_rmi_nonblocking((me + 2) % 3, &target_, &Target::refuse);
    attempt([&] { static_cast<void>(sync_rmi((me + 1) % 3, &target_, &Target::long_result, std::uint16_t{5000})); });
    attempt([&] { static_cast<void>(handle.wait()); });
  }

  Target target_;
  std::optional<rmi_object<Target>> registered_;
};

}  // namespace margay::rmi::fuzz

// The end of the job ends a thread here, which does not free all that the calls in progress own.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay::rmi;
  if (bytes == 0) return 0;
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data) + 1, bytes - 1);
  // Bit 0: the node. Bit 1: its start is the input's too. Bits 2 and 3: the tree of a fence.
  const auto tree = static_cast<Tree>(data[0] / 4 % 4);
  fuzz::ScriptedRank rank(data[0] % 2, (data[0] & 2) == 0, tree, input);
  // A node belongs to its thread, and ends with it.
  std::thread([tree, &rank] {
    margay::testing::TestHost::mine = &rank;
    fuzz::Program().run(tree);
  }).join();
  return 0;
}
