// The host: the interface by which a communication library joins the rank of its process, beside MPI or without it.
// docs/libraries.md is the tutorial, and examples/library a library of one portal. Link with margay::host (CMake) or
// margay-host (pkg-config), and start the program with `margay run`.
//
//   margay::host::Rank* rank = nullptr;
//   if (auto status = margay::host::join(kCounterLibrary, rank); !status.ok()) ...
//   {
//     margay::host::Call call(*rank, "counter_open");       // the process lock
//     status = rank->attach(kCounterPortal, list);          // portals of the library's own
//     status = rank->barrier(call.name());                  // no rank sends before every table is ready
//   }
//   ...
//   rank->end();
//
// The rule for functions of the program (handlers, methods): they run only inside calls of the same library, by
// Rank::run_program(), or in a thread of the library's own. MPI's progress and the message coprocessor deposit messages
// for the library, but call no function of the program. A program in which one rank waits in MPI, and another one for
// a handler of that rank, is therefore a deadlock, which `margay run --deadlock` proves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "margay/structures.hpp"

namespace margay::host {

// The version of this interface. A library that was built for another version gets an error from join().
inline constexpr std::uint32_t kVersion = 7;
// The most characters of a library's name, libraries of a rank, and counters, events and named bits of a library.
inline constexpr std::size_t kNameMost = 15;
inline constexpr std::size_t kLibrariesMost = 3;
inline constexpr std::size_t kCountersMost = 16;
inline constexpr std::size_t kEventsMost = 32;
inline constexpr std::size_t kNamedBitsMost = 64;

// A portal of a library, and its name in traces.
struct NamedPortal {
  portals::PortalIndex portal = portals::kNoPortal;
  const char* name = nullptr;
};

// The meaning of match bits at a portal of a library, for traces: bits that equal `match_bits` where `ignore_bits` has
// zeros. The first description that fits a message is shown.
struct NamedBits {
  portals::PortalIndex portal = portals::kNoPortal;
  portals::MatchBits match_bits = 0;
  portals::MatchBits ignore_bits = 0;
  // A noun, such as "a request" or "the answer to call {number}"; {number} stands for the ignored bits. Its fields are
  // exported by their keys, and shown unless a '!' is in front of the key:
  //   {KEY=FIRST:COUNT}        a number of COUNT bits from bit FIRST on, 0 to 63; FIRST:COUNTs: a signed one
  //   {KEY=FIRST:COUNT|A|B}    A for 0, B for 1; the number for further values
  //   {KEY=WORD}               a constant
  // The fields `tag` and `context_id` are shown where MPI's messages have tag and communicator.
  const char* name = nullptr;
};

// Two counters, by their indices, whose sums over all ranks are equal when all ranks have ended, such as requests sent
// and requests executed. `margay run --check-accounting` and `--strict` report a pair that differs.
struct EqualCounters {
  std::uint8_t one = 0;
  std::uint8_t other = 0;
};

// A quotient of two counters, by their indices, that `--stats` prints below them, from their sums over all ranks, such
// as requests for each message. None if both are equal.
struct Quotient {
  std::uint8_t dividend = 0;
  std::uint8_t divisor = 0;
};

// The description of a library. Names are literals, and live as long as the process.
struct Library {
  // Letters, digits, '_' and '-', at most 15, such as "counter". Shown in reports, `--stats` and traces.
  const char* name = nullptr;
  // The library's portals. Portals 11 to 15, 37 to 39, 45 to 47 and 53 to 61 are free for any library; nexus has 32 to
  // 36, zipcode 40 to 44, rmi 48 to 52, and MPI all others.
  std::span<const NamedPortal> portals;
  // The names of its counters, different ones of at most 23 bytes: `--stats` prints their sums over the ranks. A
  // library that joins again continues its counts.
  std::span<const char* const> counters;
  // A sentence for each kind of its trace events, after "rank 1 ", such as "adds {detail} to the counter of {peer}".
  // {peer}, {bytes}, {detail}, {a} and {b} stand for the event's fields.
  std::span<const char* const> events;
  // What its messages mean, and which of its counters are equal. A counter is in one pair at most.
  std::span<const NamedBits> bits = {};
  std::span<const EqualCounters> equal = {};
  Quotient quotient = {};
  // Whether the library starts processes while the job runs (Rank::start_processes()), sends to them, and may join
  // those that it has started. Otherwise it reaches the ranks that began with the job.
  bool spans_places = false;
};

// A way: a wire by which messages reach a peer. `usual`: the pair's preferred wire, which MPI uses. Other values come
// from Rank::find_way(), and mean the same wire for every peer.
enum class Way : std::uint8_t { usual = 0 };

// A row of the table of ways to a peer.
struct WayRow {
  // The name of the wire, a literal: "self", "shm", "tcp".
  const char* wire = nullptr;
  // Valid if `why_not` is empty.
  Way way = Way::usual;
  // Empty: the way is open. Otherwise the reason, the end of a sentence: "rank 3 is on node 1".
  std::string why_not;
  // The longest message, in bytes, that MPI sends by this wire without an agreement.
  std::uint64_t short_limit = 0;
  bool is_usual = false;
};

// An event of a library, for Rank::record().
struct Event {
  // The index of its sentence in Library::events.
  std::uint8_t number = 0;
  // The other rank; kAnyRank: there is none.
  portals::Rank peer = portals::kAnyRank;
  std::uint64_t bytes = 0;
  std::uint64_t detail = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  // The message that the event is about, if any: its story then has the event between its own steps. It is the latest
  // one that this rank sent to `peer` by `way`, or one from `peer` in a heap of the library, which has not released it
  // yet.
  bool of_sent = false;
  Way way = Way::usual;
  const portals::ArrivedMessage* of_arrived = nullptr;
};

// An observer of descriptors, transmissions, progress rounds or losses.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;
  // Called in the progress round that found the change, under the process lock, perhaps in a call of MPI or on the
  // coprocessor's thread. It must neither wait nor call functions of the program. One call may stand for several
  // changes.
  virtual void notify() = 0;
};

