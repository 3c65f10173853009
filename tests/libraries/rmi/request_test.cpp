// Tests of requests: sizes, each kind of method and parameter, replies, failures, and requests that are refused.
#include "margay/rmi/request.hpp"
#include "margay/rmi/execute.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <locale>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/libraries/rmi/packed.hpp"

namespace margay::rmi::test {

// A class as in a program. In a named namespace, because classes in unnamed ones of two files could share names.
class Counter {
 public:
  virtual ~Counter() = default;
  void add(int x) { total_ += x; }
  void add_two(int x, int y) noexcept { total_ += x * y; }
  void add_both(int x, std::int8_t y, double z) { total_ += x + y + static_cast<long>(z); }
  [[nodiscard]] long total() const { return total_; }
  virtual long scaled(long by) { return total_ * by; }
  long& reference() { return total_; }
  long* pointer() { return &total_; }
  void clear() & { total_ = 0; }
  void take(std::unique_ptr<int> value) { total_ = *value; }
  std::string&& forward(std::string&& text) { return std::move(text); }
  void fails(const std::string& why) { throw std::runtime_error(why); }
  void fails_oddly() { throw 5; }
  std::string join(const std::vector<std::string>& parts, std::string_view between) {
    std::string all;
    for (const std::string& part : parts) (all += part) += between;
    return all;
  }
  double sum(std::span<const double> values) {
    aligned_ = reinterpret_cast<std::uintptr_t>(values.data()) % alignof(double) == 0;
    double sum = 0;
    for (const double one : values) sum += one;
    return sum;
  }
  std::size_t letters(std::span<const std::string> words, std::span<const long double> numbers) {
    std::size_t letters = numbers.size();
    for (const std::string& one : words) letters += one.size();
    return letters;
  }
  [[nodiscard]] bool aligned() const { return aligned_; }

 private:
  long total_ = 0;
  bool aligned_ = false;
};
class Doubling final : public Counter {
 public:
  long scaled(long by) override { return 2 * Counter::scaled(by); }
};
inline void add_outside(Counter& counter, int x) {
  counter.add(x);
}

namespace {

// A reply that grows on request.
class Sink final : public ReplySink {
 public:
  std::span<std::byte> reserve(std::size_t least) override {
    room_ = AlignedBytes(least);
    return room_.all();
  }
  void commit(std::size_t used) override { used_ = used; }
  [[nodiscard]] std::span<const std::byte> bytes() { return room_.all().first(used_); }

 private:
  AlignedBytes room_{0};
  std::size_t used_ = 0;
};

// A destination: a buffer, and one object of type T with id 3.
template <class T>
class Node {
 public:
  T object;

  std::span<std::byte> reserve(std::size_t least) {
    if (buffer_.all().size() - used_ < least) {
      AlignedBytes larger(used_ + least);
      std::copy_n(buffer_.all().begin(), used_, larger.all().begin());
      buffer_ = std::move(larger);
    }
    return buffer_.all().subspan(used_);
  }
  void commit(std::size_t used) { used_ += used; }

  // Executes requests up to the first that fails; returns their number.
  int run() {
    int executed = 0;
    std::span<const std::byte> rest = buffer_.all().first(used_);
    used_ = 0;
    while (!rest.empty()) {
      const RequestView request = RequestView::parse(rest);
      const auto find = [&](std::uint32_t id) {
        return id == 3 ? core::ObjectEntry{&object, &typeid(T)} : core::ObjectEntry{};
      };
      if (!execute(request, find, &sink, failure)) return executed;
      ++executed;
      rest = rest.subspan(request.bytes());
    }
    return executed;
  }
  template <class Result, class Method, class... Argument>
  Result call(Method method, Argument&&... argument) {
    post_call<T>(*this, Envelope{.object = 3}, method, std::forward<Argument>(argument)...);
    run();
    return read_reply<Result>(sink.bytes(), 8);
  }

  Sink sink;
  Failure failure;

