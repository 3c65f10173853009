#include "mpi/tool/variable/control.hpp"
#include "mpi_adi/device/match_bits.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "mpi_adi/device/unexpected.hpp"
#include "mpi_adi/rank/device_options.hpp"
#include "sim/base/limits.hpp"
#include "sim/kernel/waiter.hpp"
#include "sim/machine/process.hpp"
#include "sim/shm/cell_data.hpp"
#include "sim/wire/shm/long_method.hpp"
#include "sim/wire/shm/shm_layout.hpp"
#include "sim/wire/tcp/tcp_frame.hpp"

namespace margay::mpi {

namespace {

using sim::WireId;

int allowed(bool valid) {
  return valid ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

// --- Protocols ---

template <WireId Wire>
Word read_short_limit(const Settings& settings) {
  // The rank's value may have been written since it began.
  if (settings.rank != nullptr) return settings.rank->device().short_limit(Wire);
  return short_limit_of(settings.device, Wire);
}

// A short message must fit into its receiver's empty heap; all ranks have heaps of one size.
int check_short_limit(const Settings& settings, Word bytes) {
  return allowed(bytes >= 1 && bytes <= sim::short_limit_max(heap_bytes_of(settings.device)));
}

// Messages to this rank itself follow the limit of shared memory.
void write_short_limit_shm(MpiRank& rank, Word bytes) {
  rank.device().set_short_limit(WireId::self, bytes);
  rank.device().set_short_limit(WireId::shm, bytes);
}

void write_short_limit_tcp(MpiRank& rank, Word bytes) {
  rank.device().set_short_limit(WireId::tcp, bytes);
}

Word read_long_protocol(const Settings& settings) {
  return static_cast<Word>(settings.device.long_protocol);
}

int check_long_protocol(const Settings& /*settings*/, Word value) {
  return allowed(has_item(long_protocols(), static_cast<int>(value)));
}

// The sender alone chooses the protocol, for each message.
void write_long_protocol(MpiRank& rank, Word value) {
  rank.device().set_long_protocol(static_cast<DeviceOptions::LongProtocol>(value));
}

// --- The heap ---

Word read_heap_bytes(const Settings& settings) {
  return heap_bytes_of(settings.device);
}

Word read_heap_spill_bytes(const Settings& settings) {
  return settings.rank == nullptr ? 0 : settings.rank->device().heap().spill_bytes();
}

// --- Wires ---

Word read_long_method(const Settings& settings) {
  sim::LongMethod method = sim::LongMethod::automatic;
  // An invalid option leaves `automatic`; MPI_Init rejects it.
  static_cast<void>(sim::parse_long_method(settings.options.item("method", "long"), method));
  return static_cast<Word>(method);
}

// The option as given: `auto` has a value of its own.
Word read_tcp_backend(const Settings& settings) {
  const std::string asked = settings.options.text("wire_tcp", "auto");
  const auto value = asked == "epoll"   ? TcpBackendAsked::epoll
                     : asked == "uring" ? TcpBackendAsked::uring
                                        : TcpBackendAsked::automatic;
  return static_cast<Word>(value);
}

std::string read_interface(const Settings& settings) {
  return settings.options.text("iface");
}

std::string read_skip_poll(const Settings& settings) {
  if (settings.rank == nullptr) return settings.options.text("skip_poll");
  return settings.rank->process().kernel().polling().describe_settings();
}

int check_skip_poll(const Settings& /*settings*/, const std::string& value) {
  std::vector<sim::NamedPollSetting> parsed;
  return allowed(sim::parse_poll_settings(value, parsed).ok());
}

// Fails for a wire that margay does not have, and where no thread can block on the wire.
int write_skip_poll(MpiRank& rank, const std::string& value) {
  std::vector<sim::NamedPollSetting> settings;
  sim::Kernel& kernel = rank.process().kernel();
  return allowed(sim::parse_poll_settings(value, settings).ok() &&
                 kernel.polling().apply(settings, kernel.rounds()).ok());
}

// --- Waiting ---

// Without a rank, the option that MPI_Init will read.
Word read_wait_policy(const Settings& settings) {
  if (settings.rank != nullptr) return static_cast<Word>(settings.rank->process().wait_means().policy);
  const std::string asked = settings.options.text("wait", "auto");
  if (asked == "spin") return static_cast<Word>(sim::WaitPolicy::spin);
  return static_cast<Word>(asked == "yield" ? sim::WaitPolicy::yield : sim::WaitPolicy::automatic);
}

// Rejects `automatic` if ranks cannot see each other's processors: MPI_Init then chooses once. Other threads may be
// waiting: they read the policy under the process lock, under which it is written.
int check_wait_policy(const Settings& settings, Word value) {
  if (!has_item(wait_policies(), static_cast<int>(value))) return MPI_T_ERR_INVALID;
  return allowed(settings.rank == nullptr || value != static_cast<Word>(sim::WaitPolicy::automatic) ||
                 settings.rank->process().may_wait_by_company());
}

void write_wait_policy(MpiRank& rank, Word value) {
  const auto policy = static_cast<sim::WaitPolicy>(value);
  if (policy != sim::WaitPolicy::automatic || rank.process().may_wait_by_company()) rank.process().wait_by(policy);
}

Word read_stall_limit(const Settings& settings) {
  return settings.options.seconds_ns("stall_seconds", sim::kStallReportNs);
}

// --- The job ---

std::string read_trace(const Settings& settings) {
  return settings.options.text("trace");
}

// --- Rows ---

template <Word Value>
Word constant(const Settings& /*settings*/) {
  return Value;
}

// The columns that rows of all kinds have.
struct Bound {
  const char* name;
  const char* description;
  Category category;
  ValueType type;
};

// A row that is never written, with one value for the whole run.
constexpr ControlVariable row(const Bound& bound, int verbosity, Word (*read)(const Settings&),
                              const Enumeration* items = nullptr) {
  return {bound.name, bound.description, bound.category, verbosity, MPI_T_SCOPE_CONSTANT, bound.type, items,
          read,       nullptr,           nullptr,        nullptr};
}

// A row whose value is a string that the program may write.
constexpr ControlVariable writable_text_row(const Bound& bound, int verbosity, std::string (*read)(const Settings&),
                                            int (*check)(const Settings&, const std::string&),
                                            int (*write)(MpiRank&, const std::string&)) {
  return {bound.name, bound.description, bound.category, verbosity, MPI_T_SCOPE_LOCAL, bound.type,
          nullptr,    nullptr,           read,           nullptr,   nullptr,           check,
          write};
}

// A row whose value is a string.
constexpr ControlVariable text_row(const Bound& bound, std::string (*read)(const Settings&)) {
  return {bound.name,
          bound.description,
          bound.category,
          MPI_T_VERBOSITY_USER_DETAIL,
          MPI_T_SCOPE_CONSTANT,
          bound.type,
          nullptr,
          nullptr,
          read,
          nullptr,
          nullptr};
}

struct Written {
  int (*check)(const Settings&, Word);
  void (*write)(MpiRank&, Word);
};

// A row that the program may write.
constexpr ControlVariable writable_row(const Bound& bound, int verbosity, Word (*read)(const Settings&), Written how,
                                       const Enumeration* items = nullptr) {
  return {bound.name, bound.description, bound.category, verbosity, MPI_T_SCOPE_LOCAL, bound.type, items,
          read,       nullptr,           how.check,      how.write};
}

constexpr char kInterfaceText[] =
    "where TCP listens: an interface, an address or a network; empty: chosen automatically";
constexpr char kSkipPollText[] =
    "how each wire is polled, such as \"shm=1,tcp=adaptive\": in every n-th round of progress, at an adaptive "
    "interval, "
    "when a thread that blocks on it has seen something (block), or not (off); a write sets the wires that it names";

constexpr int kUser = MPI_T_VERBOSITY_USER_BASIC;
constexpr int kTuner = MPI_T_VERBOSITY_TUNER_BASIC;
constexpr int kTunerDetail = MPI_T_VERBOSITY_TUNER_DETAIL;
constexpr int kDeveloper = MPI_T_VERBOSITY_MPIDEV_BASIC;

}  // namespace

// The rows, one for each variable.
std::span<const ControlVariable> control_variables() {
  using enum Category;
  using enum ValueType;
  static const std::array kRows{
      writable_row({"short_limit_shm",
                    "bytes: the longest message that is sent short to a rank of the same node (and to oneself); 1 to a "
                    "quarter of heap_bytes",
                    protocols, count},
                   kTuner, &read_short_limit<WireId::shm>, {&check_short_limit, &write_short_limit_shm}),
      writable_row(
          {"short_limit_tcp",
           "bytes: the longest message that is sent short to a rank of another node; 1 to a quarter of heap_bytes",
           protocols, count},
          kTuner, &read_short_limit<WireId::tcp>, {&check_short_limit, &write_short_limit_tcp}),
      writable_row({"long_protocol",
                    "what a message above the short limit does: its body goes along (puma), or waits "
                    "until a receive asks for it (rendezvous)",
                    protocols, integer},
                   kTuner, &read_long_protocol, {&check_long_protocol, &write_long_protocol}, &long_protocols()),
      writable_row({"wait_policy",
                    "what a waiting rank does: it spins, or gives its processor up at once; auto: it spins unless "
                    "another rank needs this processor",
                    waiting, integer},
                   kTuner, &read_wait_policy, {&check_wait_policy, &write_wait_policy}, &wait_policies()),
      row({"long_method",
           "how long bodies travel inside a node: through the byte ring, by process_vm_readv (cma), "
           "or whichever the receiver measures to be faster",
           wires, integer},
          kTuner, &read_long_method, &long_methods()),
      row({"tcp_backend", "the requested driver of sockets between nodes; auto takes epoll", wires, integer}, kTuner,
          &read_tcp_backend, &tcp_backends()),
      text_row({"interface", kInterfaceText, wires, ValueType::text}, &read_interface),
      writable_text_row({"skip_poll", kSkipPollText, wires, ValueType::text}, kTuner, &read_skip_poll, &check_skip_poll,
                        &write_skip_poll),
      row({"heap_bytes", "size of the heap of unexpected messages", heap, count}, kUser, &read_heap_bytes),
      row({"heap_spill_bytes",
           "size that the second heap is to have, opened when a message that the first has no room for has been held "
           "for a while; 0 before MPI_Init",
           heap, count},
          kTunerDetail, &read_heap_spill_bytes),
      row({"heap_spill_rounds",
           "rounds of the program's progress in which one message is held before the second heap is opened", heap,
           count},
          kTunerDetail, &constant<kSpillAfterRounds>),
      row({"stall_seconds", "a rank that waits so long without progress reports the peer that it waits for", waiting,
           seconds},
          kUser, &read_stall_limit),
      row({"sleep_after", "seconds without work before a waiting rank sleeps", waiting, seconds}, kTunerDetail,
          &constant<sim::kSleepAfterNs>),
      row({"nudge_after", "seconds without progress before a spinning rank wakes the one that it waits for", waiting,
           seconds},
          kTunerDetail, &constant<sim::kNudgeAfterNs>),
      row({"shm_cells", "messages that may be on their way in shared memory, for each ordered pair of ranks", wires,
           count},
          kTunerDetail, &constant<sim::kCellCount>),
      row({"shm_ring_bytes", "size of the byte ring in shared memory, for each ordered pair of ranks", wires, count},
          kTunerDetail, &constant<sim::kByteRingBytes>),
      row({"tcp_segment_bytes", "a long body over TCP is cut into pieces of so many bytes", wires, count}, kTunerDetail,
          &constant<sim::kSegmentBytes>),
      row({"messages_per_round", "arrivals that one round of progress takes from each wire", kernel, count}, kDeveloper,
          &constant<Device::kMessagesPerRound>),
      row({"tag_max", "the highest tag of a message, which is the attribute MPI_TAG_UB", job, count}, kDeveloper,
          &constant<kUserTagMax>),
      row({"ranks_max", "the most ranks of a job", job, count}, kDeveloper, &constant<sim::kRanksMax>),
      row({"node_ranks_max", "the most ranks of a node", job, count}, kDeveloper, &constant<sim::kShmRanksMax>),
      text_row({"trace_folder", "where this run is recorded; empty: it is not", job, ValueType::text}, &read_trace),
  };
  return kRows;
}

Settings settings_of(MpiRank* rank) {
  Settings settings;
  settings.rank = rank;
  if (rank != nullptr) {
    settings.options = rank->process().job().options;
    settings.device = rank->device().options();
    return settings;
  }
  // Before MPI_Init: the options that it will read.
  settings.options = sim::Options::from_environment(environ);
  // Options that MPI_Init will reject read as if they were not set.
  if (!device_options(settings.options, settings.device).ok()) settings.device = DeviceOptions{};
  return settings;
}

}  // namespace margay::mpi
