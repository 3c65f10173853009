// A communication library on one portal, and a program that uses it beside MPI; page.md explains each blank. Each rank
// has a cell for each rank: cells::swap(peer, value) puts a value into this rank's cell on `peer`, and returns the
// earlier one.
//
//   margay run -n 5 --deadlock abort --trace DIR ./program
#include <mpi.h>
#include <margay/host.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <thread>

#include "variant.h"

using namespace margay;
using namespace margay::portals;

namespace cells {
namespace {

constexpr PortalIndex kPortal = 53;
constexpr MatchBits kRequest = 1, kAnswer = 2;

// The description of the library: its portal, its counters, and a sentence for each kind of its trace events.
enum Event : std::uint8_t { kAsks, kAnswers, kGets };
constexpr std::array<host::NamedPortal, 1> kPortals{{{kPortal, "requests and answers"}}};
constexpr std::array kCounters{"requests answered"};
constexpr std::array kEvents{"asks {peer} to put {detail} into its cell there", "answers {peer}: its cell had {detail}",
                             "gets {detail} from {peer}"};
constexpr host::Library kLibrary{"cells", kPortals, kCounters, kEvents};

void need(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "cells: %s\n", status.sentence().c_str());
  std::exit(1);
}

class Service {
 public:
  explicit Service(host::Rank& rank) : rank_(rank) {
    for (int i = 0; i < kRanks; ++i) cells_[i] = kCellBase * (static_cast<int>(rank.rank()) + 1) + i;
    list_.append(answers_);
    list_.append(requests_);
    need(rank_.attach(kPortal, list_));
    rank_.hold_when_no_room(kPortal);
  }
  ~Service() { rank_.detach(kPortal); }

  std::int64_t swap(Rank peer, std::int64_t value) {
    record(kAsks, peer, value);
    const std::uint64_t before = answer_.messages();  // answers that arrived until now, to any request
    /* BLANK 2: send the request, by send(peer, kRequest, value), until the wire takes it; then wait for the answer */
    static_cast<void>(before);
    /* END 2 */
    record(kGets, peer, earlier_value_);
    return earlier_value_;
  }

  // Answers the requests that have arrived. Makes no progress, so it finds only what is in the heap already. Returns
  // whether it answered any.
  bool serve() {
    bool any = false;
    for (ArrivedMessage* next = heap_.first(); next != nullptr && next->complete; next = heap_.first()) {
      const Rank peer = next->header.source.rank;
      std::int64_t& cell = cells_[peer];
      if (!send(peer, kAnswer, cell)) break;  // the wire is full: the request stays in the heap until the next call
      record(kAnswers, peer, cell);
      rank_.counter(0) += 1;
      cell = *reinterpret_cast<const std::int64_t*>(next->body.base);
      heap_.release(*next);
      any = true;
    }
    return any;
  }

  [[nodiscard]] host::Rank& rank() { return rank_; }
  [[nodiscard]] std::int64_t sum() const { return std::accumulate(cells_.begin(), cells_.end(), std::int64_t{0}); }

 private:
  // Whether the message was sent; if not, the wire is full, and a later call may succeed.
  bool send(Rank peer, MatchBits bits, std::int64_t number) {
    Header header;
    header.portal = kPortal;
    header.destination = {0, peer};
    header.match_bits = bits;
    return rank_.try_send(header, Region(&number, sizeof number));
  }
  void record(Event event, Rank peer, std::int64_t number) {
    rank_.record({.number = event, .peer = peer, .detail = static_cast<std::uint64_t>(number)});
  }

