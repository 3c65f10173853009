// The arithmetic of MPI_Dims_create: the most even of all products of d factors.
#include <algorithm>
#include <cstddef>

#include "mpi_adi/object/topology.hpp"

namespace margay::mpi_adi {

namespace {

// Finds divisors in pairs, up to the square root.
std::vector<int> divisors_of(int number) {
  std::vector<int> divisors;
  for (int i = 1; i <= number / i; ++i) {
    if (number % i != 0) continue;
    divisors.push_back(i);
    if (i != number / i) divisors.push_back(number / i);
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

// The search for a list of factors in non-increasing order whose greatest and least factor are closest together. Among
// several such lists, it chooses the one with the greatest last factor, then the one with the greatest factor before
// the last, and so on, as MPICH does.
class Search {
 public:
  Search(int nodes, std::size_t count) : divisors_(divisors_of(nodes)), now_(count) { assign(0, nodes, nodes); }
  [[nodiscard]] const std::vector<int>& best() const { return best_; }

 private:
  // Chooses factor `at` and the factors behind it. Their product is `rest`, and none is greater than `limit`.
  void assign(std::size_t at, int rest, int limit) {
    if (at + 1 == now_.size()) {
      if (rest > limit) return;
      now_[at] = rest;
      if (best_.empty() || better()) best_ = now_;
      return;
    }
    const auto after = static_cast<int>(now_.size() - at);
    for (const int divisor : divisors_) {
      if (divisor > limit) break;
      if (rest % divisor != 0 || !reaches(divisor, rest, after)) continue;
      // No later divisor can give a better list: the least factor is at most the even share of the remainder, so a
      // greater first factor only increases the distance.
      if (at == 0 && !best_.empty() && divisor - even_share(divisor, rest, after) > best_.front() - best_.back()) break;
      now_[at] = divisor;
      assign(at + 1, rest / divisor, divisor);
    }
  }
  // Whether `count` factors of at most `divisor` can have the product `rest`.
  static bool reaches(int divisor, int rest, int count) {
    std::int64_t product = 1;
    for (int i = 0; i < count && product < rest; ++i) product *= divisor;
    return product >= rest;
  }
  // An upper bound of the least of `count` factors of `rest`, one of which is `divisor`.
  static int even_share(int divisor, int rest, int count) {
    int share = 1;
    while (share < divisor && reaches_from_below(share + 1, rest / divisor, count - 1)) ++share;
    return share;
  }
  static bool reaches_from_below(int share, int rest, int count) {
    std::int64_t product = 1;
    for (int i = 0; i < count && product <= rest; ++i) product *= share;
    return product <= rest;
  }
  [[nodiscard]] bool better() const {
    const int spread = now_.front() - now_.back(), least = best_.front() - best_.back();
    if (spread != least) return spread < least;
    // Compares from the last factor on, which is the least.
    return std::lexicographical_compare(best_.rbegin(), best_.rend(), now_.rbegin(), now_.rend());
  }

  std::vector<int> divisors_;
  std::vector<int> now_, best_;
};

}  // namespace

bool balance_dims(int nodes, std::span<int> dims) {
  std::size_t open = 0;
  int rest = nodes;
  for (const int dim : dims) {
    if (dim == 0) {
      ++open;
    } else if (rest % dim != 0) {
      return false;
    } else {
      rest /= dim;
    }
  }
  if (open == 0) return true;
  const Search search(rest, open);
  auto factor = search.best().begin();
  for (int& dim : dims) {
    if (dim == 0) dim = *factor++;
  }
  return true;
}

}  // namespace margay::mpi_adi
