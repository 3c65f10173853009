// The function by which an algorithm combines vectors: a predefined operation's loop, or a function of the program.
#pragma once

#include <cstddef>

#include "mpi_adi/op/operation.hpp"

namespace margay::collectives {

using mpi_adi::Combine;
using mpi_adi::predefined_combine;

class UserReduction;

// A loop, or a reference to a function of the program, and whether it commutes. A value; a predefined operation costs
// one indirect call for a vector.
class Reducer {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a loop is a reducer. nullptr where there is nothing to combine.
  Reducer(Combine combine, bool commutative = true) : combine_(combine), commutative_(commutative) {}
  // A function of the program; `user` outlives the reducer.
  Reducer(const UserReduction& user, bool commutative) : user_(&user), commutative_(commutative) {}

  // Sets inout = in op inout, where `in` is the part of the lower ranks. `count` elements: whole vectors or parts of
  // them.
  void operator()(const void* in, void* inout, std::size_t count) const {
    if (user_ == nullptr) [[likely]] {
      combine_(in, inout, count);
    } else {
      call_user(in, inout, count);
    }
  }
  // Whether parts may be combined in any order. All operations are associative.
  [[nodiscard]] bool commutative() const { return commutative_; }

 private:
  // Out of line: the rare case, in which the process lock is left.
  void call_user(const void* in, void* inout, std::size_t count) const;

  // The predefined loop; null with a function of the program, or without data.
  Combine combine_ = nullptr;
  // Null for a predefined operation.
  const UserReduction* user_ = nullptr;
  bool commutative_;
};

}  // namespace margay::collectives
