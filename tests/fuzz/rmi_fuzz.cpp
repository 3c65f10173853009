// A libFuzzer target for requests and replies of RMI as a node gets them from another. The input's first byte chooses:
// a whole request, a reply, or a method whose packed arguments are the rest, behind a valid head, because no fuzzer
// guesses a checksum. For any bytes there is no read outside of them, no leak, and no exception but `error`. Corpus:
// tests/fuzz/rmi_corpus.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <typeinfo>
#include <variant>
#include <vector>

#include "margay/rmi/execute.hpp"
#include "margay/rmi/request.hpp"
#include "portals/base/assert.hpp"

namespace margay::rmi::fuzz {

// A class with each kind of member, which contains itself.
struct Node {
  Node() = default;
  Node(Node&& other) noexcept { *this = std::move(other); }
  Node& operator=(Node&& other) noexcept {
    std::swap(name, other.name);
    std::swap(count, other.count);
    std::swap(values, other.values);
    std::swap(next, other.next);
    return *this;
  }
  ~Node() { delete[] values; }
  void define_type(typer& type) {
    type.local(name, count, next);
    type.dynamic(values, count);
  }

  std::string name;
  std::uint16_t count = 0;
  std::string* values = nullptr;
  std::unique_ptr<Node> next;
};

// Each method reads its arguments and returns a result made from them.
struct Target {
  std::size_t numbers(bool flag, char letter, long number) {
    return flag ? static_cast<std::size_t>(number) : static_cast<std::size_t>(letter);
  }
  std::vector<double> views(std::span<const double> values, std::string_view text) {
    return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), text.size()))};
  }
  std::string names(const std::map<std::string, std::optional<std::vector<std::string>>>& names) {
    return names.empty() ? "" : names.begin()->first;
  }
  Node nodes(std::vector<Node>&& nodes) { return nodes.empty() ? Node() : std::move(nodes.back()); }
  std::size_t choices(
      const std::vector<std::variant<bool, std::string, std::tuple<char, std::vector<bool>>>>& choices) {
    return choices.empty() ? 0 : choices.front().index();
  }
};

class Sink final : public ReplySink {
 public:
  std::span<std::byte> reserve(std::size_t least) override {
    room_.resize(least / 8 + 1);
    return std::as_writable_bytes(std::span(room_));
  }
  void commit(std::size_t used) override { used_ = used; }
  [[nodiscard]] std::span<const std::byte> reply() const { return std::as_bytes(std::span(room_)).first(used_); }

 private:
  std::vector<std::uint64_t> room_;
  std::size_t used_ = 0;
};

void run(std::span<const std::byte> bytes) {
  Target target;
  Sink sink;
  Failure failure;
  const auto find = [&](std::uint32_t id) { return core::ObjectEntry{id == 0 ? &target : nullptr, &typeid(Target)}; };
  const bool done = execute(RequestView::parse(bytes), find, &sink, failure);
  // The answer is a valid reply to the caller.
  if (!sink.reply().empty()) MARGAY_ASSERT((static_cast<unsigned char>(sink.reply()[0]) == 1) == done);
}

// A request for `Method` with these packed arguments and a valid head.
template <class Method>
void run_method(Method /*method*/, std::span<const std::byte> arguments) {
  const std::size_t before = kRequestHeadBytes + 8;
  const std::size_t bytes = round_up(before + arguments.size(), kPackedAlignment);
  const std::unique_ptr<std::uint64_t[]> words(new std::uint64_t[bytes / 8]());
  auto* at = reinterpret_cast<std::byte*>(words.get());
  if (!arguments.empty()) std::memcpy(at + before, arguments.data(), arguments.size());
  detail::write_head(at, Registration<Functor<Target, Method>>::entry().hash(), 0, bytes,
                     bytes - before - arguments.size(), kReplyWanted, std::array<std::uint64_t, 1>{7});
  run({at, bytes});
}

}  // namespace margay::rmi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay::rmi;
  using fuzz::Target;
  if (bytes == 0) return 0;
  const std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(data) + 1, bytes - 1);
  const std::unique_ptr<std::uint64_t[]> words(new std::uint64_t[rest.size() / 8 + 1]());
  if (!rest.empty()) std::memcpy(words.get(), rest.data(), rest.size());
  const std::span<const std::byte> aligned(reinterpret_cast<const std::byte*>(words.get()), rest.size());
  try {
    switch (data[0] % 7) {
      case 0:
        fuzz::run(aligned);
        break;
      case 1:
        static_cast<void>(read_reply<std::vector<std::string>>(aligned, 0));
        break;
      case 2:
        fuzz::run_method(method<&Target::numbers>, rest);
        break;
      case 3:
        fuzz::run_method(method<&Target::views>, rest);
        break;
      case 4:
        fuzz::run_method(method<&Target::names>, rest);
        break;
      case 5:
        fuzz::run_method(method<&Target::nodes>, rest);
        break;
      default:
        fuzz::run_method(method<&Target::choices>, rest);
    }
  } catch (const error&) {
  }
  return 0;
}