// A message that is being sent, with the memory of its body. The library owns it. From Rank::send() until Rank::state()
// is no longer `queued`, neither the object nor the body's memory may change, move or end; the destructor of a queued
// one ends the process with a message.
class Outgoing {
 public:
  Outgoing() = default;
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;
  inline ~Outgoing();

  // Destination, portal, match bits and user data are the library's; length and source are set by Rank::send().
  portals::Header header;
  // The wire only reads it.
  portals::Region body;
  // The way that carries it. The messages of one pair by one way keep their order; those of different ways do not.
  Way way = Way::usual;
  // Notified when the memory is free; nullptr: the library tests state().
  Observer* observer = nullptr;

 private:
  friend class HostAccess;
  // The record that the kernel and the wire share, made by the first send().
  static constexpr std::size_t kRecordBytes = 384;
  alignas(16) std::byte record_[kRecordBytes];
  bool has_record_ = false;
};

// `idle`: never sent. `sent`: the memory is free; the message may still be in flight. `failed`: the receiver is lost.
enum class SendState : std::uint8_t { idle, queued, sent, failed };

// A wait of a library, with the facts that stall reports, `margay top` and the deadlock detection need.
struct Wait {
  // The library's function, a literal: "counter_add".
  const char* call = nullptr;
  // The rank whose message ends the wait; kAnyRank: any rank's.
  portals::Rank peer = portals::kAnyRank;
  // Whether only a message can end the wait. False if anything else can: another thread, a clock, an event outside of
  // the job, or work that the condition itself does (requests in a queue of the library's). A deadlock is then never
  // proven.
  bool needs_message = true;
  // The most messages that are taken from each wire before the condition is tested again.
  int messages = 4;
  // Whether the waiting thread is the library's own and merely has nothing to do. While no other thread of the rank
  // waits, such a wait is not a stall: neither the stall report nor the board shows it.
  bool is_idle = false;
};

