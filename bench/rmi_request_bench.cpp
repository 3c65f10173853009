// A benchmark of writing and executing requests of RMI, without a wire: the time that the front adds to each request of
// a stream. The counter `ns` is the time of one request in the best batch, which a busy machine disturbs least; `bytes`
// is a request's size.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "margay/rmi/execute.hpp"
#include "margay/rmi/request.hpp"

namespace {

using namespace margay::rmi;

// The methods are not inlined, as those of a program in another file.
struct Counter {
  std::uint64_t total = 0;
  virtual ~Counter() = default;
  [[gnu::noinline]] void add(int x) { total += static_cast<unsigned>(x); }
  [[gnu::noinline]] void add_two(int x, int y) { total += static_cast<unsigned>(x + y); }
  [[gnu::noinline]] virtual void add_virtual(int x) { total += static_cast<unsigned>(x); }
  [[gnu::noinline]] void add_text(const std::string& text) { total += text.size(); }
  [[gnu::noinline]] void add_view(std::span<const int> values) { total += values.size(); }
};

constexpr int kBatch = 128;  // requests in a buffer; the paper's best aggregation factor (7.1)

// An aggregation buffer, as core::Writer has it.
class Buffer {
 public:
  std::span<std::byte> reserve(std::size_t least) {
    if (bytes_.size() * 8 - used_ < least) std::abort();
    return std::as_writable_bytes(std::span(bytes_)).subspan(used_);
  }
  void commit(std::size_t used) { used_ += used; }
  void clear() { used_ = 0; }
  [[nodiscard]] std::span<const std::byte> used() const { return std::as_bytes(std::span(bytes_)).first(used_); }

 private:
  std::vector<std::uint64_t> bytes_ = std::vector<std::uint64_t>(4096);
  std::size_t used_ = 0;
};

Counter counter;
[[gnu::noinline]] core::ObjectEntry find_object(std::uint32_t id) {
  return id == 1 ? core::ObjectEntry{&counter, &typeid(Counter)} : core::ObjectEntry{};
}

template <class Batch>
void best_of(benchmark::State& state, const Buffer& buffer, const Batch& batch) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (auto one : state) {
    static_cast<void>(one);
    const auto begin = Clock::now();
    batch();
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kBatch);
  }
  state.counters["ns"] = best;
  state.counters["bytes"] = static_cast<double>(buffer.used().size()) / kBatch;
}

template <class Method, class... Argument>
void write(benchmark::State& state, Method method, Argument... argument) {
  Buffer buffer;
  best_of(state, buffer, [&] {
    buffer.clear();
    for (int i = 0; i < kBatch; ++i) {
      benchmark::DoNotOptimize(i);
      post<Counter>(buffer, Envelope{.object = 1}, method, argument...);
    }
    benchmark::ClobberMemory();
  });
}

template <class Method, class... Argument>
void run(benchmark::State& state, Method method, Argument... argument) {
  Buffer buffer;
  for (int i = 0; i < kBatch; ++i) post<Counter>(buffer, Envelope{.object = 1}, method, argument...);
  Failure failure;
  best_of(state, buffer, [&] {
    for (std::span<const std::byte> rest = buffer.used(); !rest.empty();) {
      const RequestView request = RequestView::parse(rest);
      if (!execute(request, find_object, nullptr, failure)) std::abort();
      rest = rest.subspan(request.bytes());
    }
  });
}

template <class Method, class... Argument>
void both(const std::string& name, Method method, Argument... argument) {
  benchmark::RegisterBenchmark(("write/" + name).c_str(), [=](auto& state) { write(state, method, argument...); });
  benchmark::RegisterBenchmark(("execute/" + name).c_str(), [=](auto& state) { run(state, method, argument...); });
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  both("pointer_int", &Counter::add, 1);
  both("pointer_two_ints", &Counter::add_two, 1, 2);
  both("named_two_ints", method<&Counter::add_two>, 1, 2);
  both(
      "lambda_int", [](Counter& of, int x) { of.add(x); }, 1);
  both("virtual_int", &Counter::add_virtual, 1);
  both("text_of_10", &Counter::add_text, std::string("ten bytes!"));
  both("span_of_16", &Counter::add_view, std::vector<int>(16));
  benchmark::RunSpecifiedBenchmarks();
}
