// NX on one mailer of class L: the messages that have arrived, and the receives that wait for one.
//
// Every letter is taken out of the mailer in the order of arrival, because NX selects by masks of types, which class L
// cannot. A letter goes to the earliest posted receive that accepts it, otherwise into the queue.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "margay/zipcode_nx.h"

namespace margay::zipcode::core {

// What a receive or a probe accepts. See zipcode_nx.h for `typesel`; node and ptype: -1 for any.
struct NxSelection {
  long typesel = -1;
  long node = -1;
  long ptype = -1;
};

// The message of the info calls.
struct NxInfo {
  long type = 0, count = 0, node = 0, ptype = 0;
};

// A mask of types may be written as for a long of 32 bits: 0x80000001 is a negative number there.
[[nodiscard]] NxSelection selection_of(long typesel, long node = -1, long ptype = -1);
[[nodiscard]] bool accepts(const NxSelection& selection, long type, long node);
// Empty, or the error of a selection.
[[nodiscard]] std::string selection_error(const NxSelection& selection, long nodes);
// Empty, or the error of a type that is sent.
[[nodiscard]] std::string type_error(long type);

// The handler of a send or receive; one of both, or none.
struct NxHandler {
  zip_nx_handler* plain = nullptr;
  zip_nx_xhandler* extended = nullptr;
  long parameter = 0;
};

// Functions return an empty string, or an error. They must not be called inside a handler's call of the same function,
// except as NX allows it: a handler may call any.
class NxState {
 public:
  // Requires: `mailer` is open, also in all calls.
  explicit NxState(ZIP_MAILER* mailer);
  ~NxState();
  NxState(const NxState&) = delete;
  NxState& operator=(const NxState&) = delete;

  [[nodiscard]] long nodes() const { return static_cast<long>(names_.size()); }
  [[nodiscard]] long me() const { return me_; }
  [[nodiscard]] ZIP_MAILER* mailer() const { return mailer_; }

  [[nodiscard]] std::string send(long type, const void* data, long count, long node, long ptype);
  // Posts a receive; `mid` is its message id. `info` may be nullptr.
  [[nodiscard]] std::string post(const NxSelection& selection, void* data, long count, long* info,
                                 const NxHandler& handler, long& mid);
  // A message id of something that is complete.
  [[nodiscard]] long complete_id(const NxInfo& info);
  // Waits for a message id, and frees it. `info`: of its message, if it was a receive.
  [[nodiscard]] std::string wait(long mid, NxInfo& info, bool& is_receive);
  [[nodiscard]] std::string test(long mid, bool& is_done, NxInfo& info, bool& is_receive);
  [[nodiscard]] std::string ignore(long mid);
  [[nodiscard]] std::string cancel(long mid);
  [[nodiscard]] std::string merge(long one, long other, long& merged);
  // Finds a message that has arrived; waits for it if `is_blocked`.
  [[nodiscard]] std::string probe(const NxSelection& selection, bool is_blocked, bool& is_there, NxInfo& info);

  // Takes what has arrived, and runs the handlers that are due, unless they are masked.
  void poll();
  void complete_handler(const NxHandler& handler, const NxInfo& info);
  bool mask(bool is_masked);

 private:
  struct Arrived {
    char* letter = nullptr;
    NxInfo info;
  };
  struct Operation {
    NxSelection selection;
    char* data = nullptr;
    long count = 0;
    long* info_out = nullptr;
    NxHandler handler;
    bool is_receive = true, is_done = false, is_ignored = false;
    NxInfo info;
    std::string error;
    std::vector<long> merged;  // the ids that this one stands for
  };
  struct Due {
    NxHandler handler;
    NxInfo info;
  };

  // Takes one letter; waits for it if `is_blocked`. False: there is none.
  bool take(bool is_blocked);
  void deliver(Operation& operation, const Arrived& message);
  // Frees the id of a message that the program will not ask for.
  void end_if_unasked(long mid);
  void run_due();
  [[nodiscard]] std::string find(long mid, Operation*& out);
  [[nodiscard]] bool is_done(const Operation& operation) const;
  void free_id(long mid, NxInfo& info, bool& is_receive, std::string& error);

  ZIP_MAILER* const mailer_;
  long me_ = 0;
  std::vector<Zip_process> names_;
  std::deque<Arrived> queue_;
  std::map<long, Operation> operations_;  // in the order of posting
  std::deque<Due> due_;
  long next_id_ = 1;
  bool is_masked_ = false, is_running_ = false;
};

}  // namespace margay::zipcode::core