// The polls of one wire since the rank joined its job: their number, and those that found a message or a part of one;
// the time of the others; the rounds of progress from one poll to the next at present (0: off, or a thread blocks).
struct PollCounts {
  std::uint64_t polls = 0;
  std::uint64_t hits = 0;
  std::uint64_t wasted_ns = 0;
  std::uint32_t interval = 0;
};

// The part of one library in the rank of the calling process. Made by join(), ended by end(). Except where a comment
// says otherwise, a function requires that the calling thread is inside, between enter() and leave() (class Call).
class Rank {
 public:
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  // Ends the library's part in the rank, and deletes this object. Collective over the ranks of the job, or in a process
  // of start_processes() over those of its call. Detaches the library's portals and removes its observers. The last
  // user of the rank (library, session or MPI) signs off at the launcher. Requires: outside; no Outgoing is queued, and
  // no message is in flight to the library (a barrier in which every rank has its answers). A message that arrives
  // later is dropped.
  virtual void end() = 0;

  // This process's rank, which is its place in the job, and the number of ranks that began with the job. A process that
  // was started later has a rank from size() on. Constant; may be called outside.
  [[nodiscard]] virtual portals::Rank rank() const = 0;
  [[nodiscard]] virtual std::uint32_t size() const = 0;
  // Whether both ranks lie on one node, so that their messages pass through shared memory. May be called outside.
  [[nodiscard]] virtual bool on_node(portals::Rank peer) const = 0;
  // The job's secret, from which libraries derive keys. All ranks of the job have it, and no other process. Requires:
  // it is neither printed nor sent. May be called outside.
  [[nodiscard]] virtual std::span<const std::byte, 32> secret() const = 0;

  // enter() locks the process lock and shows the call on the job board and in the trace; `name` is a literal, and
  // `caller` an address in the program. leave() undoes that. A library's calls do not nest, except inside
  // run_program(). Use class Call.
  virtual void enter(const char* name, const void* caller) = 0;
  virtual void leave(const char* name) = 0;
  // Assigns the calling thread, which the library has made, to this rank, so that it and the functions of the program
  // that it runs may call the library (and MPI, at level MPI_THREAD_MULTIPLE). The thread's first call. Requires:
  // outside; the library has joined for several threads. The thread ends before end() is called.
  virtual void begin_thread() = 0;
  // lock() and unlock() exclude the rank's other threads for a few instructions, without a call in board and trace: for
  // the library's own data. Inside: no wait and no progress. Requires for lock(): outside.
  virtual void lock() = 0;
  virtual void unlock() = 0;

  // PortalTable::attach(), which also fails for a portal that the library has not named. end() detaches all.
  [[nodiscard]] virtual portals::Status attach(portals::PortalIndex portal, portals::MatchList& list) = 0;
  [[nodiscard]] virtual portals::Status attach(portals::PortalIndex portal, portals::Descriptor& memory,
                                               const portals::Options& options) = 0;
  // Requires: a portal that the library has named.
  virtual void detach(portals::PortalIndex portal) = 0;
  // The name of an entry in traces, such as "requests". Requires: the entry is in a list at this portal.
  virtual void name_entry(portals::PortalIndex portal, const portals::MatchEntry& entry, const char* name) = 0;
  // Enables backpressure on a portal of the library: no_room and too_small leave the message, and its sender's later
  // ones, on the wire until there is room, instead of dropping it. Cannot be undone, not even by end(). The library
  // must make room in each of its calls, because messages of MPI wait behind a held one.
  virtual void hold_when_no_room(portals::PortalIndex portal) = 0;

