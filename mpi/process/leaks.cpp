#include "mpi/process/leaks.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/info/table.hpp"
#include "mpi_adi/device/message.hpp"
#include "mpi_adi/device/receive_request.hpp"
#include "mpi_adi/device/send_request.hpp"
#include "mpi_adi/rank/mpi_process.hpp"
#include "mpi_adi/rank/object_tables.hpp"
#include "mpi_adi/rank/origins.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/findings.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi {

namespace {

// Lines printed at most, because a program that leaks in a loop would bury its other output; all objects are counted.
constexpr std::size_t kLinesMax = 1000;

std::string peer_text(const char* word, int peer) {
  if (peer == MPI_PROC_NULL) return std::string(word) + " MPI_PROC_NULL";
  return peer == MPI_ANY_SOURCE ? std::string(word) + " any source"
                                : std::string(word) + " rank " + std::to_string(peer);
}

std::string message_text(const char* word, int peer, int tag, std::uint64_t bytes) {
  return peer_text(word, peer) + (tag == MPI_ANY_TAG ? ", any tag" : ", tag " + std::to_string(tag)) + ", " +
         std::to_string(bytes) + " bytes";
}

// The rank of a process: the device keeps a send's peer by its rank in the world.
int rank_of_process(const Communicator& communicator, std::uint32_t process) {
  const sim::SharedTable& peers = communicator.peers->world_ranks;
  return static_cast<int>(std::find(peers.begin(), peers.end(), process) - peers.begin());
}

std::string request_text(const SendRequest& request) {
  if (request.source == MPI_PROC_NULL) return {};  // complete at once, without a message
  return message_text("to", rank_of_process(*request.communicator, request.peer), request.tag, request.body.bytes());
}
std::string request_text(const ReceiveRequest& request) {
  if (request.state == ReceiveState::idle) return {};  // complete at once, without a message
  return message_text("from", request.source, request.tag, request.complete ? request.bytes : request.room().bytes());
}

std::string request_text(const UserRequest& request) {
  if (request.persistent && request.upper == nullptr) {
    const PersistentCall& call = request.call;
    return message_text(call.is_send ? "to" : "from", call.peer, call.tag,
                        static_cast<std::uint64_t>(call.count) * call.type->size);
  }
  // A send that was complete at once: the handle has its peer, its tag, and as count its bytes.
  if (request.sent) {
    const PersistentCall& call = request.call;
    if (call.peer == MPI_PROC_NULL) return {};
    return message_text("to", call.peer, call.tag, static_cast<std::uint64_t>(call.count));
  }
  if (request.device == nullptr || request.device->is_of_upper_layer()) return {};
  return request.device->kind == RequestKind::send ? request_text(static_cast<const SendRequest&>(*request.device))
                                                   : request_text(static_cast<const ReceiveRequest&>(*request.device));
}

const char* state_text(const UserRequest& request) {
  if (request.device == nullptr) return "inactive";
  return request.device->complete ? "complete" : "not complete";
}

std::string in_quotes(const std::string& name) {
  return name.empty() ? std::string() : " \"" + name + "\"";
}

// The lines and counts of one rank's report.
class Report {
 public:
  explicit Report(MpiRank& rank) : rank_(rank) {}

  void line(const char* kind, Handle handle, const Origin& origin, const std::string& name,
            const std::string& details) {
    // Counted, but not formatted.
    if (++lines_ > kLinesMax) return;
    look_up_callers();
    char hex[16];
    std::snprintf(hex, sizeof hex, "0x%08x", static_cast<unsigned>(handle));
    const std::string site = rank_.process().source_lines().location_suffix(origin.location);
    const std::string what = std::string("leak: ") + kind + " " + hex + in_quotes(name) + ", made by " +
                             (origin.function.empty() ? "an unknown call" : std::string(origin.function) + site) +
                             (details.empty() ? "" : ", " + details);
    begin() += sim::one_line(what) + id_suffix(sim::Finding::leaked_handle) + "\n";
    sim::FindingRecord found;
    sim::set_name(found.call, origin.function);
    sim::set_site(found, site);
    rank_.process().findings().add(sim::Finding::leaked_handle, found, what);
  }
  void line(const char* kind, Handle handle, const std::string& name = {}, const std::string& details = {}) {
    // Objects may live while MPI is dormant, and are then found at several ends.
    if (rank_.handles().origins()->report_once(handle))
      line(kind, handle, rank_.handles().origins()->of(handle), name, details);
  }
  // Ends the lines of one kind: adds their number to the last line.
  void end_kind(const char* one, const char* many) {
    if (lines_ == counted_) return;
    const std::size_t here = lines_ - counted_;
    counts_ += (counts_.empty() ? "" : ", ") + std::to_string(here) + " " + (here == 1 ? one : many);
    counted_ = lines_;
  }
  [[nodiscard]] bool empty() const { return lines_ == 0; }
  // Ends the report with the numbers of all kinds; counts them as findings of the process.
  [[nodiscard]] std::string text() {
    if (lines_ == 0) return {};
    if (lines_ > kLinesMax) rank_.process().findings().count(lines_ - kLinesMax);
    begin() += "not given back: " + counts_ +
               (lines_ > kLinesMax ? " (the first " + std::to_string(kLinesMax) + " are listed)" : "") + "\n";
    return std::move(text_);
  }

