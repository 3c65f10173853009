#include "command/trace/read/mapped_writers.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "tests/sim/trace_folder.hpp"

using namespace margay;
using namespace margay::command;

namespace {

constexpr std::size_t kBytes = 8192;

class TestFile {
 public:
  explicit TestFile(const std::string& path) : number_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    REQUIRE(number_ >= 0);
    REQUIRE(ftruncate(number_, kBytes) == 0);
  }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  ~TestFile() { ::close(number_); }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

TEST_CASE("a process that has a file mapped for writing is found; a reader, or a process with a private copy, is not") {
  const sim::TraceFolder folder;
  for (const char* name : {"plain.trace", "with a blank.trace", "with\nan end of line.trace"}) {
    CAPTURE(name);
    const TestFile file(folder / name);
    CHECK_FALSE(is_mapped_for_writing(file.number()));
    struct {
      int protection, flags;
      bool writes;
    } const methods[] = {{PROT_READ | PROT_WRITE, MAP_SHARED, true},
                         {PROT_READ, MAP_SHARED, false},
                         {PROT_READ | PROT_WRITE, MAP_PRIVATE, false}};
    for (const auto& method : methods) {
      void* const pages = mmap(nullptr, kBytes, method.protection, method.flags, file.number(), 0);
      REQUIRE(pages != MAP_FAILED);
      CHECK(is_mapped_for_writing(file.number()) == method.writes);
      REQUIRE(munmap(pages, kBytes) == 0);
      CHECK_FALSE(is_mapped_for_writing(file.number()));
    }
  }
}

TEST_CASE("another process that writes to a file is found; one that writes to another file is not") {
  const sim::TraceFolder folder;
  const TestFile file(folder / "b.trace");
  const TestFile other(folder / "a b.trace");
  std::array<int, 2> mapped{};
  REQUIRE(pipe(mapped.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    void* const pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
    if (pages == MAP_FAILED || write(mapped[1], "m", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char byte = 0;
  CHECK(read(mapped[0], &byte, 1) == 1);
  CHECK(is_mapped_for_writing(file.number()));
  CHECK_FALSE(is_mapped_for_writing(other.number()));
  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK_FALSE(is_mapped_for_writing(file.number()));
  ::close(mapped[0]);
  ::close(mapped[1]);
}

TEST_CASE("a lease is conclusive on this folder's file system, unless that is an overlay") {
  const TestFile memory("/dev/shm/margay_lease_" + std::to_string(getpid()));
  ::unlink(("/dev/shm/margay_lease_" + std::to_string(getpid())).c_str());
  CHECK(leases_prove(memory.number()));
  CHECK_FALSE(leases_prove(-1));
}
