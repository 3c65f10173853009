// C++ in several ranks: global objects with memory of their own, thread-local and function-local ones, exceptions in
// flight while other ranks run, the format of a stream, exit handlers.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Named {
  explicit Named(std::string given) : name(std::move(given)) { std::cout << "begin " << name << '\n'; }
  ~Named() { std::cout << "end " << name << " of " << std::getenv("RANK") << '\n'; }
  std::string name;
};

std::vector<int> numbers = {1, 2, 3};
std::map<std::string, int> counts;
Named global("a global object with a long name");
thread_local Named of_thread("thread-local");
const std::unique_ptr<std::string> heap = std::make_unique<std::string>("heap");

Named& local() {
  static Named object("local");
  return object;
}

void wait() {
  usleep(1000);
}

// The exception being handled is the rank's own after others have thrown theirs.
void throw_and_rethrow(int rank) {
  try {
    try {
      throw std::runtime_error("of rank " + std::to_string(rank));
    } catch (...) {
      for (int round = 0; round < rank % 4 + 1; ++round) wait();
      std::cout << "uncaught " << std::uncaught_exceptions() << '\n';
      throw;
    }
  } catch (const std::exception& error) {
    wait();
    std::cout << error.what() << ' ' << (std::current_exception() != nullptr) << '\n';
  }
}

}  // namespace

int main() {
  const int rank = std::atoi(std::getenv("RANK"));
  std::atexit([] { std::puts("handler 1"); });
  std::cout << std::setfill('.') << (rank == 1 ? std::hex : std::dec) << std::showbase;
  for (int round = 0; round < 3; ++round) {
    numbers.push_back(100 * rank + round);
    counts["round " + std::to_string(round)] += rank;
    *heap += std::to_string(rank);
    if (rank > 0) of_thread.name += '+';
    if (rank > 0) local().name += '*';
    wait();
    for (const int number : numbers) std::cout << std::setw(6) << number;
    std::cout << "  " << counts.size() << ' ' << *heap << std::endl;
  }
  throw_and_rethrow(rank);
  std::atexit([] { std::exit(std::atoi(std::getenv("RANK"))); });
  std::atexit([] { wait(), std::printf("handler 2\n"); });
  if (rank == 1) std::exit(9);
  return rank;
}
