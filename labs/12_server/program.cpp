// A server on portals. Rank 0 serves, the others are its clients; page.md explains each blank. There are two rounds:
// the clients send all their requests while the server is busy; then it answers those that its kernel has deposited.
//
//   margay run -n 4 --trace DIR ./program
#include <margay/portals.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "variant.h"

using namespace margay;
using namespace margay::portals;

constexpr PortalIndex kRequests = 4;  // of the server
constexpr PortalIndex kAnswers = 5;   // of the clients: client r awaits its answers at kAnswers + r
// The upper 32 match bits are the kind of a request, the lower 32 its number.
constexpr MatchBits kSum = MatchBits{1} << 32;
constexpr MatchBits kLargest = MatchBits{2} << 32;
constexpr MatchBits kNumber = 0xffffffff;
constexpr MatchBits kAllBits = ~MatchBits{0};
constexpr MatchBits kAnswerBits = 1000;  // match bits of an answer: this plus the request's number

static void need(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.sentence().c_str());
  std::exit(1);
}

// Rows for requests of at most kRowBytes: their memory, a table over it, and the independent block that fills them in
// turn.
template <std::size_t Rows>
struct Buffers {
  std::array<std::byte, Rows * kRowBytes> memory;
  std::array<IndependentBuffer, Rows> table;
  IndependentBlock block{table, Progression::circular};  // a released row is used again

  std::byte* row(std::size_t i) { return memory.data() + i * kRowBytes; }
};

class Server {
 public:
  explicit Server(Program& program) : program_(program) {
    for (std::size_t i = 0; i < kSumRows; ++i) sum_.table[i].memory = Region(sum_.row(i), kRowBytes);
    for (std::size_t i = 0; i < kPatronRows; ++i) patron_.table[i].memory = Region(patron_.row(i), kRowBytes);
    make_entries();
    need_right_memory();
    program.name(patron_entry_, "patron");
    program.name(sum_entry_, "sum");
    program.name(largest_entry_, "largest");
    program.name(overflow_entry_, "overflow");
    program.name(kRequests, "requests");
    /* BLANK 5: attach the list to the portal of requests */
    /* END 5 */
  }
  ~Server() { program_.table().detach(kRequests); }

  void serve() {
    serve_rows(patron_.block);
    serve_rows(sum_.block);
    serve_rows(largest_.block);
    in_heap_ = heap_.queued();
    serves_heap_ = true;
    /* BLANK 6: answer all messages in the heap, and release each */
    /* END 6 */
    serves_heap_ = false;
    in_heap_ = 0;
  }

 private:
  void make_entries() {
    /* BLANK 2: the entry "patron": any request of rank kPatron; its links for no room and too small */
    patron_entry_.set({}, patron_.block, {});
    /* END 2 */
    list_.append(patron_entry_);

    sum_entry_.set({.match_bits = kSum, .ignore_bits = kNumber}, sum_.block, {});
    list_.append(sum_entry_);

    /* BLANK 3: the memory of each row of "largest", and its entry: that kind, with any number */
    largest_entry_.set({}, largest_.block, {});
    /* END 3 */
    list_.append(largest_entry_);

    /* BLANK 4: the entry "overflow": every message that no entry above took, header and body, into the heap; append it
     * to the list */
    /* END 4 */
  }

  // Answers the requests in the filled rows, and releases the rows.
  template <class Block>
  void serve_rows(Block& block) {
    for (std::size_t row = 0; row < block.table().size(); ++row) {
      const IndependentBuffer& buffer = block.table()[row];
      if (buffer.state != IndependentBuffer::State::filled) continue;
      answer(buffer.header, buffer.memory.single().base, buffer.bytes);
      block.release(row);
    }
  }

  void answer(const Header& header, const std::byte* body, std::uint64_t bytes) {
    if (serves_heap_ && in_heap_ == 0) {
      need(
          Status::error("BLANK 6: more answers than the heap has messages: the same message is answered again and "
                        "again; release() takes one that was answered off the queue"));
    }
    if (heap_.queued() < in_heap_) {
      need(Status::error("BLANK 6: a message was released before it was answered: its memory belongs to others then"));
    }
    if (in_heap_ > 0) --in_heap_;
    std::vector<int> values(bytes);
    std::transform(body, body + bytes, values.begin(), [](std::byte value) { return static_cast<int>(value); });
    const MatchBits kind = header.match_bits & ~kNumber;
    int result = kind == kSum ? std::accumulate(values.begin(), values.end(), 0)
                              : *std::max_element(values.begin(), values.end());
    /* BLANK 7: put the result to the rank that asked, where the header awaits it */
    static_cast<void>(result);
    /* END 7 */
  }

