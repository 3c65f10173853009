// The machinery of the zoo. Rank 0, the visitor, sends messages. Rank 1, the keeper, has a descriptor or a match list
// in its cage (a portal), and its kernel decides about each message. The keeper sends its kernel's explanation to the
// visitor. The visitor prints this explanation, and then its own kernel's decision about the answer. Further ranks only
// take part in barriers.
#pragma once

#include <margay/portals.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace zoo {

using namespace margay;
using namespace margay::portals;

inline constexpr Rank kVisitor = 0;
inline constexpr Rank kKeeper = 1;
// The keeper's portal for the exhibit.
inline constexpr PortalIndex kCage = 4;
// The visitor's portal for acknowledgments, of which only the headers are kept.
inline constexpr PortalIndex kAnswers = 5;
// The visitor's portal for replies.
inline constexpr PortalIndex kReplies = 6;
// The visitor's portal for the keeper's reports.
inline constexpr PortalIndex kReports = 7;
inline constexpr std::size_t kHeapBytes = 16384;

// Ends the example with the library's error.
inline void need(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "portals_zoo: %s\n", status.sentence().c_str());
  std::exit(1);
}

// Memory for deposits: initially dots, so that new bytes are visible.
template <std::size_t N>
struct Memory {
  Memory() { bytes.fill(std::byte{'.'}); }
  [[nodiscard]] Buffer all() { return {bytes.data(), N}; }
  [[nodiscard]] Buffer part(std::size_t from, std::size_t length) { return {bytes.data() + from, length}; }
  alignas(64) std::array<std::byte, N> bytes;
};

// The expected decision of the kernel.
struct Expected {
  Outcome outcome = Outcome::drop;
  DropReason reason = DropReason::none;
  Saved saved = Saved::nothing;
  std::uint64_t bytes = 0;
  // Offset, or buffer of an independent block.
  std::uint64_t at = 0;
  bool acknowledged = false;
  // The number of match entries that the walk visits.
  std::size_t stops = 1;
  [[nodiscard]] Expected after(std::size_t passed) const {
    Expected more = *this;
    more.stops = passed + 1;
    return more;
  }
  [[nodiscard]] Expected without_walk() const {
    Expected more = *this;
    more.stops = 0;
    return more;
  }
  [[nodiscard]] Expected and_acknowledged() const {
    Expected more = *this;
    more.acknowledged = true;
    return more;
  }
};
inline Expected deposited(Saved saved, std::uint64_t bytes, std::uint64_t at = 0) {
  return {.outcome = Outcome::deposit, .saved = saved, .bytes = bytes, .at = at};
}
inline Expected replied(std::uint64_t bytes, std::uint64_t at = 0) {
  return {.outcome = Outcome::reply, .bytes = bytes, .at = at};
}
inline Expected dropped(DropReason reason) {
  return {.outcome = Outcome::drop, .reason = reason};
}

// One rank's side. Calls that send are collective over visitor and keeper.
class Zoo {
 public:
  explicit Zoo(Program& program);
  [[nodiscard]] Program& program() { return program_; }
  [[nodiscard]] bool visitor() const { return program_.rank() == kVisitor; }
  [[nodiscard]] bool keeper() const { return program_.rank() == kKeeper; }
  [[nodiscard]] int surprises() const { return surprises_; }

  // On the keeper, puts a descriptor or a list into the cage for the lifetime of the returned guard.
  struct Open {
    explicit Open(PortalTable& portals) : table(&portals) {}
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open() { table->detach(kCage); }
    PortalTable* table;
  };
  [[nodiscard]] Open open(Descriptor& memory, const Options& options = {});
  [[nodiscard]] Open open(MatchList& list);
  // Sets the memory that is printed after each message; it contains the buffers of an exhibit with several.
  void show_memory(Buffer memory) { memory_ = memory; }
  void name(const MatchEntry& entry, const char* name) { program_.name(entry, name); }

