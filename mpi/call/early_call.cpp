#include "mpi/call/early_call.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "mpi_adi/object/error_class.hpp"
#include "mpi_adi/object/error_handler.hpp"
#include "mpi_adi/rank/origins.hpp"
#include "sim/base/source_lines.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi {

EarlyCall::EarlyCall(const Invocation& of) : name_(of.name), rank_(current_rank()) {
  if (rank_ == nullptr) return;
  if (is_rank_thread()) {
    call_.emplace(of, *rank_);
  } else if (noted_ = rank_->handles().origins(); noted_ != nullptr) [[unlikely]] {
    noted_->enter(name_.text, rank_->process().source_lines().behind_bindings(of.caller));
  }
}

void EarlyCall::leave() {
  if (noted_ != nullptr) [[unlikely]]
    noted_->leave();
  noted_ = nullptr;
}

void EarlyCall::error(int error_class, std::string sentence) {
  if (!ok()) return;
  if (call_) {
    call_->error(error_class, std::move(sentence));
    return;
  }
  error_class_ = error_class;
  sentence_ = std::move(sentence);
}

int EarlyCall::failed() {
  if (call_) return call_->failed();
  leave();  // a handler of the program's may not return
  if (rank_ != nullptr) return raise_outside(*rank_, name_, error_class_, sentence_);
  const char* const initial = std::getenv("MARGAY_INITIAL_ERRHANDLER");
  if (named_handler(initial != nullptr ? initial : "") == MPI_ERRORS_RETURN) return error_class_;
  std::fprintf(stderr, "margay: %s%s failed while MPI does not run: %s: %s\n", name_.text,
               sim::SourceLines().behind_call(sim::call_from_program()).c_str(),
               std::string(error_class_name(error_class_)).c_str(), sentence_.c_str());
  std::exit(1);
}

int null_argument(const Invocation& of, const char* what) {
  EarlyCall call(of);
  call.not_null(nullptr, what);
  return call.failed();
}

}  // namespace margay::mpi