  // Reports mistakes that would otherwise show as wrong answers, or not at all.
  void need_right_memory() const {
    if (heap_.heap_bytes() != kHeapBytes) {
      need(Status::error("BLANK 1: the heap has " + std::to_string(heap_.heap_bytes()) + " bytes, it should have " +
                         std::to_string(kHeapBytes) + " (kHeapBytes)"));
    }
    for (std::size_t i = 0; i < kLargestRows; ++i) {
      const Buffer row = largest_.table[i].memory.single();
      if (row.bytes != 0 && row.bytes != kRowBytes) {
        need(Status::error("BLANK 3: row " + std::to_string(i) + " of \"largest\" has " + std::to_string(row.bytes) +
                           " bytes, it should have " + std::to_string(kRowBytes) + " (kRowBytes)"));
      }
      need_own_memory(i, row, largest_.table.data(), i, "");
      need_own_memory(i, row, sum_.table.data(), kSumRows, " of \"sum\"");
      need_own_memory(i, row, patron_.table.data(), kPatronRows, " of \"patron\"");
    }
  }
  // Compares row i of "largest" with the first `rows` rows of a table.
  static void need_own_memory(std::size_t i, Buffer row, const IndependentBuffer* table, std::size_t rows,
                              const char* whose) {
    for (std::size_t k = 0; k < rows; ++k) {
      const Buffer other = table[k].memory.single();
      if (row.bytes == 0 || row.base >= other.base + other.bytes || other.base >= row.base + row.bytes) continue;
      need(Status::error("BLANK 3: row " + std::to_string(i) + " of \"largest\" lies where row " + std::to_string(k) +
                         whose + " lies: each needs memory of its own"));
    }
  }

  Program& program_;
  std::uint64_t in_heap_ = 0;  // messages in the heap that serve() has not answered yet
  bool serves_heap_ = false;   // serve() is at BLANK 6
  Buffers<kPatronRows> patron_;
  Buffers<kSumRows> sum_;
  Buffers<kLargestRows> largest_;
  /* BLANK 1: a heap of kHeapBytes, and a dynamic block heap_ in it */
  DynamicBlock heap_{Buffer{}};
  /* END 1 */
  MatchEntry patron_entry_, sum_entry_, largest_entry_, overflow_entry_;
  MatchList list_;  // declared after its entries and their blocks, so destroyed before them
};

// The clients. Do not change what follows.

static int value(std::size_t request, std::size_t i) {
  return static_cast<int>((request * 37 + i * 11 + kSeed) % 101);
}

class Client {
 public:
  explicit Client(Program& program) : program_(program) {
    need(program.table().attach(awaits_at(), answers_, {}));
    program.name(awaits_at(), "answers");
  }
  ~Client() { program_.table().detach(awaits_at()); }

  void ask_all(int round) {
    for (std::size_t i = 0; i < kRequestClientCount; ++i) {
      if (!mine(i, round)) continue;
      std::vector<std::byte> body(static_cast<std::size_t>(kRequestBytes[i]));
      for (std::size_t k = 0; k < body.size(); ++k) body[k] = static_cast<std::byte>(value(i, k));
      const MatchBits kind = kRequestKind[i] == 1 ? kSum : kLargest;
      need(program_.put({.destination = 0,
                         .portal = kRequests,
                         .match_bits = kind | (i + 1),
                         .return_portal = awaits_at(),
                         .return_match_bits = kAnswerBits + i + 1},
                        Region(body.data(), body.size())));
    }
  }
  // Whether all answers that arrived are right. The check finds missing ones in the trace.
  bool all_right(int round) {
    bool right = true;
    for (std::size_t i = 0; i < kRequestClientCount; ++i) {
      ArrivedMessage* const came = mine(i, round) ? answers_.find({.match_bits = kAnswerBits + i + 1}) : nullptr;
      if (came == nullptr) continue;
      int result = -1, wanted = 0;
      const bool is_int = came->body.bytes == sizeof(result);
      if (is_int) std::memcpy(&result, came->body.base, sizeof(result));
      for (std::size_t k = 0; k < static_cast<std::size_t>(kRequestBytes[i]); ++k) {
        wanted = kRequestKind[i] == 1 ? wanted + value(i, k) : std::max(wanted, value(i, k));
      }
      if (!is_int) {
        std::fprintf(stderr, "client %u: request %zu: the answer has a length of %zu, and an int one of %zu\n",
                     program_.rank(), i + 1, came->body.bytes, sizeof(result));
      } else if (result != wanted) {
        std::fprintf(stderr, "client %u: request %zu: the answer is %d, it should be %d\n", program_.rank(), i + 1,
                     result, wanted);
      }
      right = right && is_int && result == wanted;
      answers_.release(*came);
    }
    return right;
  }

 private:
  [[nodiscard]] PortalIndex awaits_at() const { return static_cast<PortalIndex>(kAnswers + program_.rank()); }
  [[nodiscard]] bool mine(std::size_t i, int round) const {
    return kRequestRound[i] == round && static_cast<Rank>(kRequestClient[i]) == program_.rank();
  }

  Program& program_;
  alignas(64) std::array<std::byte, 16384> memory_;
  DynamicBlock answers_{Buffer{memory_.data(), memory_.size()}};
};

int main() {
  std::unique_ptr<Program> program;
  need(Program::start(program));
  if (program->size() != 4) need(Status::error("this lab takes four ranks: margay run -n 4 ./program"));
  bool right = true;
  const auto server = program->rank() == 0 ? std::make_unique<Server>(*program) : nullptr;
  const auto client = program->rank() == 0 ? nullptr : std::make_unique<Client>(*program);
  for (int round = 1; round <= 2; ++round) {
    need(program->barrier());  // all portals are attached
    if (client) client->ask_all(round);
    need(program->settle());  // the server is busy; its kernel has deposited or dropped all requests
    if (server) server->serve();
    need(program->settle());  // all answers have arrived
    if (client && !client->all_right(round)) right = false;
  }
  need(program->finish());
  return right ? 0 : 1;
}