  void say(const std::string& line);
  // Sends one message from the visitor to the cage, and prints and checks its outcome. The body is the next letter,
  // `bytes` times.
  void put(std::uint64_t bytes, const Expected& expected, HeaderValues values = {});
  void get(std::uint64_t bytes, const Expected& expected, HeaderValues values = {});
  // Prints only the verdict of each message, in one line.
  void brief(bool on) { brief_ = on; }
  // Checks a condition at the keeper.
  void check(bool holds, const char* what);
  // Sends without waiting for the outcome, which a later meet() handles.
  void launch(std::uint64_t bytes, HeaderValues values = {});
  // Prints both sides' decisions since the last call, and checks the keeper's. Collective.
  void meet(const std::vector<Expected>& expected);
  void drops();

 private:
  void keeper_reports(const std::vector<Expected>& expected);
  void visitor_prints(const std::vector<Expected>& expected);
  void answer_came(const Decision& answer, const Expected& expected);
  void compare(const Decision& decision, const Expected& expected);
  void surprise(const std::string& what);
  [[nodiscard]] std::string words(const Decision& decision) const;
  [[nodiscard]] std::string drawing() const;

  Program& program_;
  SingleBlock answers_{Buffer{}};
  Memory<64> reply_memory_;
  SingleBlock replies_{reply_memory_.all()};
  std::unique_ptr<Memory<kHeapBytes>> report_memory_ = std::make_unique<Memory<kHeapBytes>>();
  DynamicBlock reports_{report_memory_->all()};
  Buffer memory_;
  std::vector<std::byte> body_;
  char letter_ = 'a';
  bool brief_ = false;
  int surprises_ = 0;
};

inline Zoo::Zoo(Program& program) : program_(program) {
  program_.keep_decisions(100);
  program_.name(kCage, "cage");
  program_.name(kAnswers, "answers");
  program_.name(kReplies, "replies");
  if (!visitor()) return;
  need(program_.table().attach(kAnswers, answers_, {.save = Save::header}));
  need(program_.table().attach(kReplies, replies_, {.save = Save::both, .offset_by = OffsetBy::sender}));
  need(program_.table().attach(kReports, reports_, {}));
}

inline Zoo::Open Zoo::open(Descriptor& memory, const Options& options) {
  if (keeper()) need(program_.table().attach(kCage, memory, options));
  return Open(program_.table());
}

inline Zoo::Open Zoo::open(MatchList& list) {
  if (keeper()) need(program_.table().attach(kCage, list));
  return Open(program_.table());
}

inline void Zoo::say(const std::string& line) {
  if (visitor()) std::printf("%s\n", line.c_str());
}

inline void Zoo::put(std::uint64_t bytes, const Expected& expected, HeaderValues values) {
  // Waits until the cage is ready.
  need(program_.barrier());
  launch(bytes, values);
  // Waits until both kernels have decided and answered.
  need(program_.settle());
  meet({expected});
}

inline void Zoo::launch(std::uint64_t bytes, HeaderValues values) {
  body_.assign(bytes, static_cast<std::byte>(letter_));
  letter_ = letter_ == 'z' ? 'a' : static_cast<char>(letter_ + 1);
  if (!visitor()) return;
  values.destination = kKeeper;
  if (values.portal == 0) values.portal = kCage;
  if (values.return_portal == kNoPortal) values.return_portal = kAnswers;
  need(program_.put(values, Region(body_.data(), bytes)));
}

inline void Zoo::get(std::uint64_t bytes, const Expected& expected, HeaderValues values) {
  need(program_.barrier());
  if (visitor()) {
    values.destination = kKeeper;
    values.portal = kCage;
    values.return_portal = kReplies;
    need(program_.get(values, bytes));
  }
  need(program_.settle());
  meet({expected});
}

inline void Zoo::check(bool holds, const char* what) {
  if (keeper() && !holds) surprise(what);
}

inline void Zoo::meet(const std::vector<Expected>& expected) {
  if (keeper()) keeper_reports(expected);
  if (visitor()) visitor_prints(expected);
}

inline void Zoo::keeper_reports(const std::vector<Expected>& expected) {
  std::string report;
  std::size_t count = 0;
  while (const std::optional<Decision> decision = program_.take_decision()) {
    report += words(*decision);
    if (count < expected.size()) compare(*decision, expected[count]);
    ++count;
  }
  if (count != expected.size()) surprise("another number of messages came to the cage");
  report += drawing();
  need(program_.put({.destination = kVisitor, .portal = kReports}, Region(report.data(), report.size())));
}

