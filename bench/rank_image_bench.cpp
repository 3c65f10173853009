// A benchmark of ways to exchange the data of one simulated rank for another's, at the same addresses: copies, private
// pages moved by mremap, shared pages mapped by mmap. After each exchange the rank writes to its first pages.
// Arguments: KiB of data, ranks, touched pages (at most all). docs/simulate_design.md explains the choice that follows
// from it.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;
// Multiples of 2 MiB, where the kernel moves whole page tables; ImageLayout chooses its places to allow that too.
constexpr std::uintptr_t kLive = std::uintptr_t{32} << 40;
constexpr std::uintptr_t kPlaces = std::uintptr_t{16} << 40;
constexpr std::size_t kTable = std::size_t{2} << 20;

void require(bool holds) {
  if (!holds) std::abort();
}

// The data of all ranks; `exchange` makes the next one's visible.
class Ranks {
 public:
  explicit Ranks(const benchmark::State& state)
      : bytes_(static_cast<std::size_t>(state.range(0)) * 1024),
        count_(static_cast<std::size_t>(state.range(1))),
        touched_bytes_(std::min(bytes_, static_cast<std::size_t>(state.range(2)) * kPage)) {}

 protected:
  static constexpr int kWritable = PROT_READ | PROT_WRITE;

  [[nodiscard]] std::byte* live() const { return reinterpret_cast<std::byte*>(kLive); }
  [[nodiscard]] std::size_t next() const { return (visible_ + 1) % count_; }
  void touch() const {
    for (std::size_t at = 0; at < touched_bytes_; at += kPage) live()[at] ^= std::byte{1};
  }
  void map_at(std::byte* at, int flags, int file, std::size_t offset) const {
    require(::mmap(at, bytes_, kWritable, flags | MAP_FIXED, file, static_cast<off_t>(offset)) == at);
  }
  void move(std::byte* from, std::byte* to) const {
    require(::mremap(from, bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
  }

  std::size_t bytes_;
  std::size_t count_;
  std::size_t touched_bytes_;
  std::size_t visible_ = 0;
};

class Copies : public Ranks {
 public:
  explicit Copies(const benchmark::State& state) : Ranks(state), images_(count_, std::vector<std::byte>(bytes_)) {
    map_at(live(), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  ~Copies() { ::munmap(live(), bytes_); }
  void exchange() {
    std::memcpy(images_[visible_].data(), live(), bytes_);
    visible_ = next();
    std::memcpy(live(), images_[visible_].data(), bytes_);
    touch();
  }

 private:
  std::vector<std::vector<std::byte>> images_;
};

class Moves : public Ranks {
 public:
  explicit Moves(const benchmark::State& state) : Ranks(state), file_(::memfd_create("pristine", 0)) {
    require(::ftruncate(file_, static_cast<off_t>(bytes_)) == 0);
    for (std::size_t rank = 0; rank < count_; ++rank) map_at(place(rank), MAP_PRIVATE | MAP_NORESERVE, file_, 0);
    move(place(0), live());
  }
  ~Moves() {
    move(live(), place(visible_));
    for (std::size_t rank = 0; rank < count_; ++rank) ::munmap(place(rank), bytes_);
    ::close(file_);
  }
  void exchange() {
    move(live(), place(visible_));
    visible_ = next();
    move(place(visible_), live());
    touch();
  }

 private:
  [[nodiscard]] std::byte* place(std::size_t rank) const {
    const std::size_t distance = bytes_ < kTable ? bytes_ : (bytes_ + kTable - 1) / kTable * kTable;
    return reinterpret_cast<std::byte*>(kPlaces + rank * distance);
  }

  int file_;
};

class Mappings : public Ranks {
 public:
  explicit Mappings(const benchmark::State& state) : Ranks(state), file_(::memfd_create("ranks", 0)) {
    require(::ftruncate(file_, static_cast<off_t>(bytes_ * count_)) == 0);
  }
  ~Mappings() {
    ::munmap(live(), bytes_);
    ::close(file_);
  }
  void exchange() {
    visible_ = next();
    map_at(live(), MAP_SHARED, file_, visible_ * bytes_);
    touch();
  }

 private:
  int file_;
};

// Each rank has had its turn before the measurement, so that its pages exist.
template <typename Way>
void exchange(benchmark::State& state) {
  Way ranks(state);
  for (std::int64_t rank = 0; rank < state.range(1); ++rank) ranks.exchange();
  for (auto _ : state) ranks.exchange();
}

void sizes(benchmark::internal::Benchmark* one) {
  constexpr std::int64_t kAll = 1 << 20;
  for (const std::int64_t kib : {4, 16, 64, 256, 1024, 4096, 16384}) {
    for (const std::int64_t ranks : {16, 128, 1024}) {
      // 2 GiB of memory at most.
      if (kib * ranks > (2 << 20)) continue;
      one->Args({kib, ranks, 4})->Args({kib, ranks, kAll});
    }
  }
}

BENCHMARK(exchange<Copies>)->Apply(sizes);
BENCHMARK(exchange<Moves>)->Apply(sizes);
BENCHMARK(exchange<Mappings>)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