  // Processes that start and end while the job runs. Only for a library with Library::spans_places.
  //
  // The number of places of the job, each of which can have a process: size(), and further ones if the launcher can
  // start processes. Constant; may be called outside.
  [[nodiscard]] virtual std::uint32_t places() const = 0;
  // Whether a process communicates at this place. Requires: `place` is below places().
  [[nodiscard]] virtual bool has_process(portals::Rank place) const = 0;
  // Whether the latest process at this place has begun to communicate, and ended that. Requires: as above.
  [[nodiscard]] virtual bool has_left(portals::Rank place) const = 0;
  // Starts a program, which must join this library, in `count` empty places, and sets `places`. The launcher looks for
  // the program from this process's working folder on, or in PATH. Barriers and end() of the new processes are
  // collective over those of this call. Returns when they run, before they have joined. Fails if none was started.
  [[nodiscard]] virtual portals::Status start_processes(const std::string& program, std::uint32_t count,
                                                        std::vector<portals::Rank>& places) = 0;
  // Ends processes that were started later, which is not a failure of the job. What they have sent arrives, or not.
  // Each rank that exchanges messages with them calls note_end().
  [[nodiscard]] virtual portals::Status end_processes(const std::vector<portals::Rank>& places) = 0;
  // Notes that the process of a place was ended: lost() becomes true in a later round, and messages to it fail.
  // Requires: a place from size() on.
  virtual void note_end(portals::Rank place) = 0;

  // Requires for try_send() and send(): a destination below size(), or below places() if the library spans places; and
  // a portal that the library has named.
  // Sends a message if its wire can take the whole body at once. true: the body's memory is free again. false: nothing
  // happened (the ring is full, the body is long, or the peer is lost); send() is used instead. Header::source and
  // length are set here.
  [[nodiscard]] virtual bool try_send(const portals::Header& header, const portals::Region& body) = 0;
  // Sends a message of any length. Requires: `message` is not under way.
  virtual void send(Outgoing& message) = 0;
  [[nodiscard]] virtual SendState state(const Outgoing& message) const = 0;
  // Declares that `peer` owes this rank an answer; while it is awaited without progress, the peer's coprocessor is
  // woken. Each call of expect_answer() requires one later call of count_answer().
  virtual void expect_answer(portals::Rank peer) = 0;
  virtual void count_answer(portals::Rank peer) = 0;

  // Makes `observer` the observer of a descriptor; nullptr: none. The observer lives until the descriptor is detached
  // or has another observer.
  virtual void observe(portals::Descriptor& descriptor, Observer* observer) = 0;
  // Adds an observer of every progress round, for memory that is polled, and removes it. An observer may add and remove
  // any observers while it is notified.
  virtual void observe_rounds(Observer& observer, bool on) = 0;
  // Adds an observer of lost ranks, and removes it; as above.
  virtual void observe_losses(Observer& observer, bool on) = 0;

  // Wakes `peer`, a rank of this node, if it sleeps in a wait: for a wait that ends by memory which both ranks share.
  // Called after the write. A few instructions, unless the rank sleeps.
  virtual void wake(portals::Rank peer) = 0;

  // Makes one progress round. Returns whether anything moved.
  virtual bool progress() = 0;
  // Makes progress until `done(argument)`, which makes no call that waits. Spins, yields or sleeps as MPI's waits do.
  // Fails if the awaited rank (or with kAnyRank any rank) is lost and done() does not hold. Use the template
  // wait_until().
  [[nodiscard]] virtual portals::Status wait(const Wait& wait, bool (*done)(void*), void* argument) = 0;
  // A barrier of all ranks, inside `call`. Fails if a rank is lost.
  [[nodiscard]] virtual portals::Status barrier(const char* call) = 0;
  // The same in steps, for a library that serves other ranks while it waits: begin_barrier() does not wait, and
  // in_barrier() is false once all ranks have begun, or one of them is lost; end_barrier() returns which, once.
  // Requires for the first: no barrier is in progress; for the last: one was begun, and in_barrier() is false.
  virtual void begin_barrier() = 0;
  [[nodiscard]] virtual bool in_barrier() = 0;
  [[nodiscard]] virtual portals::Status end_barrier(const char* call) = 0;
  // Whether `peer` is lost, and the reason: the end of a sentence, such as "connection reset"; empty for a rank that is
  // not lost. A rank whose process has ended after it left the job regularly counts as lost, too.
  [[nodiscard]] virtual bool lost(portals::Rank peer) const = 0;
  [[nodiscard]] virtual std::string loss(portals::Rank peer) const = 0;

