// The rows of levels: posted receives, unexpected messages, requests, the heap. Some reads walk the posted receives or
// the queued messages, so that the path of a message has no counter to maintain.
#include <array>

#include "mpi/tool/variable/performance.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/unexpected.hpp"

namespace margay::mpi {

namespace {

constexpr int kUser = MPI_T_VERBOSITY_USER_BASIC;
constexpr int kUserDetail = MPI_T_VERBOSITY_USER_DETAIL;
constexpr int kTunerDetail = MPI_T_VERBOSITY_TUNER_DETAIL;

Device& device_of(const Reading& reading) {
  return reading.rank->device();
}

// Counts point-to-point and collective receives, on one communicator or, for an unbound variable, on all.
void posted_receives(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = device_of(reading).posted_receives(reading.communicator);
}

void unexpected_messages(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = device_of(reading).heap().queued();
}

// Unexpected messages that MPI_Recv or MPI_Probe on the communicator could find.
void unexpected_of_communicator(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  // A walk over the heap: it has no index by communicator.
  constexpr portals::MatchBits kContextMask = ((portals::MatchBits{1} << kContextBits) - 1) << kContextShift;
  const portals::MatchBits context = portals::MatchBits{reading.communicator->context} << kContextShift;
  const Unexpected& heap = device_of(reading).heap();
  Word queued = 0;
  for (const portals::ArrivedMessage* at = heap.first(); at != nullptr; at = heap.next(*at)) {
    if ((at->header.match_bits & kContextMask) == context) ++queued;
  }
  out[0] = queued;
}

void requests_under_way(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = device_of(reading).requests_under_way();
}

void sends_in_use(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = device_of(reading).sends_in_use();
}

void receives_in_use(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = device_of(reading).receives_in_use();
}

void heap_used(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = device_of(reading).heap().used_bytes();
}

void heap_size(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = device_of(reading).heap().size_bytes();
}

// The used share of the heaps' bytes, in millionths.
void heap_share(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  constexpr Word kMillionths = 1'000'000;
  const Unexpected& heap = device_of(reading).heap();
  out[0] = heap.used_bytes() * kMillionths / heap.size_bytes();
}

void heap_high_water(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = device_of(reading).heap().high_water_bytes();
}

// 1 while the second heap takes the messages.
void heap_in_use(const Reading& reading, std::uint32_t /*which*/, std::span<Word> out) {
  out[0] = device_of(reading).heap().spilling() ? 1 : 0;
}

struct Text {
  const char* name;
  const char* description;
};

// Rows of any class; per_communicator() and as_share() modify them.
constexpr PerformanceVariable row(const Text& text, Category category, int verbosity, int var_class, ReadWords read) {
  return {text.name, text.description, category, verbosity, var_class, ValueType::count, read};
}

constexpr PerformanceVariable per_communicator(PerformanceVariable row) {
  row.of_communicator = true;
  return row;
}

constexpr PerformanceVariable as_share(PerformanceVariable row) {
  row.type = ValueType::share;
  return row;
}

constexpr int kLevel = MPI_T_PVAR_CLASS_LEVEL;

}  // namespace

std::span<const PerformanceVariable> queue_variables() {
  using enum Category;
  static const std::array kRows{
      row({"posted_receives", "receives that wait for their message"}, queues, kUser, kLevel, &posted_receives),
      row({"unexpected_messages", "messages that wait for their receive"}, queues, kUser, kLevel, &unexpected_messages),
      per_communicator(row({"comm_posted_receives", "receives on the communicator that wait for their message"}, queues,
                           kUserDetail, kLevel, &posted_receives)),
      per_communicator(row({"comm_unexpected_messages", "messages on the communicator that wait for their receive"},
                           queues, kUserDetail, kLevel, &unexpected_of_communicator)),
      row({"requests_under_way", "requests that are not complete"}, queues, kUser, kLevel, &requests_under_way),
      row({"send_requests", "send requests that the program has not freed, or that are not complete"}, queues,
          kTunerDetail, kLevel, &sends_in_use),
      row({"receive_requests", "receive requests that the program has not freed, or that are not complete"}, queues,
          kTunerDetail, kLevel, &receives_in_use),
      row({"heap_used", "bytes that unexpected messages take, bookkeeping included"}, heap, kUser, kLevel, &heap_used),
      row({"heap_size", "bytes of the heaps that are open"}, heap, kUserDetail, MPI_T_PVAR_CLASS_SIZE, &heap_size),
      as_share(row({"heap_share", "part of the heaps that is taken"}, heap, kUserDetail, MPI_T_PVAR_CLASS_PERCENTAGE,
                   &heap_share)),
      row({"heap_high_water", "most bytes that unexpected messages took since MPI_Init"}, heap, kUser,
          MPI_T_PVAR_CLASS_HIGHWATERMARK, &heap_high_water),
      PerformanceVariable{.name = "heap_in_use",
                          .description = "where unexpected messages go: the first heap, or the second, opened when an "
                                         "answer waited behind messages that the first held back",
                          .category = heap,
                          .verbosity = kTunerDetail,
                          .var_class = MPI_T_PVAR_CLASS_STATE,
                          .type = ValueType::integer,
                          .read = &heap_in_use,
                          .items = &heaps_in_use()},
  };
  return kRows;
}

}  // namespace margay::mpi
