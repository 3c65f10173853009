#include "collectives/mpi/note_call.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "collectives/op/names.hpp"
#include "mpi_adi/abi/handles.hpp"

namespace margay::collectives {

using mpi_adi::Call;
using mpi_adi::Communicator;

namespace {

constexpr std::int32_t kUsersOperation = -1;  // whose handles need not be the same on all

template <std::size_t N>
void write(std::array<char, N>& to, std::string_view text) {
  std::copy_n(text.data(), std::min(text.size(), N - 1), to.data());
}

// The large-count functions count as those without _c.
std::string_view function_of(const Call& call) {
  std::string_view name = call.name();
  if (name.ends_with("_c")) name.remove_suffix(2);
  return name;
}

std::string words_of(std::string_view function, const Communicator& communicator, const CollectiveCall& what) {
  std::string words(function);
  if (what.type != nullptr) {
    words += " of " + std::to_string(what.count) + " x " +
             (what.type->name.empty() ? std::string("a derived type") : what.type->name);
  }
  if (what.operation != 0) {
    words += " with " +
             (mpi_adi::is_predefined_op(what.operation) ? operation_word(what.operation) : "an operation of its own");
  }
  if (what.root >= 0) words += ", root " + std::to_string(what.root);
  return words + ", " + (communicator.name.empty() ? "a communicator without a name" : communicator.name);
}

}  // namespace

void tell_call(Call& call, const Communicator& communicator, const CollectiveCall& what) {
  if (communicator.group->session != mpi_adi::Group::kWorldModel) return;
  CallRecord record;
  record.root = what.root;
  record.operation =
      what.operation == 0 || mpi_adi::is_predefined_op(what.operation) ? what.operation : kUsersOperation;
  if (what.type != nullptr) {
    record.bytes = static_cast<std::uint64_t>(what.count) * what.type->size;
    record.signature = signature_of(*what.type->definition, record.bytes);
  }
  const std::string_view function = function_of(call);
  write(record.function, function);
  write(record.words, words_of(function, communicator, what));
  collectives_of(call).check()->begin(record, communicator);
}

void note_last_call(Call& call) {
  CallCheck* const check = collectives_of(call).check();
  if (check == nullptr) return;
  CallRecord record;
  write(record.function, call.name());
  write(record.words, call.name());
  check->finish(record, call.rank().worlds().world());
}

}  // namespace margay::collectives
