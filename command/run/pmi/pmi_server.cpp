#include "command/run/pmi/pmi_server.hpp"

#include <algorithm>
#include <utility>

#include "portals/base/assert.hpp"
#include "sim/boot/parse.hpp"

namespace margay::command {
namespace {

// Bounds the launcher's memory. An exchange of addresses needs a few keys for each rank.
constexpr std::size_t kMaxValuesPerRank = 256;
// Clients of other MPI libraries read lines of 1,024 bytes; an encoded byte takes three.
constexpr std::size_t kMaxWhyBytes = 300;

void answer(PmiOutcome& out, std::uint32_t rank, std::string line) {
  line += '\n';
  out.replies.push_back({rank, std::move(line)});
}

// The field of a refused request with its reason.
std::string why_field(const portals::Status& status) {
  return status.ok() ? std::string() : " why=" + sim::to_pmi_word(status.sentence().substr(0, kMaxWhyBytes));
}

}  // namespace

PmiServer::PmiServer(std::string job_name, std::vector<std::uint32_t> appnum_of_rank,
                     const std::vector<std::uint32_t>& node_of_rank, std::uint32_t places, NameStore* store)
    : job_name_(std::move(job_name)), ranks_(std::max<std::size_t>(places, appnum_of_rank.size())), store_(store) {
  PmiWorld world;
  for (std::uint32_t rank = 0; rank < appnum_of_rank.size(); ++rank) world.places.push_back(rank);
  world.appnums = std::move(appnum_of_rank);
  world.nodes = node_of_rank;
  begin_world(world);
}

// The first world has the job's name, as it had before there were others.
void PmiServer::begin_world(const PmiWorld& world) {
  auto begun = std::make_shared<World>();
  begun->kvs_name = job_name_ + (worlds_ == 0 ? "" : "_" + std::to_string(worlds_));
  ++worlds_;
  begun->places = world.places;
  begun->values.insert(world.preput.begin(), world.preput.end());
  begun->values["PMI_process_mapping"] = sim::format_process_mapping(world.nodes);
  for (std::size_t i = 0; i < world.places.size(); ++i) {
    MARGAY_ASSERT(world.places[i] < ranks_.size());
    RankState& state = ranks_[world.places[i]];
    state = {};
    state.appnum = world.appnums[i];
    state.world = begun;
  }
}

PmiServer::Handler PmiServer::find_handler(std::string_view command) {
  // A linear search suffices: ranks send these commands at their start and end.
  static constexpr std::pair<std::string_view, Handler> kHandlers[] = {
      {"init", &PmiServer::init},
      {"get_maxes", &PmiServer::maxes},
      {"get_appnum", &PmiServer::appnum},
      {"get_universe_size", &PmiServer::universe},
      {"get_my_kvsname", &PmiServer::kvs_name},
      {"put", &PmiServer::put},
      {"get", &PmiServer::get},
      {"barrier_in", &PmiServer::barrier},
      {"finalize", &PmiServer::finalize},
      {"abort", &PmiServer::abort},
      {"publish_name", &PmiServer::publish},
      {"lookup_name", &PmiServer::lookup},
      {"unpublish_name", &PmiServer::unpublish},
      {"margay_kill", &PmiServer::kill},
      {"margay_guest", &PmiServer::guest},
      {"margay_guest_gone", &PmiServer::guest_gone},
  };
  for (const auto& [name, handler] : kHandlers) {
    if (name == command) return handler;
  }
  return nullptr;
}

// The test for a spawn request precedes the search for the command, because the values of the request's lines may be
// free text. No field has the name of a command line's first one, though: such a line inside a block means that the
// block has no end, and its sender awaits an answer.
PmiOutcome PmiServer::take_line(std::uint32_t rank, std::string_view line) {
  PmiOutcome out;
  const std::string who = "rank " + std::to_string(rank);
  RankState& state = ranks_[rank];
  if (state.world == nullptr) {
    out.error = who + " has not been started, and sent a PMI line";
    return out;
  }
  if (state.spawn != nullptr && state.spawn->in_block() && !line.starts_with("cmd=")) {
    take_spawn_line(rank, line, out);
    return out;
  }
  sim::PmiMessage message;
  if (portals::Status status = sim::PmiMessage::parse(line, message); !status.ok()) {
    out.error = who + " sent a bad PMI line: " + status.sentence();
    return out;
  }
  if (message.is_block() && message.command() == "spawn") {
    take_spawn_line(rank, line, out);
    return out;
  }
  if (state.spawn != nullptr) {
    state.spawn = nullptr;
    out.error = who + " sent a part of a spawn request, and then another PMI command";
    return out;
  }
  const Handler handler = find_handler(message.command());
  if (handler == nullptr) {
    out.error = who + " sent the PMI command \"" + message.command().substr(0, 40) + "\", which PMI-1.1 does not have";
    return out;
  }
  (this->*handler)(rank, message, out);
  return out;
}

void PmiServer::init(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  int version = 1;
  // A client that requests version 1 or later gets 1.1. The client checks the version in the reply.
  const bool known = !line.number("pmi_version", version) || version >= 1;
  ranks_[rank].initialized = ranks_[rank].initialized || known;
  answer(out, rank, std::string("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=") + (known ? "0" : "-1"));
}

void PmiServer::maxes(std::uint32_t rank, const sim::PmiMessage&, PmiOutcome& out) {
  answer(out, rank,
         "cmd=maxes kvsname_max=" + std::to_string(sim::kMaxPmiName) +
             " keylen_max=" + std::to_string(sim::kMaxPmiKey) + " vallen_max=" + std::to_string(sim::kMaxPmiValue));
}

void PmiServer::appnum(std::uint32_t rank, const sim::PmiMessage&, PmiOutcome& out) {
  answer(out, rank, "cmd=appnum appnum=" + std::to_string(ranks_[rank].appnum));
}

void PmiServer::universe(std::uint32_t rank, const sim::PmiMessage&, PmiOutcome& out) {
  // Each place can have a process.
  answer(out, rank, "cmd=universe_size size=" + std::to_string(ranks_.size()));
}

void PmiServer::kvs_name(std::uint32_t rank, const sim::PmiMessage&, PmiOutcome& out) {
  answer(out, rank, "cmd=my_kvsname kvsname=" + ranks_[rank].world->kvs_name);
}

// The space of another world is found by one of its members that is still there; cards of TCP are read so.
PmiServer::World& PmiServer::world_of(std::uint32_t rank, const sim::PmiMessage& line) {
  const std::string name = line.text("kvsname");
  World& own = *ranks_[rank].world;
  if (name.empty() || name == own.kvs_name) return own;
  const auto named = std::ranges::find_if(
      ranks_, [&name](const RankState& each) { return each.world != nullptr && each.world->kvs_name == name; });
  return named == ranks_.end() ? own : *named->world;
}

// Failures are replies, not errors: MPICH's clients handle them.
void PmiServer::put(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  const std::string key = line.text("key");
  const std::string value = line.text("value");
  std::string refused;
  if (key.empty() || key.size() > sim::kMaxPmiKey) refused = "key_length";
  if (value.size() > sim::kMaxPmiValue) refused = "value_longer_than_" + std::to_string(sim::kMaxPmiValue);
  World& world = world_of(rank, line);
  if (world.values.size() >= kMaxValuesPerRank * world.places.size() + 1) refused = "too_many_keys";
  // With a second value for a key, some ranks would get the first value and others the second.
  if (refused.empty() && !world.values.emplace(key, value).second) refused = "duplicate_key" + key;
  answer(out, rank, "cmd=put_result rc=" + std::string(refused.empty() ? "0 msg=success" : "-1 msg=" + refused));
}

void PmiServer::get(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  const std::string key = line.text("key");
  const World& world = world_of(rank, line);
  const auto it = world.values.find(key);
  answer(out, rank,
         it != world.values.end()
             ? "cmd=get_result rc=0 msg=success value=" + it->second
             : "cmd=get_result rc=-1 msg=key_" + key.substr(0, sim::kMaxPmiKey) + "_not_found value=unknown");
}

void PmiServer::barrier(std::uint32_t rank, const sim::PmiMessage&, PmiOutcome& out) {
  if (ranks_[rank].in_barrier) {
    // A second entry would release the barrier before all ranks have entered it.
    out.error = "rank " + std::to_string(rank) + " entered the PMI barrier twice";
    return;
  }
  ranks_[rank].in_barrier = true;
  World& world = *ranks_[rank].world;
  if (++world.waiting_in_barrier < world.places.size()) return;
  world.waiting_in_barrier = 0;
  for (const std::uint32_t each : world.places) {
    ranks_[each].in_barrier = false;
    answer(out, each, "cmd=barrier_out");
  }
}

void PmiServer::finalize(std::uint32_t rank, const sim::PmiMessage&, PmiOutcome& out) {
  ranks_[rank].finalized = true;
  answer(out, rank, "cmd=finalize_ack");
}

// No reply: the rank does not read after an abort.
void PmiServer::abort(std::uint32_t, const sim::PmiMessage& line, PmiOutcome& out) {
  out.aborts = true;
  out.abort_code = 1;
  static_cast<void>(line.number("exitcode", out.abort_code));
  out.second_program = line.text("second_program") == "1";
  out.abort_message = line.text("error_msg");
}

// The job's own names are checked first, so that a service published twice by the job needs no store.
void PmiServer::publish(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  const std::string service = line.text("service");
  const std::string port = line.text("port");
  std::string refused;
  if (service.empty() || service.size() > sim::kMaxPmiValue) refused = "service_name_length";
  if (services_.size() >= kMaxValuesPerRank * ranks_.size()) refused = "too_many_services";
  if (refused.empty() && services_.contains(service)) refused = "service_is_published";
  portals::Status other;
  if (refused.empty() && store_ != nullptr) {
    other = store_->publish(service, port);
    if (!other.ok()) refused = "service_is_published";
  }
  if (refused.empty()) services_.emplace(service, port);
  answer(out, rank,
         "cmd=publish_result rc=" + std::string(refused.empty() ? "0 msg=success" : "-1 msg=" + refused) +
             why_field(other));
}

// The job's own names precede those of other jobs.
void PmiServer::lookup(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  const std::string service = line.text("service");
  const auto own = services_.find(service);
  std::string port;
  portals::Status unusable;
  if (own == services_.end() && store_ != nullptr && !service.empty()) unusable = store_->lookup(service, port);
  const bool found = own != services_.end() || !port.empty();
  answer(out, rank,
         found ? "cmd=lookup_result rc=0 msg=success port=" + (own != services_.end() ? own->second : port)
               : "cmd=lookup_result rc=-1 msg=service_not_found" + why_field(unusable));
}

// PMI-1.1 has no port in this command; margay's clients send it, so that a name of another port stays. Other jobs'
// names remain.
void PmiServer::unpublish(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  const std::string port = line.text("port");
  const auto it = services_.find(line.text("service"));
  std::string refused;
  if (it == services_.end()) refused = "service_not_found";
  if (refused.empty() && !port.empty() && port != it->second) refused = "service_has_another_port";
  if (refused.empty()) {
    services_.erase(it);
    if (store_ != nullptr) store_->unpublish(line.text("service"));
  }
  answer(out, rank, "cmd=unpublish_result rc=" + std::string(refused.empty() ? "0 msg=success" : "-1 msg=" + refused));
}

// The answer waits for the request's end, because the client reads only after it has sent the last line.
void PmiServer::take_spawn_line(std::uint32_t rank, std::string_view line, PmiOutcome& out) {
  std::shared_ptr<SpawnReader>& reader = ranks_[rank].spawn;
  if (reader == nullptr) reader = std::make_shared<SpawnReader>();
  if (reader->take_line(line) == SpawnReader::Step::more) return;
  const std::shared_ptr<SpawnReader> whole = std::exchange(reader, nullptr);
  if (whole->error().empty()) {
    out.spawn = whole->take_order();
  } else {
    const std::uint32_t asked = std::min(whole->take_order().processes(), kMaxSpawnProcesses);
    answer(out, rank, spawn_answer(std::vector<int>(asked, -1), {}, whole->error()));
  }
}

// The list of places is decimal numbers with commas.
void PmiServer::kill(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  const std::string list = line.text("places");
  for (std::string_view rest(list); !rest.empty();) {
    const std::string_view number = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), number.size() + 1));
    std::uint32_t place = 0;
    if (sim::parse_number(number, place) && place < ranks_.size() && place != rank) {
      out.kill.push_back(place);
      continue;
    }
    out.kill.clear();
    return answer(out, rank,
                  kill_answer("\"" + std::string(number.substr(0, 20)) + "\" is not the place of another process"));
  }
  if (out.kill.empty()) answer(out, rank, kill_answer("no place is named"));
}

void PmiServer::guest(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  sim::Endpoint guest;
  if (!sim::parse_number(line.text("job"), guest.job) || !sim::parse_number(line.text("place"), guest.place)) {
    return answer(out, rank, guest_answer(0, "the request names no job and place"));
  }
  out.guest = guest;
}

void PmiServer::guest_gone(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  std::uint32_t place = 0;
  if (!sim::parse_number(line.text("place"), place)) return answer(out, rank, guest_answer(0, "no place is named"));
  out.gone_guest = place;
}

std::string guest_answer(std::uint32_t place, std::string_view error) {
  return "cmd=margay_guest_result rc=" +
         (error.empty() ? "0 place=" + std::to_string(place) : "-1 msg=" + std::string(error));
}

std::string kill_answer(std::string_view error) {
  return "cmd=margay_kill_result rc=" + (error.empty() ? std::string("0") : "-1 msg=" + std::string(error));
}

}  // namespace margay::command