 private:
  // Looks up all locations at once, before the first line.
  void look_up_callers() {
    if (lines_ != 1) return;
    rank_.process().source_lines().look_up(rank_.handles().origins()->locations());
  }
  std::string& begin() { return text_ += "margay: rank " + std::to_string(rank_.process().rank()) + ": "; }

  MpiRank& rank_;
  std::string text_;
  std::string counts_;
  std::size_t lines_ = 0;
  std::size_t counted_ = 0;
};

// The objects of one session, or of the world model.
struct Owner {
  std::uint32_t session = 0;
  bool any_session = false;
  [[nodiscard]] bool has(const Group& group) const {
    return any_session ? group.session != 0 : group.session == session;
  }
};

void add_requests(MpiRank& rank, Owner owner, Report& report) {
  for (const UserRequest* request : rank.handles().living_requests()) {
    // A request belongs to the session of its communicator.
    if (!owner.has(*request->communicator->group)) continue;
    const std::string message = request_text(*request);
    report.line("request", request->handle, rank.handles().origins()->of(*request), {},
                (message.empty() ? "" : message + ", ") + state_text(*request));
  }
  report.end_kind("request", "requests");
}

void add_messages(MpiRank& rank, Report& report) {
  rank.handles().messages().for_each([&report](Handle handle, const Message& message) {
    report.line("message", handle, {}, "from process " + std::to_string(message.peer) + ", never received");
  });
  report.end_kind("matched message", "matched messages");
}

std::string processes(int count) {
  return std::to_string(count) + (count == 1 ? " process" : " processes");
}

// Whether this is the communicator of a window, whose handle is that of the window.
bool belongs_to_window(const Communicator& communicator) {
  return object_type(communicator.handle) == ObjectType::window;
}

// Windows are listed apart, by their own handles.
void add_communicators(MpiRank& rank, Owner owner, Report& report) {
  for (const Communicator* communicator : rank.handles().living_communicators()) {
    if (!owner.has(*communicator->group) || belongs_to_window(*communicator)) continue;
    // The library made it, and the program need not free it.
    if (communicator == rank.worlds().parent()) continue;
    report.line("communicator", communicator->handle, communicator->name, processes(communicator->size()));
  }
  report.end_kind("communicator", "communicators");
  for (const Communicator* communicator : rank.handles().living_communicators()) {
    if (!owner.has(*communicator->group) || !belongs_to_window(*communicator)) continue;
    report.line("window", communicator->handle, communicator->name, processes(communicator->size()));
  }
  report.end_kind("window", "windows");
  for (const auto& [handle, group] : rank.handles().groups().living()) {
    if (!owner.has(*group)) continue;
    report.line("group", handle, {}, processes(group->size()));
  }
  report.end_kind("group", "groups");
}

// Types for Fortran's kinds belong to the library (MPI 4.0, 19.1.9: they must not be freed).
void add_datatypes(MpiRank& rank, Report& report) {
  const std::vector<Datatype*>& kinds = rank.handles().kind_types();
  for (const Datatype* type : rank.handles().living_datatypes()) {
    if (std::find(kinds.begin(), kinds.end(), type) != kinds.end()) continue;
    report.line("datatype", type->handle, type->name, std::to_string(type->size) + " bytes");
  }
  report.end_kind("datatype", "datatypes");
}

void add_operations(MpiRank& rank, Report& report) {
  rank.handles().operations().for_each(
      [&report](Handle handle, const mpi_adi::Operation&) { report.line("operation", handle); });
  report.end_kind("operation", "operations");
}

// Objects that may outlive MPI.
void add_lasting(MpiRank& rank, Report& report) {
  for (const MPI_Info info : living_infos()) report.line("info object", info);
  report.end_kind("info object", "info objects");
  for (const MPI_Errhandler handler : rank.tables().error_handlers.living()) report.line("error handler", handler);
  report.end_kind("error handler", "error handlers");
}

// Objects that belong to no session.
void add_shared(MpiRank& rank, Report& report) {
  add_datatypes(rank, report);
  add_operations(rank, report);
  for (const int keyval : rank.tables().keyvals.living()) report.line("attribute key", keyval);
  report.end_kind("attribute key", "attribute keys");
}

}  // namespace

// Without origins nothing is recorded, and nothing can be reported.
void report_leaks(MpiRank& rank, Ending ending) {
  if (rank.handles().origins() == nullptr) return;
  Report report(rank);
  const Owner owner{.session = ending.session};
  add_requests(rank, owner, report);
  // A matched message belongs to no session: listed at the end of the last one.
  if (ending.last) add_messages(rank, report);
  add_communicators(rank, owner, report);
  if (ending.last) add_shared(rank, report);
  const std::string text = report.text();
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string report_of_exit(MpiRank& rank) {
  if (rank.handles().origins() == nullptr) return {};
  Report report(rank);
  add_lasting(rank, report);
  // The rank is dormant. Its trace was suspended, and the first finding reopened it.
  rank.process().recorder().suspend();
  return report.text();
}

std::string report_of_open_sessions(MpiRank& rank) {
  if (rank.handles().origins() == nullptr) return {};
  Report report(rank);
  for (const Session* session : rank.tables().sessions.living()) report.line("session", session->raises.handle);
  report.end_kind("session", "sessions");
  // Without an open session the process ended properly.
  if (report.empty()) return {};
  const Owner owner{.any_session = true};
  add_requests(rank, owner, report);
  add_messages(rank, report);
  add_communicators(rank, owner, report);
  add_shared(rank, report);
  add_lasting(rank, report);
  return report.text();
}

}  // namespace margay::mpi
