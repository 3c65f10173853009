// One context: all parts of Nexus in a rank. Functions require that the thread is inside (host::Call), unless a comment
// says otherwise.
//
// The path of a request, and the file of each step: send() selects the link's method (selection), transforms the body
// and passes it to the method (sending), which is a way of the host (host_method, traffic) or a module. The message
// arrives in a heap or by deliver() (arrival). The receiver fetches a long body (bodies), decodes it, orders the
// message (item) and queues it for its handler, which runs in a serving call (serving) or in a thread (threads). A
// forwarder passes it on (arrival).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "libraries/nexus/endpoints.hpp"
#include "libraries/nexus/handlers.hpp"
#include "libraries/nexus/item.hpp"
#include "libraries/nexus/link.hpp"
#include "libraries/nexus/methods.hpp"
#include "libraries/nexus/module/choice.hpp"
#include "libraries/nexus/settings.hpp"
#include "libraries/nexus/traffic.hpp"
#include "margay/nexus/error.hpp"
#include "margay/nexus/request.hpp"

namespace margay::nexus::core {

// The threads that run handlers; libraries/nexus/threads.hpp implements it.
class HandlerThreads {
 public:
  HandlerThreads() = default;
  HandlerThreads(const HandlerThreads&) = delete;
  HandlerThreads& operator=(const HandlerThreads&) = delete;
  virtual ~HandlerThreads() = default;
  // Gives a request to a thread. Inside. Fails with the reason if there is none and none can be created; the caller
  // then keeps the item.
  [[nodiscard]] virtual portals::Status push(OwnedItem& item, Registered& handler) = 0;
  // Ends all threads, after their handlers. Outside.
  virtual void stop() = 0;
};

// A row of a link's table, judged in this context.
struct Judged {
  Method* method = nullptr;
  std::string why_not;
  std::uint64_t available = 0;  // bytes per second; 0: unknown
};

// Why a method is selected.
enum class Cause : std::uint8_t { first, change, failure, load };

class Context final : public Services {
 public:
  Context(host::Rank& joined, const Settings& chosen, Handlers& registered);
  ~Context() override;

  // Attaches portals, starts the modules and exchanges tables. Throws `error`.
  void open(const char* call, const Choice& choice);
  // Runs handlers until no request is under way in the job. Throws `error` if a context is lost.
  void settle(const char* call);
  // Ends threads and modules. Outside.
  void end_threads();

  // --- Serving. ---

  // Runs handlers and serves others until `done()`, which it tests after each handler. `needs_message`: only a request
  // can end the wait. Throws `error` if `peer` is lost (kAnyRank: any).
  template <typename Done>
  void serve_until(const char* call, std::uint32_t peer, bool needs_message, Done done);
  // Serves once.
  void serve(const char* call);
  // Takes all messages that have arrived at portals, and sends queued ones. Runs no handlers.
  void take();
  // Polls the modules that are due. Returns whether one had messages.
  bool poll_modules(bool all = false);
  // Both fail for a method that is not polled. The kernel polls the wires of the host.
  [[nodiscard]] portals::Status set_skip_poll(Method& method, std::uint32_t every);
  [[nodiscard]] portals::Status set_polling(Method& method, bool on);
  // Runs the handler of the next request. Returns false if there is none, or if this thread runs none.
  bool run_next();
  [[nodiscard]] bool runnable() const;
  // Throws the oldest pending error, if there is one.
  void throw_pending();
  void add_error(const std::string& text);
  [[nodiscard]] bool any_error() const { return !errors_.empty(); }

  // --- Sending. ---

  // Sends a request by a link. Returns false, with the reason, if it was not sent.
  [[nodiscard]] bool request(const char* call, Link& link, std::uint32_t handler, Bytes body, Failure& failure);
  // Sends one request to all links by their common object. Returns false if they have none.
  [[nodiscard]] bool request_all(StartpointState& startpoint, std::uint32_t handler, Bytes body);
  // Sends by a way, or queues there, with the request's link. Never waits. Returns false if the way has failed.
  bool transmit(Way& way, Frame frame, std::span<const Bytes> body, const LinkData* link = nullptr);
  // Whether a send may queue a body of `bytes` bytes without waiting.
  [[nodiscard]] bool has_room(std::size_t bytes) const;
  // Sends a notice to a context, which its next finish() waits for.
  void send_notice(std::uint32_t context, Control kind, std::uint64_t number, const std::string& text);

  // --- Selection. ---

  [[nodiscard]] std::vector<Judged> judge(const Link& link);
  // Selects the first applicable row. Fails with the reasons of all.
  [[nodiscard]] portals::Status choose(Link& link, Cause cause, const Method* except = nullptr);
  // Selects again after the table or the demands have changed, and moves the link if its method is another one.
  [[nodiscard]] portals::Status choose_again(Link& link, Cause cause = Cause::change, const Method* except = nullptr);
  // Ends the use of a link's former way, after the selection of another one.
  void leave_way(Link& link, const SharedWay& old, std::uint32_t old_forwarder, Cause cause);
  // Chooses a method for the next request of a link, whose body has `bytes` bytes, if the present one is not good
  // enough: it has failed, takes only shorter bodies, or is overloaded.
  [[nodiscard]] portals::Status choose_for(Link& link, std::size_t bytes);
  // Releases the link's number and reservation.
  void close(Link& link);
  [[nodiscard]] SharedTable default_table(std::uint32_t context) const { return tables[context]; }
  void reserve(Link& link);

