// Receives posted by hand on portals. Rank 1 posts receives, rank 0 sends; page.md explains what can go wrong, and when
// which message arrives. You write post(), whose steps are the public functions of Desk.
//
//   margay run -n 2 --trace DIR ./program         posts as you wrote it
//   margay run -n 2 --trace DIR ./program racy    posts by post_racy()
#include <margay/portals.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>

#include "variant.h"

using namespace margay;
using namespace margay::portals;
using Start = MatchList::Start;

// A receive: one buffer, and the match entry that leads to it.
struct Receive {
  Receive(int receive_number, MatchBits wanted) : number(receive_number), tag(wanted) {
    entry.set({.match_bits = tag}, block, {});
  }
  int number;
  MatchBits tag;
  std::array<std::byte, 8> buffer{};
  std::array<IndependentBuffer, 1> row{IndependentBuffer{.memory = Region(buffer.data(), buffer.size())}};
  IndependentBlock block{row, Progression::linear};
  MatchEntry entry;
  unsigned long long message = 0;  // the number of the one that it got; 0: none
};

class Desk {
 public:
  // The steps. After each step, before the function returns, the kernel has a turn: messages may arrive.
  void insert(Receive& receive, Start start);  // its entry enters the list, above "unexpected"
  ArrivedMessage* search(Receive& receive);    // the earliest message in the heap that it accepts, or nullptr
  void activate(Receive& receive);             // its entry takes messages from now on. Requires: it was inserted
  // Activates the entry if the heap has taken `arrivals` messages and no more; else does nothing and returns false.
  // Atomic: no message arrives between the comparison and the activation.
  bool activate_if_unchanged(Receive& receive, std::uint64_t arrivals);
  // Completes a receive whose message was in the heap: copies it out, frees its room, removes the entry from the list.
  void take(Receive& receive, ArrivedMessage& message);
  // The number of messages that the heap has taken so far. Not a step.
  std::uint64_t arrivals() const { return heap_.messages(); }

  // The remainder is for main().
  explicit Desk(Program& program);
  ~Desk() { program_.table().detach(4); }
  void run_trial(int trial, void (*how)(Desk&, Receive&));

 private:
  // Portals of messages to rank 0, for the trace.
  enum Note { begins = 10, inserts, searches, activates, takes, activates_unchanged };
  void step(Note note, const Receive& receive);
  void tried(const Receive& receive);
  void turn();
  void complete(Receive& receive);
  void answer(Receive& receive, const Header& header);
  std::uint64_t arrived() const;

  Program& program_;
  alignas(64) std::array<std::byte, 65536> heap_memory_;
  DynamicBlock heap_{Buffer{heap_memory_.data(), heap_memory_.size()}};
  SingleBlock notes_{Buffer{}};
  MatchEntry unexpected_{{.ignore_bits = ~MatchBits{0}}, heap_, {}};  // any message
  std::deque<Receive> receives_;
  MatchList list_;
  int trial_ = 0, turns_ = 0, tries_ = 0;
  std::size_t next_ = 0;  // index of the next message
};

// The usual mistake: a message can arrive between the search and the insertion.
void post_racy(Desk& desk, Receive& receive) {
  if (ArrivedMessage* early = desk.search(receive)) return desk.take(receive, *early);
  desk.insert(receive, Start::active);
}

void post(Desk& desk, Receive& receive) {
  /* BLANK 1: post the receive so that no message is lost and none overtakes another, whenever they arrive */
  post_racy(desk, receive);
  /* END 1 */
}

// Do not change what follows.

constexpr PortalIndex kMail = 4;     // of rank 1: the receives, then "unexpected"
constexpr PortalIndex kGo = 5;       // of rank 0: it may send one more message
constexpr PortalIndex kAnswers = 6;  // of rank 0: which receive got which message

static void need(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.sentence().c_str());
  std::exit(1);
}

Desk::Desk(Program& program) : program_(program) {
  list_.append(unexpected_);
  program_.name(unexpected_, "unexpected");
  need(program_.table().attach(kMail, list_));
  const std::array<const char*, 6> names{"note: a receive begins",
                                         "note: it inserts its entry",
                                         "note: it searches the heap",
                                         "note: it activates its entry",
                                         "note: it takes its message from the heap",
                                         "note: unchanged: it activates its entry"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto portal = static_cast<PortalIndex>(begins + i);
    need(program_.table().attach(portal, notes_, {.save = Save::header}));
    program_.name(portal, names[i]);
  }
}

static void misused(const Receive& receive, const char* step, const char* why) {
  need(Status::error("BLANK 1: receive " + std::to_string(receive.number) + " cannot " + step + ": " + why));
}

static void need_listed(const Receive& receive, const char* step) {
  if (receive.message != 0) misused(receive, step, "its posting is over, as it took its message");
  if (!receive.entry.listed()) misused(receive, step, "its entry was not inserted");
}

void Desk::insert(Receive& receive, Start start) {
  if (receive.message != 0) misused(receive, "insert", "its posting is over, as it took its message");
  if (receive.entry.listed()) misused(receive, "insert", "its entry is in the list already");
  list_.insert_before(unexpected_, receive.entry, start);
  step(inserts, receive);
}

ArrivedMessage* Desk::search(Receive& receive) {
  ArrivedMessage* const found = heap_.find({.match_bits = receive.tag});
  step(searches, receive);
  return found;
}

