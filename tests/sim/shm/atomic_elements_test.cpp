// Tests of the atomic updates of one element: every width and class of type, by four threads at once, with exact sums.
#include "sim/shm/atomic_elements.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <thread>
#include <vector>

#include "tests/support/seeds.hpp"

namespace margay::sim {
namespace {

constexpr std::uint32_t kElementThreads = 4;
constexpr std::size_t kElements = 3;  // adjacent; each thread updates them in turn

// Enough for the threads to run concurrently, though an update takes a nanosecond.
const std::uint64_t kElementTimes = testing::of_threads(500'000);

// Each thread calls `once(element, iteration)` that many times, concurrently.
template <typename T, typename Once>
void update_together(std::array<T, kElements>& elements, Once once) {
  std::vector<std::thread> threads;
  std::atomic<std::uint32_t> here = 0;
  for (std::uint32_t me = 0; me < kElementThreads; ++me) {
    threads.emplace_back([&, me] {
      for (++here; here.load() < kElementThreads;) std::this_thread::yield();
      for (std::uint64_t time = 0; time < kElementTimes; ++time) once(&elements[time % kElements], time, me);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The number of updates of an element by all threads.
std::uint64_t element_times(std::size_t element) {
  return kElementThreads * ((kElementTimes + kElements - 1 - element) / kElements);
}

template <typename T>
void sums_of_integers() {
  CAPTURE(sizeof(T));
  CAPTURE(std::is_signed_v<T>);
  std::array<T, kElements> elements{};
  std::array<T, kElements> looped{};
  update_together(elements, [](T* at, std::uint64_t, std::uint32_t) { fetch_add(at, T{3}); });
  update_together(looped, [](T* at, std::uint64_t, std::uint32_t) {
    fetch_update(at, [](T value) { return static_cast<T>(value + T{3}); });
  });
  for (std::size_t i = 0; i < kElements; ++i) {
    CHECK_EQ(elements[i], static_cast<T>(3 * element_times(i)));
    CHECK_EQ(looped[i], static_cast<T>(3 * element_times(i)));
  }
  // Each thread has a bit of its own, which it sets, flips and clears; no other thread changes it.
  std::array<T, kElements> bits{};
  std::atomic<std::uint32_t> wrong = 0;
  update_together(bits, [&](T* at, std::uint64_t, std::uint32_t me) {
    const T bit = static_cast<T>(T{1} << me);
    if ((fetch_or(at, bit) & bit) != 0) ++wrong;
    if ((fetch_xor(at, bit) & bit) == 0) ++wrong;
    if ((fetch_xor(at, bit) & bit) != 0) ++wrong;
    if ((fetch_and(at, static_cast<T>(~bit)) & bit) == 0) ++wrong;
  });
  CHECK_EQ(wrong.load(), 0);
  CHECK(bits == std::array<T, kElements>{});
  // By compare-and-swap, as a program does it.
  std::array<T, kElements> swapped{};
  update_together(swapped, [](T* at, std::uint64_t, std::uint32_t) {
    for (T seen = load_element(at);;) {
      const T found = compare_and_swap(at, seen, static_cast<T>(seen + 1));
      if (found == seen) break;
      seen = found;
    }
  });
  for (std::size_t i = 0; i < kElements; ++i) CHECK_EQ(swapped[i], static_cast<T>(element_times(i)));
}

template <typename T>
void sums_of_numbers() {
  std::array<T, kElements> elements{};
  update_together(elements,
                  [](T* at, std::uint64_t, std::uint32_t) { fetch_update(at, [](T value) { return value + T{1}; }); });
  for (std::size_t i = 0; i < kElements; ++i) {
    CHECK(elements[i] == T(static_cast<float>(element_times(i))));  // small enough to be exact
  }
}

struct alignas(8) FloatInt {
  float value;
  std::int32_t at;
};
static_assert(AtomicElement<FloatInt> && AtomicElement<std::complex<float>> && !AtomicElement<std::complex<double>>);
static_assert(!AtomicElement<long double> && !AtomicInteger<float> && !AtomicInteger<bool>);

}  // namespace

TEST_CASE("atomic elements: integers of every width") {
  sums_of_integers<std::int8_t>();
  sums_of_integers<std::uint8_t>();
  sums_of_integers<std::int16_t>();
  sums_of_integers<std::uint16_t>();
  sums_of_integers<std::int32_t>();
  sums_of_integers<std::uint32_t>();
  sums_of_integers<std::int64_t>();
  sums_of_integers<std::uint64_t>();
}

TEST_CASE("atomic elements: real and complex numbers, and pairs") {
  sums_of_numbers<float>();
  sums_of_numbers<double>();
  sums_of_numbers<std::complex<float>>();
  // The largest value and its first owner, as MPI_MAXLOC; the halves of a pair always belong together.
  std::array<FloatInt, kElements> pairs{};
  std::atomic<std::uint32_t> wrong = 0;
  update_together(pairs, [&](FloatInt* at, std::uint64_t time, std::uint32_t me) {
    const FloatInt mine{static_cast<float>(time * kElementThreads + me),
                        static_cast<std::int32_t>(time * kElementThreads + me)};
    const FloatInt was = fetch_update(at, [&](FloatInt seen) { return seen.value < mine.value ? mine : seen; });
    if (was.value != static_cast<float>(was.at)) ++wrong;
  });
  CHECK_EQ(wrong.load(), 0);
  const auto last = static_cast<std::int32_t>(kElementTimes * kElementThreads - 1);
  CHECK_EQ(pairs[(kElementTimes - 1) % kElements].at, last);
  CHECK_EQ(pairs[(kElementTimes - 1) % kElements].value, static_cast<float>(last));
}

TEST_CASE("atomic elements: each value swapped in is swapped out once") {
  std::array<std::uint32_t, kElements> elements{};
  std::vector<std::atomic<std::uint8_t>> seen(kElementTimes * kElementThreads + 1);
  update_together(elements, [&](std::uint32_t* at, std::uint64_t time, std::uint32_t me) {
    ++seen[swap_element(at, static_cast<std::uint32_t>(time * kElementThreads + me + 1))];
  });
  for (const std::uint32_t left : elements) ++seen[left];
  std::uint64_t wrong = 0;
  for (std::size_t i = 1; i < seen.size(); ++i) wrong += seen[i].load() == 1 ? 0 : 1;
  CHECK_EQ(wrong, 0);
  CHECK_EQ(seen[0].load(), kElements);
}

TEST_CASE("atomic elements: data written before a stored element is visible with it") {
  const std::uint64_t rounds = kElementTimes / 20;
  std::uint64_t element = 0;  // plain, so the thread sanitizer detects a missing order
  std::uint8_t flag = 0;
  std::uint64_t wrong = 0;
  std::thread other([&] {
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      while (load_element(&flag) != 1) std::this_thread::yield();
      if (element != round) ++wrong;
      ++element;
      store_element(&flag, std::uint8_t{0});
    }
  });
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    if (element != (round == 1 ? 0 : round)) ++wrong;
    element = round;
    store_element(&flag, std::uint8_t{1});
    while (load_element(&flag) != 0) std::this_thread::yield();
  }
  other.join();
  CHECK_EQ(wrong, 0);
}

TEST_CASE("atomic elements: bits are compared, and neighbours do not change") {
  std::array<float, 3> floats{1.0F, -0.0F, 2.0F};
  CHECK(std::signbit(compare_and_swap(&floats[1], 0.0F, 5.0F)));  // -0 is not 0
  CHECK(std::signbit(floats[1]));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  store_element(&floats[1], nan);
  CHECK(std::isnan(compare_and_swap(&floats[1], nan, 7.0F)));
  CHECK(floats == std::array<float, 3>{1.0F, 7.0F, 2.0F});
  std::array<std::int8_t, 4> bytes{1, 127, 3, 4};
  CHECK_EQ(fetch_add(&bytes[1], std::int8_t{1}), 127);  // wraps
  CHECK(bytes == std::array<std::int8_t, 4>{1, -128, 3, 4});
}

TEST_CASE("atomic elements: width and alignment determine whether an element is atomic") {
  alignas(16) std::array<std::byte, 32> memory{};
  for (std::size_t offset = 0; offset < 16; ++offset) {
    for (const std::size_t width : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 12U, 16U, 32U}) {
      const bool is = (width == 1 || width == 2 || width == 4 || width == 8) && offset % width == 0;
      CHECK_EQ(is_atomic_element(&memory[offset], width), is);
    }
  }
}

}  // namespace margay::sim