  // --- Forwarding. ---

  void add_forwarding(const std::string& method, std::uint32_t forwarder, const std::vector<std::uint32_t>& contexts);

  // Adds a module to this context. Throws `error` if it does not start.
  void load(std::unique_ptr<Module> module, const std::vector<Parameter>& parameters);
  void serve_barrier(const char* call);
  // Sends bytes to all contexts, and returns those of all contexts. Collective.
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange(const char* call, std::vector<std::byte> own);

  // --- Services for modules. ---
  [[nodiscard]] host::Rank& rank() override { return host_rank; }
  [[nodiscard]] std::uint32_t node() override { return node_; }
  [[nodiscard]] std::uint32_t nodes() override { return nodes_; }
  [[nodiscard]] std::uint64_t session() override { return session_; }
  bool deliver(Module& module, std::uint32_t source, Bytes header, Bytes body) override;
  void report_lost(Module& module, std::uint32_t source, std::uint64_t messages) override;
  void report_dropped(Module& module, std::uint64_t messages, const std::string& why) override;
  [[nodiscard]] bool derive_key(std::string_view label, std::uint32_t one, std::uint32_t other,
                                std::span<std::byte> key) override;
  [[nodiscard]] bool is_lost(std::uint32_t context) override { return host_rank.lost(context); }
  void switch_off(Module& module, const std::string& why) override;

  [[nodiscard]] std::uint64_t& count(Count index) { return *counters_[index]; }
  [[nodiscard]] bool threaded() const { return settings.threads != 0; }
  [[nodiscard]] std::size_t queued_bytes() const { return queued_bytes_ + traffic.held_bytes(); }
  [[nodiscard]] std::size_t ready() const { return ready_.size() + busy_; }
  // A method was executed in a thread, or failed to start there. Inside.
  void execute(OwnedItem item, Registered& handler);
  void finish_threaded() { --busy_; }

  // Handlers that have returned.
  std::uint64_t executions = 0;
  host::Rank& host_rank;
  // Distinguishes this context from all others of the process, whose endpoints and startpoints may still exist.
  const std::uint32_t life;
  const Settings settings;
  Handlers& handlers;
  Traffic traffic;
  Endpoints endpoints;
  Methods methods;
  // The table of each context, as of init() and forward().
  std::vector<SharedTable> tables;
  // The order of this context's methods, for its own table; transforms for links that leave the node.
  std::vector<std::string> off_node;
  std::unique_ptr<HandlerThreads> threads;
  // The names of handlers that this context has requested, for errors.
  std::map<std::uint32_t, std::string> requested;

 private:
  // --- start ---
  void refuse_kernel_forwarding();
  void check_parameters(const Choice& choice);
  void start_modules(const Choice& choice);
  [[nodiscard]] Table own_table(const std::vector<std::string>& order);
  void exchange_tables(const char* call, const Table& own);
  void take_hello(std::uint32_t source, Bytes body);
  void take_welcome(Bytes body);
  [[nodiscard]] bool take_exchanged(std::uint32_t source, std::uint64_t number, Bytes body, bool is_all);
  // --- arrival ---
  // Messages of one sender that have arrived but wait for their bodies, and the bodies whose fetches have not begun:
  // those of the last ones.
  struct Arriving {
    std::deque<OwnedItem> items;
    std::size_t unfetched = 0;
  };
  void take_heap(Heap& heap);
  // Whether a body may be fetched now; its fetch begins. fetch() refuses the item, and returns false, without memory.
  [[nodiscard]] bool may_fetch(const Item& item) const;
  [[nodiscard]] bool fetch(OwnedItem& item);
  void take_control();
  void take_control(const portals::ArrivedMessage& message);
  // Begins the fetches of a sender's bodies that wait for room, as many as have room.
  void fetch_waiting(Arriving& queue);
  void advance(Arriving& arriving);
  // A message whose body is here: its order, its forwarding, its kind. Consumes it.
  void accept(OwnedItem item);
  void act(OwnedItem item);
  void act_on_request(OwnedItem item);
  void split_multicast(OwnedItem item);
  [[nodiscard]] portals::Status unpack(Item& item);
  void refuse(OwnedItem item, const std::string& why);
  void release(Item& item);
  void pass_on(OwnedItem item);
  // --- sending ---
  void send_queued();
  void requeue(Way& way);
  // Sends a message that a failed method had queued by another one that meets the demands of its link. Returns false
  // if none does.
  [[nodiscard]] bool send_again(const Way& failed, const Pending& message);
  [[nodiscard]] portals::Status pack(Link& link, Frame& frame, Bytes body, std::vector<std::byte>& out);
  void end_epoch(Link& link, const SharedWay& old_way, std::uint32_t old_forwarder);
  // Ends the epochs whose markers may be lost with their ways.
  void end_lost_drains();
  // The frame of a link's message; by a forwarder if its method has one.
  [[nodiscard]] Frame frame_of(const Link& link, FrameKind kind) const;
  void count_sent(const Way& way, const Frame& frame);
  void record_request(const Link& link, std::uint32_t handler, std::size_t bytes);
  [[nodiscard]] std::uint32_t content_of(const LinkData& link) const;
  [[nodiscard]] std::string why_not(const Link& link, const Row& row, Judged& judged);
  [[nodiscard]] portals::Status open_transforms(const Link& link, const std::string& below,
                                                std::vector<SharedWay>& out);
  void record_choice(const Link& link, std::size_t before, Cause cause);
  // --- settling ---
  [[nodiscard]] bool quiet();
  bool close_ways();
  void contribute();
  void count_wave(std::uint64_t sends);
  // A context's number on the wire is that of its rank.
  [[nodiscard]] std::uint32_t me() const { return host_rank.rank(); }

