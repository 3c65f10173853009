// Tests of PeerHeap: memory of another rank, mapped from the description that this rank sent. Both ranks see each
// other's writes, the mapping outlives its owner, and the description is not trusted.
#include "sim/machine/peer_heap.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>

#include "sim/base/limits.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "tests/sim/heap_pieces.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

constexpr std::uint64_t kSmallBytes = 3 * kHeapPage + 100;
constexpr std::uint64_t kHugeBytes = 2 * kHugeMinBytes;

// The memory that the two processes of a test share beside the heap.
struct HeapExchange {
  RankArea area;
  HeapAddress small;
  HeapAddress huge;
};

HeapExchange& make_exchange() {
  void* const base = ::mmap(nullptr, sizeof(HeapExchange), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(base != MAP_FAILED);
  return *static_cast<HeapExchange*>(base);
}

void allocate_and_publish(SharedHeap& heap, HeapExchange& exchange, std::byte*& small, std::byte*& huge) {
  void* got[2] = {};
  if (!heap.allocate(kSmallBytes, got[0]).ok() || !heap.allocate(kHugeBytes, got[1]).ok()) ::abort();
  small = static_cast<std::byte*>(got[0]);
  huge = static_cast<std::byte*>(got[1]);
  exchange.small = heap.find(small, kSmallBytes).value();
  exchange.huge = heap.find(huge, kHugeBytes).value();
  exchange.area.pid = static_cast<std::uint32_t>(::getpid());
  heap.publish(exchange.area);
}

// The owner of a heap, a child process. It first sends "there". Then it answers each message with the contents of the
// pieces' ends, until the pipe is closed.
class HeapOwner {
 public:
  HeapOwner() : exchange_(make_exchange()) {
    int in[2];
    int out[2];
    REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::close(in[1]);
      live(exchange_, in[0], out[1]);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
    REQUIRE(heard() == 'r');
  }
  ~HeapOwner() {
    end();
    ::close(to_);
    ::close(from_);
    ::munmap(&exchange_, sizeof exchange_);
  }
  HeapOwner(const HeapOwner&) = delete;
  HeapOwner& operator=(const HeapOwner&) = delete;
  void end() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  // The owner's value of the last byte of its small piece; the owner then writes 'o' to the first byte of both.
  char ask() {
    REQUIRE(::write(to_, "?", 1) == 1);
    return heard();
  }
  [[nodiscard]] HeapExchange& exchange() const { return exchange_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  [[noreturn]] static void live(HeapExchange& exchange, int in, int out) {
    SharedHeap heap;
    std::byte* small = nullptr;
    std::byte* huge = nullptr;
    allocate_and_publish(heap, exchange, small, huge);
    char word = 'r';
    while (::write(out, &word, 1) == 1 && ::read(in, &word, 1) == 1) {
      word = static_cast<char>(small[kSmallBytes - 1]);
      small[0] = huge[0] = std::byte{'o'};
    }
    ::_exit(0);
  }
  char heard() const {
    char word = 0;
    REQUIRE(::read(from_, &word, 1) == 1);
    return word;
  }

  HeapExchange& exchange_;
  pid_t pid_ = 0;
  int to_ = -1;
  int from_ = -1;
};

std::byte* mapped_place(PeerHeap& peer, const HeapAddress& place) {
  std::byte* at = nullptr;
  const portals::Status status = peer.map(place, at);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  return at;
}

TEST_CASE("peer heap: two processes see each other's writes") {
  HeapOwner owner;
  PeerHeap peer;
  const portals::Status status = PeerHeap::open(owner.exchange().area, peer);
  REQUIRE_MESSAGE(status.ok(), status.sentence());
  std::byte* const small = mapped_place(peer, owner.exchange().small);
  std::byte* const huge = mapped_place(peer, owner.exchange().huge);
  CHECK(reinterpret_cast<std::uintptr_t>(huge) % kHugePageBytes == 0);
  small[kSmallBytes - 1] = std::byte{'p'};
  CHECK(owner.ask() == 'p');
  CHECK(small[0] == std::byte{'o'});
  CHECK(huge[0] == std::byte{'o'});
}

TEST_CASE("peer heap: an address is where its arena is mapped, in repeated calls too") {
  HeapOwner owner;
  PeerHeap peer;
  REQUIRE(PeerHeap::open(owner.exchange().area, peer).ok());
  const HeapAddress whole = owner.exchange().small;
  std::byte* const at = mapped_place(peer, whole);
  CHECK(mapped_place(peer, {whole.offset + 10, kSmallBytes - 20}) == at + 10);
  CHECK(mapped_place(peer, {whole.offset + kHeapPage, 1}) == at + kHeapPage);
  CHECK(mapped_place(peer, owner.exchange().huge) - at ==
        static_cast<std::ptrdiff_t>(owner.exchange().huge.offset - whole.offset));
  CHECK(peer.mapped() == 1);
  PeerHeap moved = std::move(peer);
  CHECK(moved.mapped() == 1);
  CHECK(mapped_place(moved, whole) == at);
  CHECK(!peer.is_open());
}

TEST_CASE("peer heap: memory of a dead owner remains accessible, mapped before or not") {
  HeapOwner owner;
  PeerHeap peer;
  REQUIRE(PeerHeap::open(owner.exchange().area, peer).ok());
  std::byte* const small = mapped_place(peer, owner.exchange().small);
  owner.ask();
  const RankArea area = owner.exchange().area;
  owner.end();
  CHECK(small[0] == std::byte{'o'});
  small[1] = std::byte{1};
  CHECK(mapped_place(peer, owner.exchange().huge)[0] == std::byte{'o'});
  PeerHeap late;
  const std::string sentence = PeerHeap::open(area, late).sentence();
  CHECK(sentence.find("cannot be mapped: /proc/") != std::string::npos);
  CHECK(!late.is_open());
}

TEST_CASE("peer heap: writes of a child of fork() do not reach the owner") {
  HeapOwner owner;
  PeerHeap peer;
  REQUIRE(PeerHeap::open(owner.exchange().area, peer).ok());
  std::byte* const small = mapped_place(peer, owner.exchange().small);
  small[kSmallBytes - 1] = std::byte{'p'};
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const bool seen = small[kSmallBytes - 1] == std::byte{'p'};
    small[kSmallBytes - 1] = std::byte{'c'};
    std::byte* at = nullptr;
    const bool refused = !peer.map(owner.exchange().huge, at).ok() && at == nullptr;
    ::_exit(seen && refused && small[kSmallBytes - 1] == std::byte{'c'} ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(owner.ask() == 'p');
}

TEST_CASE("peer heap: a place outside the file is rejected") {
  HeapOwner owner;
  PeerHeap peer;
  REQUIRE(PeerHeap::open(owner.exchange().area, peer).ok());
  const std::uint64_t end = owner.exchange().area.heap_bytes;
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  for (const HeapAddress& place : {HeapAddress{end, 1}, HeapAddress{end - 1, 2}, HeapAddress{0, end + 1},
                                   HeapAddress{kMost, 1}, HeapAddress{kMost, kMost}, HeapAddress{kHeapPage, kMost},
                                   HeapAddress{kHeapPage, kMost - kHeapPage + 1}, HeapAddress{kHeapPage, 0}}) {
    CAPTURE(place.offset);
    CAPTURE(place.bytes);
    std::byte* at = nullptr;
    const portals::Status status = peer.map(place, at);
    CHECK(at == nullptr);
    CHECK(status.sentence().find("which has " + std::to_string(end)) != std::string::npos);
  }
  CHECK(peer.mapped() == 0);
  mapped_place(peer, {end - 1, 1});
}

// An owner, played by this process, with a false description of its heap.
struct SaidHeap {
  RankArea area{};
  explicit SaidHeap(int descriptor) {
    struct stat about {};
    REQUIRE(::fstat(descriptor, &about) == 0);
    area.pid = static_cast<std::uint32_t>(::getpid());
    area.heap_descriptor = static_cast<std::uint32_t>(descriptor) + 1;
    area.heap_bytes = static_cast<std::uint64_t>(about.st_size);
    area.heap_file = about.st_ino;
  }
  [[nodiscard]] std::string sentence() const {
    PeerHeap peer;
    const portals::Status status = PeerHeap::open(area, peer);
    CHECK(peer.is_open() == status.ok());
    return status.sentence();
  }
};

// The bytes of this process's mapped addresses.
std::uint64_t address_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * kHeapPage;
}

// This process is the owner, too: that costs no memory, but addresses.
struct OwnHeap {
  SharedHeap heap;
  SaidHeap said = [this] {
    piece(heap, 1);
    return SaidHeap(heap.descriptor());
  }();
  [[nodiscard]] PeerHeap open() const {
    PeerHeap peer;
    REQUIRE(PeerHeap::open(said.area, peer).ok());
    return peer;
  }
  HeapAddress place(std::uint64_t bytes) {
    const std::span<std::byte> got = piece(heap, bytes);
    return heap.find(got.data(), bytes).value();
  }
};

TEST_CASE("peer heap: ranges do not grow with the number of places") {
  OwnHeap own;
  PeerHeap peer = own.open();
  for (int i = 0; i < 5000; ++i) mapped_place(peer, own.place(64))[0] = std::byte{1};
  CHECK(peer.mapped() == 1);
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < 400 && bytes < own.heap.arena_bytes() / 4; ++i, bytes += 8 * kMiB) {
    const HeapAddress place = own.place(7 * kMiB + i);
    std::byte* const at = mapped_place(peer, place);
    at[place.bytes - 1] = std::byte{2};
    REQUIRE(peer.mapped() <= 2 + std::bit_width(bytes / kPeerRangeBytes));
  }
}

TEST_CASE("peer heap: if addresses are scarce a place's own pages are mapped") {
  if (testing::kSanitized) return;  // a sanitizer has more addresses than this for itself
  OwnHeap own;
  const HeapAddress place = own.place(kSmallBytes);
  const HeapAddress other = own.place(20 * kMiB);
  PeerHeap peer = own.open();
  CHECK(in_child([&] {
    // A child of fork() cannot map through its parent's PeerHeap, so it opens one of its own.
    PeerHeap here;
    if (!PeerHeap::open(own.said.area, here).ok()) return false;
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = address_bytes() + 5 * kMiB;
    ::setrlimit(RLIMIT_AS, &limit);
    std::byte* at = nullptr;
    if (!here.map(place, at).ok()) return false;
    at[0] = std::byte{1};
    return !here.map(other, at).ok() && at == nullptr && here.map(place, at).ok() && at[0] == std::byte{1};
  }));
}

TEST_CASE("peer heap: the owner's description is checked") {
  HeapExchange& exchange = make_exchange();
  SharedHeap heap;
  RankArea none;
  heap.publish(none);
  PeerHeap peer;
  CHECK(PeerHeap::open(none, peer).sentence().find("announced none") != std::string::npos);
  std::byte* small = nullptr;
  std::byte* huge = nullptr;
  allocate_and_publish(heap, exchange, small, huge);
  SaidHeap said(heap.descriptor());
  CHECK(said.area.heap_bytes == exchange.area.heap_bytes);
  CHECK(said.area.heap_file == exchange.area.heap_file);
  CHECK(said.area.heap_descriptor == exchange.area.heap_descriptor);
  CHECK(said.sentence() == "");
  SUBCASE("another size") {
    said.area.heap_bytes += kHeapPage;
    CHECK(said.sentence().find("and not " + std::to_string(said.area.heap_bytes)) != std::string::npos);
  }
  SUBCASE("another file") {
    said.area.heap_file += 1;
    CHECK(said.sentence().find("another process") != std::string::npos);
  }
  SUBCASE("an invalid descriptor") {
    said.area.heap_descriptor = ~std::uint32_t{0};
    CHECK(said.sentence().find("No such file") != std::string::npos);
  }
  SUBCASE("a nonexistent process") {
    said.area.pid = ~std::uint32_t{0};
    CHECK(said.sentence().find("No such file") != std::string::npos);
  }
  ::munmap(&exchange, sizeof exchange);
}

TEST_CASE("peer heap: a descriptor that is not a sealed memfd is rejected, without blocking") {
  int descriptor = -1;
  int ends[2] = {-1, -1};
  const char* expected = "not sealed";
  SUBCASE("a file") {
    descriptor = ::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  }
  SUBCASE("a memfd without seals") {
    descriptor = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  }
  SUBCASE("a memfd that may still grow") {
    descriptor = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  }
  SUBCASE("a pipe") {
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    descriptor = ends[0];
    expected = "not a memory file";
  }
  REQUIRE(descriptor >= 0);
  const SaidHeap said(descriptor);
  CHECK(said.sentence().find(expected) != std::string::npos);
  ::close(descriptor);
  if (ends[1] >= 0) ::close(ends[1]);
}

}  // namespace
}  // namespace margay::sim::test
