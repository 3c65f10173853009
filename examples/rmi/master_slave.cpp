// A master-slave computation (paper 004, section 5.1): "the slaves wait at the fence while the master signals the work
// to be performed via RMI". Counts the primes below a bound; the work of a block grows with its numbers, so that slaves
// get a new block when they return the last one.
//
//   margay run -n 4 master_slave [BOUND [TURNS]]
//
// Node 0 is the master; alone, it is its own slave. All the rest happens in methods: the master waits at the fence too.
#include <margay/rmi.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common.hpp"

namespace {

namespace rmi = margay::rmi;

constexpr std::size_t kBlock = 1000;

bool is_prime(std::size_t number) {
  if (number < 2) return false;
  for (std::size_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0) return false;
  return true;
}

class MasterSlave : public rmi::parallel_task {
 public:
  explicit MasterSlave(std::size_t bound) : bound_(bound) {}

  void execute() override {
    if (rmi::get_node_id() != 0) return;
    const int nodes = rmi::get_num_nodes();
    // Two blocks for each slave: one waits there while the result of the other travels.
    for (int block = 0; block < 2; ++block)
      for (int slave = nodes == 1 ? 0 : 1; slave < nodes; ++slave) send_block(slave);
  }
  // On the master.
  [[nodiscard]] std::size_t primes() const { return primes_; }

 private:
  // On the master: the next block, if there is one.
  void send_block(int slave) {
    if (next_ >= bound_) return;
    const std::size_t first = next_;
    next_ = std::min(next_ + kBlock, bound_);
    rmi::async_rmi(slave, this, rmi::method<&MasterSlave::work>, first, next_ - first);
  }
  // On a slave: counts the primes of a block.
  void work(std::size_t first, std::size_t count) {
    std::size_t found = 0;
    for (std::size_t number = first; number < first + count; ++number) found += is_prime(number) ? 1 : 0;
    rmi::async_rmi(0, this, rmi::method<&MasterSlave::take>, rmi::get_node_id(), found);
  }
  // On the master: a slave's result.
  void take(int slave, std::size_t found) {
    primes_ += found;
    send_block(slave);
  }

  const std::size_t bound_;
  std::size_t next_ = 0, primes_ = 0;
};

// The same by the sieve of Eratosthenes.
std::size_t primes_below(std::size_t bound) {
  std::vector<char> composite(bound);
  std::size_t primes = 0;
  for (std::size_t number = 2; number < bound; ++number) {
    if (composite[number] != 0) continue;
    ++primes;
    for (std::size_t multiple = number * number; multiple < bound; multiple += number) composite[multiple] = 1;
  }
  return primes;
}

int program(int argc, char** argv) {
  const std::size_t bound = example::argument(argc, argv, 1, 1000000);
  const std::size_t turns = example::argument(argc, argv, 2, 1);
  double best = 1e9;
  bool right = true;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    MasterSlave task(bound);
    rmi::rmi_fence();
    const example::Clock clock;
    rmi::execute_parallel_task(&task);
    best = std::min(best, clock.seconds());
    if (rmi::get_node_id() == 0) right = right && task.primes() == primes_below(bound);
  }
  return rmi::get_node_id() == 0 ? example::report("master_slave", rmi::get_num_nodes(), bound, best, right) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, program);
}