  std::array<std::uint64_t*, kCounts> counters_{};
  std::uint32_t node_ = 0, nodes_ = 1;
  std::uint64_t session_ = 0;
  // By sender.
  std::map<std::uint32_t, Arriving> arriving_;
  LinkOrder order_;
  // Requests for handlers that run in polls; the number of those in threads.
  std::deque<OwnedItem> ready_;
  std::size_t busy_ = 0;
  std::size_t queued_bytes_ = 0;  // of ways
  // Epochs whose markers were sent, but not confirmed by the receiver. Not those of markers that a forwarder passes on.
  struct Drain {
    LinkData link;
    std::uint16_t number;
    std::uint32_t epoch;
    SharedWay way;
  };
  std::vector<Drain> drains_;
  std::deque<std::string> errors_;
  std::uint64_t errors_left_out_ = 0;
  // Numbers of links that were closed, with their epochs, and the next new one, by context.
  struct Numbers {
    std::vector<std::pair<std::uint16_t, std::uint32_t>> free;
    std::uint32_t next = 1;
  };
  std::map<std::uint32_t, Numbers> numbers_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> reserved_;
  // Who may pass on to this context; for whom this context passes on, by which method.
  std::set<std::uint32_t> forwarders_;
  std::map<std::uint32_t, std::string> forwards_for_;
  // The exchange of tables: those that context 0 has, and whether all have come.
  std::map<std::uint32_t, SharedTable> hellos_;
  std::map<std::uint32_t, std::uint32_t> nodes_of_;
  bool is_welcome_ = false;
  // exchange(): its number, the bytes of each context at context 0, and the result.
  std::uint64_t exchange_ = 0;
  std::map<std::uint32_t, std::vector<std::byte>> given_bytes_;
  std::vector<std::vector<std::byte>> exchanged_;
  // Settling: sends so far; answers that are missing; contexts with notices; waves.
  std::uint64_t sends_ = 0;
  std::uint64_t unanswered_ = 0;
  std::set<std::uint32_t> noticed_;
  std::uint64_t wave_ = 1, given_ = 0, wave_sum_ = 0, last_sum_ = ~std::uint64_t{0};
  std::uint32_t in_wave_ = 0;
  bool is_over_ = false;
};

// The context of the calling thread, whether the thread is one of Nexus's, and the handlers in execution on it.
struct Here {
  Context* context = nullptr;
  bool on_thread = false;
  unsigned depth = 0;
};
extern constinit thread_local Here here;
// The context. Throws `error` in the name of `call` if there is none.
[[nodiscard]] Context& this_context(const char* call);
// Ends the job if an endpoint of the context of this incarnation, of which this thread has none, is destroyed before
// the context.
void refuse_destruction(std::uint32_t life, std::uint32_t endpoint);
// Holds the process lock outside of calls, for data that the kernel and other threads use. No effect without a context.
class Locked {
 public:
  explicit Locked(Context* context) : context_(context) {
    if (context_ != nullptr) context_->host_rank.lock();
  }
  ~Locked() {
    if (context_ != nullptr) context_->host_rank.unlock();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Context* context_;
};

template <typename Done>
void Context::serve_until(const char* call, std::uint32_t peer, bool needs_message, Done done) {
  // Another thread of the rank may test the condition of the wait.
  const bool runs = here.depth == 0 && !here.on_thread;
  for (;;) {
    take();
    // The condition is tested right after the handler that may have met it, before any module is polled (figure 4).
    if (done()) return;
    if (run_next()) continue;
    if (methods.any_polled() && poll_modules()) continue;
    const bool only_messages =
        needs_message && !threaded() && !methods.any_polled() && queued_bytes() == 0 && busy_ == 0;
    const host::Wait wait{.call = call, .peer = peer, .needs_message = only_messages, .messages = 1};
    const portals::Status status = host::wait_until(host_rank, wait, [&] {
      take();
      return (runs && !ready_.empty()) || done() || (methods.any_polled() && poll_modules());
    });
    if (!status.ok() && !done()) fail(status.sentence());
  }
}

}  // namespace margay::nexus::core