 private:
  AlignedBytes buffer_{64};
  std::size_t used_ = 0;
};

constexpr Envelope kTo{.object = 3};

TEST_CASE("rmi request: a pointer to member and an int are 32 bytes, as in the paper") {
  AlignedBytes room(256);
  CHECK(write_request<Counter>(room.all(), kTo, &Counter::add, 1).bytes == 32);
  CHECK(write_request<Counter>(room.all(), kTo, &Counter::add_two, 1, 2).bytes == 32);
  CHECK(write_request<Counter>(room.all(), kTo, method<&Counter::add_two>, 1, 2).bytes == 24);
  CHECK(write_request<Counter>(room.all(), kTo, method<&Counter::clear>).bytes == 16);
  CHECK(write_call<Counter>(room.all(), kTo, &Counter::total).bytes == 32);
  int by = 3;
  CHECK(write_request<Counter>(
            room.all(), kTo, [by](Counter& of, int x) { of.add(x * by); }, 1)
            .bytes == 24);
}

TEST_CASE("rmi request: each kind of method is executed") {
  Node<Counter> node;
  post<Counter>(node, kTo, &Counter::add, 1);
  post<Counter>(node, kTo, method<&Counter::add>, 10);
  post<Counter>(node, kTo, method<add_outside>, 100);
  post<Counter>(
      node, kTo, [](Counter& counter, int x) { counter.add(x); }, 1000);
  int times = 2;
  post<Counter>(
      node, kTo, [times](Counter& counter, int x) { counter.add(times * x); }, 5000);
  post<Counter>(node, kTo, &Counter::add_two, 2, 50000);
  post<Counter>(node, kTo, &Counter::add_both, 600000, 300000 % 100, 400000.9);
  CHECK(node.run() == 7);
  CHECK(node.object.total() == 1111111);
  post<Counter>(node, kTo, &Counter::clear);
  CHECK(node.run() == 1);
  CHECK(node.object.total() == 0);
}

TEST_CASE("rmi request: methods of a base class, virtual and not, on an object of a derived one") {
  Node<Doubling> node;
  node.object.add(5);
  CHECK(node.call<long>(&Counter::scaled, 10) == 100);
  CHECK(node.call<long>(&Doubling::scaled, 10) == 100);
  CHECK(node.call<long>(&Counter::total) == 5);
  CHECK(node.call<long>(method<&Counter::scaled>, 1) == 10);
}

TEST_CASE("rmi request: results travel by value, also those that a method returns by reference") {
  Node<Counter> node;
  node.object.add(6);
  CHECK(node.call<long>(&Counter::reference) == 6);
  CHECK(node.call<std::string>(&Counter::forward, "text") == "text");
  node.call<void>(&Counter::add, 1);
  CHECK(node.call<long>([](const Counter& counter) { return counter.total(); }) == 7);
  // A method whose result cannot travel may be called if the result is not requested.
  post<Counter>(node, kTo, &Counter::pointer);
  CHECK(node.run() == 1);
}

TEST_CASE("rmi request: a method of another library travels with the library's id") {
  Node<std::locale> node;
  CHECK(post<std::locale>(node, kTo, &std::locale::name) == 32);
  CHECK(node.run() == 1);
  CHECK(node.call<std::string>(&std::locale::name) == std::locale().name());
}

TEST_CASE("rmi request: threads write and execute at once, each on its own object") {
  const auto work = [] {
    Node<Doubling> node;
    Node<std::locale> elsewhere;
    for (int i = 0; i < 1000; ++i) {
      post<Doubling>(node, kTo, &Counter::add, 1);
      post<Doubling>(node, kTo, &Counter::scaled, 1);
      if (node.run() != 2) break;
    }
    post<std::locale>(elsewhere, kTo, &std::locale::name);
    return node.object.total() + elsewhere.run();
  };
  std::array<long, 3> totals{};
  std::vector<std::thread> threads;
  for (long& total : totals) threads.emplace_back([&total, &work] { total = work(); });
  for (std::thread& one : threads) one.join();
  for (const long total : totals) CHECK(total == 1001);
}

TEST_CASE("rmi request: strings, vectors and views larger than the first room are passed") {
  Node<Counter> node;
  const std::vector<std::string> parts(100, "part");
  CHECK(node.call<std::string>(&Counter::join, parts, ", ").size() == 600);
  CHECK(node.call<std::string>(&Counter::join, std::vector<std::string>{"a"}, std::string("-")) == "a-");
  CHECK(node.call<double>(&Counter::sum, std::vector<double>(1000, 0.5)) == 500);
  CHECK(node.object.aligned());
  const double few[] = {1, 2};
  CHECK(node.call<double>(&Counter::sum, few) == 3);
  CHECK(node.call<double>(&Counter::sum, std::span<const double>()) == 0);
  CHECK(node.call<std::size_t>(&Counter::letters, parts, std::vector<long double>(3)) == 403);
}

TEST_CASE("rmi request: a value that can only be moved is moved from the caller") {
  Node<Counter> node;
  auto value = std::make_unique<int>(9);
  post<Counter>(node, kTo, &Counter::take, std::move(value));
  CHECK(value == nullptr);
  CHECK(node.run() == 1);
  CHECK(node.object.total() == 9);
}

TEST_CASE("rmi request: the envelope arrives") {
  AlignedBytes room(64);
  const Envelope to{.object = 77, .atomic = false, .call = 0x123456789ABCDEF0U};
  REQUIRE(write_call<Counter>(room.all(), to, &Counter::add, 1).fits);
  const RequestView request = RequestView::parse(room.all());
  CHECK(request.object() == 77);
  CHECK(request.call() == 0x123456789ABCDEF0U);
  CHECK(request.wants_reply());
  CHECK_FALSE(request.atomic());
  CHECK(request.bytes() == 40);
  CHECK(request.arguments().size() == 4);
}

TEST_CASE("rmi request: an exception of a method becomes a failure, and is thrown at a waiting caller") {
  Node<Counter> node;
  post<Counter>(node, kTo, method<&Counter::fails>, "out of bounds");
  CHECK(node.run() == 0);
  CHECK(node.failure.what == "out of bounds");
  CHECK(node.failure.method.find("margay::rmi::test::Counter::fails") == 0);

  std::string text;
  try {
    node.call<void>(&Counter::fails, "again");
  } catch (const remote_error& thrown) {
    CHECK(thrown.node() == 8);
    CHECK(thrown.reason() == "again");
    text = thrown.what();
  }
  CHECK(text.find("margay::rmi: ") == std::string::npos);
  CHECK(text.find("node 8: void (margay::rmi::test::Counter::*)(") == 0);
  CHECK_THROWS_AS(node.call<void>(&Counter::fails_oddly), remote_error);
  CHECK(node.failure.what == "an exception that does not derive from std::exception");
  CHECK_THROWS_AS(node.call<void>(&Counter::fails, std::string(100000, 'x')), remote_error);
  CHECK(node.failure.what.size() == kFailureTextMax);
}

TEST_CASE("rmi request: unknown objects and objects of another class are refused by name") {
  Node<Counter> node;
  post<Counter>(node, Envelope{.object = 4}, &Counter::add, 1);
  CHECK(node.run() == 0);
  CHECK(node.failure.what == "margay::rmi: object 4 is not registered on this node: never created here");
  post<Doubling>(node, kTo, &Counter::add, 1);
  CHECK(node.run() == 0);
  CHECK(node.failure.what ==
        "margay::rmi: object 3 is a margay::rmi::test::Counter, the request is for a margay::rmi::test::Doubling");
}

TEST_CASE("rmi request: a functor that this program does not have is refused") {
  AlignedBytes room(32);
  detail::write_head(room.all().data(), 1, 3, 16, 0, 0, std::array<std::uint64_t, 0>());
  Failure failure;
  CHECK_FALSE(execute(
      RequestView::parse(room.all()), [](std::uint32_t) { return core::ObjectEntry(); }, nullptr, failure));
  CHECK(failure.what.find("its functor is unknown here") != std::string::npos);
  CHECK(failure.method == "an unknown method");
}

TEST_CASE("rmi request: flags that no sender writes are damage, although the checksum fits") {
  AlignedBytes room(32);
  const std::array<std::uint64_t, 1> word{};
  for (const int flags : {16, 32, 64, 128, int{kModuleWord}}) {
    CAPTURE(flags);
    detail::write_head(room.all().data(), 1, 3, 24, 0, static_cast<std::uint8_t>(flags), word);
    CHECK_THROWS_AS(static_cast<void>(RequestView::parse(room.all())), error);
  }
  detail::write_head(room.all().data(), 1, 3, 24, 0, kMethodWord, word);
  CHECK(RequestView::parse(room.all()).flags() == kMethodWord);
}

TEST_CASE("rmi request: each damaged bit before the arguments is detected") {
  AlignedBytes room(64);
  const Envelope to{.object = 3, .atomic = true, .call = 5};
  const Written written = write_call<Counter>(room.all(), to, &Counter::add, 1);
  REQUIRE(written.bytes == 40);
  for (std::size_t bit = 0; bit < 8 * 32; ++bit) {
    CAPTURE(bit);
    room[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    CHECK_THROWS_AS(static_cast<void>(RequestView::parse(room.all().first(written.bytes))), error);
    room[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
  }
  for (std::size_t bytes = 0; bytes < written.bytes; ++bytes)
    CHECK_THROWS_AS(static_cast<void>(RequestView::parse(room.all().first(bytes))), error);
  CHECK_THROWS_AS(static_cast<void>(RequestView::parse(room.all().subspan(4))), error);
  room[38] = std::byte{1};  // behind the int
  CHECK_THROWS_AS(static_cast<void>(RequestView::parse(room.all())), error);
}

TEST_CASE("rmi request: a null method is refused before anything is committed") {
  Node<Counter> node;
  void (Counter::*none)(int) = nullptr;
  CHECK_THROWS_AS(post<Counter>(node, kTo, none, 1), error);
  CHECK(node.run() == 0);
}

TEST_CASE("rmi reply: replies that are cut off, damaged or of another type are refused") {
  Node<Counter> node;
  node.call<std::string>(&Counter::forward, "a text");
  const auto reply = node.sink.bytes();
  for (std::size_t bytes = 0; bytes < reply.size(); ++bytes)
    CHECK_THROWS_AS(static_cast<void>(read_reply<std::string>(reply.first(bytes), 0)), error);
  CHECK_THROWS_AS(static_cast<void>(read_reply<double>(reply, 0)), error);
  CHECK_THROWS_AS(read_reply<void>(reply, 0), error);
}

}  // namespace
}  // namespace margay::rmi::test
