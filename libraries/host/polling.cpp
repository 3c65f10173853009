// The functions of include/margay/polling.h: margay's own, for the polling of wires.
#include "margay/polling.h"

#include <climits>
#include <string>

#include "mpi/call/call.hpp"
#include "sim/machine/process.hpp"

using namespace margay::mpi;

namespace {

using margay::portals::Status;
using margay::sim::PollMode;
using margay::sim::PollSetting;

Status setting_of(int interval, PollSetting& out) {
  if (interval == MPIX_MARGAY_POLL_ADAPTIVE) {
    out = {PollMode::adaptive, 1};
    return {};
  }
  if (interval == MPIX_MARGAY_POLL_BLOCK) {
    out = {PollMode::block, 1};
    return {};
  }
  return margay::sim::parse_poll_setting(std::to_string(interval), out);
}

int end_of(Call& call, const Status& status) {
  if (!status.ok()) call.error(MPI_ERR_ARG, status.sentence());
  return call.ok() ? MPI_SUCCESS : call.failed();
}

template <typename Number>
void store(Number* out, Number value) {
  if (out != nullptr) *out = value;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int MPIX_Margay_poll_interval(const char* wire, int interval) {
  Call call(call_name<"MPIX_Margay_poll_interval">);
  call.not_null(wire, "wire");
  if (!call.ok()) return call.failed();
  PollSetting setting;
  Status status = setting_of(interval, setting);
  if (status.ok()) status = call.rank().process().kernel().set_polling(wire, setting);
  return end_of(call, status);
}

extern "C" [[gnu::visibility("default")]] int MPIX_Margay_polling(const char* wire, int on) {
  Call call(call_name<"MPIX_Margay_polling">);
  call.not_null(wire, "wire");
  if (!call.ok()) return call.failed();
  return end_of(call, call.rank().process().kernel().switch_polling(wire, on != 0));
}

extern "C" [[gnu::visibility("default")]] int MPIX_Margay_poll_counts(const char* wire, unsigned long long* polls,
                                                                      unsigned long long* hits,
                                                                      unsigned long long* wasted_ns, int* interval) {
  Call call(call_name<"MPIX_Margay_poll_counts">);
  call.not_null(wire, "wire");
  if (!call.ok()) return call.failed();
  margay::sim::PollCounts counts;
  const Status status = call.rank().process().kernel().poll_counts(wire, counts);
  // The measurement of a poll may have received messages.
  static_cast<void>(call.device().progress());
  if (status.ok()) {
    store<unsigned long long>(polls, counts.polls);
    store<unsigned long long>(hits, counts.hits);
    store<unsigned long long>(wasted_ns, counts.wasted_ns);
    store(interval, static_cast<int>(counts.interval));
  }
  return end_of(call, status);
}
