// A collective call that does not block: the same text as that of one that does, which stops where the other waits, and
// goes on when what it waits for has come. Its request is completed by MPI_Wait and its kin; a persistent one is
// started again and again, each time as a call of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/portal/call_number.hpp"
#include "collectives/select/perform.hpp"
#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/request/own_request.hpp"

namespace margay::collectives {

class CallTask : public mpi_adi::OwnRequest, private mpi_adi::Task {
 public:
  using Task::By;
  ~CallTask() override;

  // It is started again and again, each time as the call that it is made as: persistent ones are matched in the order
  // in which they are made, whatever the order in which they are started (MPI 4.0, 6.13). false: see Notices::open().
  [[nodiscard]] bool be_persistent();
  // Begins a call: it takes its number, and goes as far as it can. Requires: none is under way.
  void start(mpi_adi::MpiRank& rank) override;
  [[nodiscard]] int outcome(mpi_adi::MpiRank& rank, MPI_Status* status, std::string& words) override;
  [[nodiscard]] int end(mpi_adi::MpiRank& rank, MPI_Status* status, std::string& words) override;
  // A nonblocking collective's request is neither cancelled nor freed before it is complete (MPI 4.0, 6.12): the
  // bindings refuse it.
  // Of the function that makes the request, for reports; stays.
  void name_it(const char* name) { name_ = name; }
  [[nodiscard]] int give_up(mpi_adi::MpiRank& /*rank*/, std::string& /*words*/) override { return MPI_SUCCESS; }

  [[nodiscard]] mpi_adi::FramePool& frames() const { return portal_.frames(); }

 protected:
  // Holds a reference to the communicator. `by`: whether it calls functions of the program's.
  CallTask(mpi_adi::MpiRank& rank, mpi_adi::Communicator& of, By by);
  [[nodiscard]] mpi_adi::MpiRank& rank() const { return rank_; }
  // Holds a reference to a datatype that the program may free meanwhile.
  void keep(mpi_adi::Datatype& type);

 private:
  // A call begins: the program's data is as it is to be sent. Its messages ended well: the result goes where the
  // program wants it. MPI_SUCCESS, or what the call comes to all the same.
  virtual void prepare() {}
  [[nodiscard]] virtual int finish() { return MPI_SUCCESS; }
  // Why, if it is neither that calls differ nor a lost process.
  [[nodiscard]] virtual std::string words_of(int /*error_class*/) const { return {}; }
  [[nodiscard]] virtual Plan plan(const StandingFacts& standing) const = 0;
  [[nodiscard]] virtual Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) = 0;

  [[nodiscard]] Steps whole_text();
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] bool go_on() override;
  void over() override;

  mpi_adi::MpiRank& rank_;
  TreePortal& portal_;
  Flow flow_;
  OrderedCall place_;
  std::optional<Channel> channel_;  // of a persistent one
  std::vector<mpi_adi::Datatype*> types_;
  std::optional<Collective> collective_;
  const char* name_ = "";
  bool begun_ = false;
  int error_ = MPI_SUCCESS;
  Steps text_;
};

// Of an operation of select/perform whose data lies where the program has it.
template <typename What>
class PlainCallTask : public CallTask {
 public:
  PlainCallTask(mpi_adi::MpiRank& rank, mpi_adi::Communicator& of, By by = By::anybody) : CallTask(rank, of, by) {}

 private:
  [[nodiscard]] Plan plan(const StandingFacts& standing) const override { return plan_of(what_, standing); }
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) override {
    return text_of(what_, collective, standing, algorithm);
  }

 protected:
  What what_;
};

}  // namespace margay::collectives