  // Runs a function of the program outside the process lock, so that it may call the library and MPI. Everything that
  // the caller has read of lists and queues may have changed afterwards. `function` must not throw.
  virtual void run_program(void (*function)(void*), void* argument) = 0;

  // Whether events are recorded, and the recording of one.
  [[nodiscard]] virtual bool recording() const = 0;
  virtual void record(const Event& event) = 0;
  // A counter of Library::counters, on the job board. May be called outside; only threads that are inside change it.
  [[nodiscard]] virtual std::uint64_t& counter(std::size_t index) = 0;

  // The table of ways to `peer`: the usual way first, then further open ways in order of preference, then the wires
  // that are not applicable. Constant. `margay info` prints the same table.
  [[nodiscard]] virtual std::vector<WayRow> ways(portals::Rank peer) const = 0;
  // The row of a wire; for an unknown name, `why_not` is set. Requires: `peer` is below size().
  [[nodiscard]] virtual WayRow find_way(portals::Rank peer, const char* wire) const = 0;
  // As try_send(), by a way. Requires: the way is open.
  [[nodiscard]] virtual bool try_send_by(Way way, const portals::Header& header, const portals::Region& body) = 0;
  // Whether this way to `peer` is lost, and the reason, as lost() and loss(). Other ways to the peer may still work.
  [[nodiscard]] virtual bool way_lost(portals::Rank peer, Way way) const = 0;
  [[nodiscard]] virtual std::string way_loss(portals::Rank peer, Way way) const = 0;
  // Moves to another way: messages that are sent to `peer` by `to` after this call are delivered behind those that were
  // sent by `from` before it. Answers return by the way of the message that they answer. Costs two messages without a
  // body.
  // Fails for a way that is not open, and if `to` is lost. Messages that were sent by a lost way may be lost.
  [[nodiscard]] virtual portals::Status move(portals::Rank peer, Way from, Way to) = 0;

  // Ends the whole job with this exit status; `message` is for the user. May be called outside. Never returns.
  [[noreturn]] virtual void abort(int code, const std::string& message) = 0;

  // The polling of the rank's wires, which all libraries and MPI share. Wires have names, such as "tcp"
  // (include/margay/polling.h); a wire that this rank does not use is skipped, and another name is an error.
  // `interval`: "20" polls in every 20th round of progress, "adaptive" at an interval derived from measurements,
  // "block" after a thread that blocks on the wire has woken up. A call with "off" is set_polling(wire, false).
  [[nodiscard]] virtual portals::Status set_poll_interval(const std::string& wire, const std::string& interval) = 0;
  // Selective polling: while it is off, arriving messages wait on the wire.
  [[nodiscard]] virtual portals::Status set_polling(const std::string& wire, bool on) = 0;
  [[nodiscard]] virtual portals::Status poll_counts(const std::string& wire, PollCounts& out) = 0;

 protected:
  Rank() = default;
  ~Rank() = default;
};