  host::Rank& rank_;
  std::array<std::int64_t, kRanks> cells_{};
  std::int64_t earlier_value_ = 0;
  SingleBlock answer_{Buffer{reinterpret_cast<std::byte*>(&earlier_value_), sizeof earlier_value_}};
  alignas(64) std::array<std::byte, 65536> memory_;
  DynamicBlock heap_{Buffer{memory_.data(), memory_.size()}};
  MatchEntry answers_{{.match_bits = kAnswer}, answer_, {.offset_by = OffsetBy::sender}};
  MatchEntry requests_{{.match_bits = kRequest}, heap_, {}};
  MatchList list_;  // declared after its entries, so destroyed before them
};

std::unique_ptr<Service> service;

// A slow disk: rank kLate needs longer than the others for its cells.
void read_cells(Rank rank) {
  if (rank == kLate) std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

}  // namespace

// Joins the job. Collective; before any other call.
void open() {
  host::Rank* joined = nullptr;
  need(host::join(kLibrary, joined));
  read_cells(joined->rank());
  const host::Call call(*joined, "cells::open");
  service = std::make_unique<Service>(*joined);  // attaches the portal of this rank
  /* BLANK 1: what must have happened before a rank may return from open() and send requests */
  /* END 1 */
}

// Puts `value` into this rank's cell on `peer`. Returns the cell's earlier value.
std::int64_t swap(int peer, std::int64_t value) {
  const host::Call call(service->rank(), "cells::swap");
  return service->swap(static_cast<Rank>(peer), value);
}

// Makes one progress round, and answers the requests that have arrived. If there are none, it sleeps for some
// milliseconds: there are more ranks than processors, and other ranks have work.
void serve() {
  bool any = false;
  {
    const host::Call call(service->rank(), "cells::serve");
    service->rank().progress();
    any = service->serve();
  }
  if (!any) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// The sum of the cells of this rank.
std::int64_t sum() {
  const host::Call call(service->rank(), "cells::sum");
  return service->sum();
}

// Leaves the job. Collective; other ranks may still ask this one, until all ranks have called close().
void close() {
  host::Rank& joined = service->rank();
  {
    const host::Call call(joined, "cells::close");
    /* BLANK 4: answer requests until all ranks have called close(); after that, nobody can ask this rank */
    /* END 4 */
    service.reset();  // detaches the portal of this rank
  }
  joined.end();
}

}  // namespace cells

// Waits in MPI until all ranks are here.
static void wait_for_all() {
  /* BLANK 3: wait for all ranks of MPI_COMM_WORLD by MPI; the others may ask this rank until they are here, too */
  /* END 3 */
}

// The program. Do not change what follows.

// All ranks but kLast ask some others at once. Then kMiddle asks kLast, which answers in wait_for_all(). But first
// kLast waits for a message of kFirst, and kFirst sends it after two answers of kMiddle.
static void ask(int rank) {
  for (int i = 0; i < kAskFromCount; ++i) {
    if (kAskFrom[i] == rank) cells::swap(kAskTo[i], kAskValue[i]);
  }
  for (int i = 0; rank == kMiddle && i < kMiddleValuesCount; ++i) cells::swap(kLast, kMiddleValues[i]);
  if (rank == kFirst) {
    for (const int value : kFirstValues) cells::swap(kMiddle, value);
    MPI_Send(nullptr, 0, MPI_BYTE, kLast, 0, MPI_COMM_WORLD);
  }
  if (rank == kLast) MPI_Recv(nullptr, 0, MPI_BYTE, kFirst, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Rank kGuest asks kHost, which is about to close the library.
static void ask_again(int rank) {
  if (rank == kHost) MPI_Send(nullptr, 0, MPI_BYTE, kGuest, 0, MPI_COMM_WORLD);
  if (rank == kGuest) {
    MPI_Recv(nullptr, 0, MPI_BYTE, kHost, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (const int value : kGuestValues) cells::swap(kHost, value);
  }
}

// `./program stuck`: page.md asks where it deadlocks.
static void stuck(int rank) {
  for (int i = 0; i < kStuckFromCount; ++i) {
    if (kStuckFrom[i] == rank) cells::swap(kStuckTo[i], i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != kRanks) {
    std::fprintf(stderr, "this lab takes %d ranks: margay run -n %d ./program\n", kRanks, kRanks);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  cells::open();
  if (argc > 1) {
    stuck(rank);
  } else {
    ask(rank);
    wait_for_all();
    std::printf("rank %d: the sum of its cells is %lld\n", rank, static_cast<long long>(cells::sum()));
    ask_again(rank);
  }
  cells::close();
  MPI_Finalize();
  return 0;
}