inline void Zoo::visitor_prints(const std::vector<Expected>& expected) {
  need(program_.wait_until([this] { return reports_.first() != nullptr && reports_.first()->complete; }));
  ArrivedMessage& report = *reports_.first();
  std::fwrite(report.body.base, 1, report.body.bytes, stdout);
  reports_.release(report);
  auto next = expected.begin();
  while (const std::optional<Decision> decision = program_.take_decision()) {
    if (decision->header.portal == kReports) continue;
    if (!brief_) std::fputs(words(*decision).c_str(), stdout);
    next = std::find_if(next, expected.end(),
                        [](const Expected& one) { return one.acknowledged || one.outcome == Outcome::reply; });
    if (next == expected.end()) return surprise("an answer came that was not expected");
    answer_came(*decision, *next++);
  }
  for (; next != expected.end(); ++next) {
    if (next->acknowledged || next->outcome == Outcome::reply) surprise("an answer did not come");
  }
}

inline void Zoo::answer_came(const Decision& answer, const Expected& expected) {
  const bool reply = answer.header.kind == Kind::reply;
  if (reply != (expected.outcome == Outcome::reply)) return surprise("the answer is of another kind");
  if (!reply && (saved_of(answer.header) != expected.saved || answer.header.return_length != expected.bytes)) {
    return surprise("the acknowledgment says something else than was saved");
  }
  if (!reply) return;
  const std::string text(reinterpret_cast<const char*>(reply_memory_.bytes.data()), answer.bytes);
  if (!brief_) std::printf("  replied: |%s|\n", text.c_str());
  if (answer.bytes != expected.bytes) surprise("the reply has another length");
}

inline void Zoo::compare(const Decision& decision, const Expected& expected) {
  const bool independent = decision.type == DescriptorType::independent_block;
  const std::uint64_t at = independent ? decision.row : decision.offset;
  if (decision.outcome != expected.outcome || decision.reason != expected.reason) surprise("another outcome");
  if (decision.stops.size() != expected.stops) surprise("the walk has another length");
  if (decision.outcome == Outcome::drop) return;
  if (decision.bytes != expected.bytes || at != expected.at) surprise("another place, or another number of bytes");
  if (decision.outcome == Outcome::deposit && decision.saved != expected.saved) surprise("something else was saved");
  if (decision.acknowledge != expected.acknowledged) surprise("acknowledged or not");
}

inline void Zoo::surprise(const std::string& what) {
  ++surprises_;
  std::fprintf(stderr, "portals_zoo: rank %u: NOT AS EXPECTED: %s\n", program_.rank(), what.c_str());
}

inline std::string Zoo::words(const Decision& decision) const {
  std::string text = program_.explain(decision);
  if (brief_) text = text.substr(text.rfind('\n', text.size() - 2) + 1);
  return text;
}

inline std::string Zoo::drawing() const {
  if (brief_ || memory_.base == nullptr) return {};
  return "  memory: |" + std::string(reinterpret_cast<const char*>(memory_.base), memory_.bytes) + "|\n";
}

inline void Zoo::drops() {
  std::string report;
  for (std::size_t reason = 1; keeper() && reason < kDropReasonCount; ++reason) {
    const auto which = static_cast<DropReason>(reason);
    const std::string words(margay::portals::name(which));
    report += "  " + words + ": " + std::to_string(program_.drops(which)) + "\n";
  }
  if (keeper()) {
    need(program_.put({.destination = kVisitor, .portal = kReports}, Region(report.data(), report.size())));
  }
  if (visitor()) visitor_prints({});
}

inline const Expected kNoMatch = dropped(DropReason::no_match);
inline const Expected kNoRoom = dropped(DropReason::no_room);
inline const Expected kTooSmall = dropped(DropReason::too_small);

struct TwoBuffers {
  Memory<16> memory;
  std::array<IndependentBuffer, 2> rows{IndependentBuffer{Region(memory.part(0, 6)), {}},
                                        IndependentBuffer{Region(memory.part(8, 8)), {}}};
};

// Defined in portals_zoo_descriptors.cpp.
void show_descriptors(Zoo& zoo);

}  // namespace zoo