// One call of the library, on the stack of its function.
class Call {
 public:
  Call(Rank& rank, const char* name, const void* caller = __builtin_return_address(0)) : rank_(rank), name_(name) {
    rank_.enter(name_, caller);
  }
  ~Call() { rank_.leave(name_); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  [[nodiscard]] const char* name() const { return name_; }

 private:
  Rank& rank_;
  const char* name_;
};

// Rank::wait() for a callable condition.
template <typename Done>
[[nodiscard]] portals::Status wait_until(Rank& rank, const Wait& wait, Done done) {
  return rank.wait(
      wait, [](void* self) -> bool { return (*static_cast<Done*>(self))(); }, &done);
}

// Rank::run_program() for a callable function.
template <typename Function>
void run_program(Rank& rank, Function function) {
  rank.run_program([](void* self) { (*static_cast<Function*>(self))(); }, &function);
}

// The way into the host; the one object is in libmpi.so.12.
class Host {
 public:
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  // See host::join(). `caller`: an address in the program.
  [[nodiscard]] virtual portals::Status join(const Library& library, bool threads, const void* caller, Rank*& out) = 0;
  // See host::run_ranks().
  virtual int run_ranks(int argc, char** argv, int (*entry)(int, char**)) = 0;
  // Ends the process with a message if `message` is queued: it is about to end.
  virtual void check_end(const Outgoing& message) = 0;

 protected:
  Host() = default;
  ~Host() = default;
};

}  // namespace margay::host

// The host, if it has this version; otherwise nullptr. Weak, so that a program that runs with another MPI's library
// gets an error from join() and not from the dynamic linker.
extern "C" __attribute__((weak)) margay::host::Host* MPIX_Margay_host(std::uint32_t version);
// A function of every MPI. This strong reference makes the linker link libmpi.so.12, which a weak one does not.
extern "C" int MPI_Get_version(int* version, int* subversion);

namespace margay::host {

Outgoing::~Outgoing() {
  // A message that was sent has its host.
  if (has_record_) MPIX_Margay_host(kVersion)->check_end(*this);
}

// The host of this process's libmpi.so.12. Fails if that is another implementation's or another version's. `who`: the
// asking library, for the message.
[[nodiscard]] inline portals::Status find_host(const std::string& who, Host*& out) {
  int version = 0;
  if (MPI_Get_version(&version, &version) != 0 || MPIX_Margay_host == nullptr) {
    return portals::Status::error(who +
                                  " needs margay's libmpi.so.12, but another MPI's was loaded; start the program with "
                                  "`margay run`, without --mpi system");
  }
  out = MPIX_Margay_host(kVersion);
  if (out != nullptr) return {};
  return portals::Status::error(who + " was built for version " + std::to_string(kVersion) +
                                " of margay's host, which this libmpi.so.12 does not have; build both from one version "
                                "of margay");
}

// Joins the rank of the calling process, and the job if nothing has joined it yet. Collective over the ranks of the
// job. `threads`: several threads of the process will call the library. Fails if the library's portals are not free,
// if the process is in no job that it could join, and if libmpi.so.12 is another implementation's or another version's.
// `caller`: the place in the program that reports show.
[[nodiscard]] inline portals::Status join(const Library& library, Rank*& out, bool threads = false,
                                          const void* caller = __builtin_return_address(0)) {
  Host* host = nullptr;
  if (portals::Status status =
          find_host(std::string("the library ") + (library.name == nullptr ? "" : library.name), host);
      !status.ok())
    return status;
  return host->join(library, threads, caller, out);  // NOLINT(clang-analyzer-core.CallAndMessage): set by find_host()
}

// Runs `entry` in each rank of this process: once, or in each of N threads that are a rank each (`margay run --threads
// N`). Returns when all have returned: the first status that is not 0, in the order of ranks, else 0. A library whose
// programs have an entry function calls it in its own main function, before any rank has joined. Variables of the
// program are shared by the ranks of a process. Ends the process with a message if libmpi.so.12 is not margay's.
inline int run_ranks(int argc, char** argv, int (*entry)(int, char**)) {
  Host* host = nullptr;
  if (const portals::Status status = find_host("the program", host); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.sentence().c_str());
    std::exit(1);
  }
  return host->run_ranks(argc, argv, entry);
}

}  // namespace margay::host