void Desk::activate(Receive& receive) {
  need_listed(receive, "activate");
  list_.activate(receive.entry);
  step(activates, receive);
}

bool Desk::activate_if_unchanged(Receive& receive, std::uint64_t arrivals) {
  need_listed(receive, "activate_if_unchanged");
  tried(receive);
  if (heap_.messages() != arrivals) return false;
  list_.activate(receive.entry);
  step(activates_unchanged, receive);
  return true;
}

void Desk::take(Receive& receive, ArrivedMessage& message) {
  if (receive.message != 0) misused(receive, "take", "its posting is over, as it took its message");
  std::memcpy(receive.buffer.data(), message.body.base, message.body.bytes);
  const Header header = message.header;
  heap_.release(message);
  if (receive.entry.listed()) list_.remove(receive.entry);
  answer(receive, header);
  step(takes, receive);
}

// Ends a step: a message to rank 0 records it in the trace. Then the kernel has its turn.
void Desk::step(Note note, const Receive& receive) {
  need(program_.put({.destination = 0,
                     .portal = static_cast<PortalIndex>(note),
                     .match_bits = static_cast<MatchBits>(receive.number)}));
  if (note == begins) return;
  tried(receive);
  ++turns_;
  turn();
}

// Counts a step, and ends a posting that loops for ever: none of this lab needs as many steps.
void Desk::tried(const Receive& receive) {
  constexpr int kMany = 100;
  if (++tries_ <= kMany) return;
  need(Status::error("receive " + std::to_string(receive.number) + " was given up after " + std::to_string(kMany) +
                     " steps: its posting goes round for ever"));
}

// Delivers the messages that are due: notifies rank 0, and waits until the kernel has delivered each.
void Desk::turn() {
  while (next_ < kMessageTrialCount && kMessageTrial[next_] == trial_ && kMessageTurn[next_] <= turns_) {
    ++next_;
    need(program_.put({.destination = 0, .portal = kGo}));
    need(program_.wait_until([&] { return arrived() == next_; }));
  }
}

std::uint64_t Desk::arrived() const {
  std::uint64_t sum = heap_.messages();
  for (const Receive& receive : receives_) sum += receive.block.messages();
  return sum;
}

void Desk::run_trial(int trial, void (*how)(Desk&, Receive&)) {
  trial_ = trial;
  turns_ = tries_ = 0;
  const std::size_t first = receives_.size();
  for (int i = 0; i < kTrialReceives[trial]; ++i) {
    const int number = static_cast<int>(receives_.size()) + 1;
    receives_.emplace_back(number, static_cast<MatchBits>(kTrialTag[trial]));
    program_.name(receives_.back().entry, "receive " + std::to_string(number));
    step(begins, receives_.back());
    if (i == 0) turn();  // the messages of turn 0
    how(*this, receives_.back());
  }
  turns_ = 1'000'000;  // the messages after all steps
  turn();
  for (std::size_t i = first; i < receives_.size(); ++i) complete(receives_[i]);
}

void Desk::complete(Receive& receive) {
  if (receive.message == 0 && receive.row[0].state == IndependentBuffer::State::filled) {
    answer(receive, receive.row[0].header);
  }
  if (receive.entry.listed()) list_.remove(receive.entry);
  std::printf("receive %d (tag %d): ", receive.number, static_cast<int>(receive.tag));
  if (receive.message == 0)
    std::printf("no message\n");
  else
    std::printf("message %llu\n", receive.message);
}

// Notifies the sender, as for a synchronous send. The upper match bits are the receive, the lower ones the message.
void Desk::answer(Receive& receive, const Header& header) {
  receive.message = header.return_match_bits;
  const auto number = static_cast<MatchBits>(receive.number);
  need(program_.put(
      {.destination = header.source.rank, .portal = kAnswers, .match_bits = number << 32 | header.return_match_bits}));
}

static void send_all(Program& program, const SingleBlock& go) {
  for (std::size_t i = 0; i < kMessageTrialCount; ++i) {
    need(program.wait_until([&] { return go.messages() > i; }));
    std::array<std::byte, 8> body{static_cast<std::byte>(i + 1)};
    need(program.put({.destination = 1,
                      .portal = kMail,
                      .match_bits = static_cast<MatchBits>(kMessageTag[i]),
                      .return_match_bits = i + 1},
                     Region(body.data(), body.size())));
  }
}

int main(int argc, char** argv) {
  std::unique_ptr<Program> program;
  need(Program::start(program));
  if (program->size() != 2) need(Status::error("this lab takes two ranks: margay run -n 2 ./program"));
  const bool racy = argc > 1 && std::strcmp(argv[1], "racy") == 0;
  SingleBlock go(Buffer{}), answers(Buffer{});
  need(program->table().attach(kGo, go, {.save = Save::header}));
  need(program->table().attach(kAnswers, answers, {.save = Save::header}));
  program->name(kMail, "mail");
  program->name(kGo, "go: the next message may come");
  program->name(kAnswers, "answers: a receive has its message");
  Desk desk(*program);
  need(program->barrier());
  if (program->rank() == 0) send_all(*program, go);
  for (int trial = 0; program->rank() == 1 && trial < kTrialTagCount; ++trial) {
    desk.run_trial(trial, racy ? post_racy : post);
  }
  need(program->finish());
}
