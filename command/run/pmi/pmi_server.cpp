#include "command/run/pmi/pmi_server.hpp"

#include <utility>

namespace margay::command {
namespace {

// Bounds the launcher's memory. An exchange of addresses needs a few keys for each rank.
constexpr std::size_t kMaxValuesPerRank = 256;

void answer(PmiOutcome& out, std::uint32_t rank, std::string line) {
  line += '\n';
  out.replies.push_back({rank, std::move(line)});
}

}  // namespace

PmiServer::PmiServer(std::string job_name, std::vector<std::uint32_t> appnum_of_rank,
                     const std::vector<std::uint32_t>& node_of_rank)
    : job_name_(std::move(job_name)), appnum_of_rank_(std::move(appnum_of_rank)), ranks_(appnum_of_rank_.size()) {
  values_["PMI_process_mapping"] = sim::format_process_mapping(node_of_rank);
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
  };
  for (const auto& [name, handler] : kHandlers) {
    if (name == command) return handler;
  }
  return nullptr;
}

// The test for a spawn block precedes the search for the command, because the block's lines may look like commands.
PmiOutcome PmiServer::take_line(std::uint32_t rank, std::string_view line) {
  PmiOutcome out;
  sim::PmiMessage message;
  const std::string who = "rank " + std::to_string(rank);
  if (portals::Status status = sim::PmiMessage::parse(line, message); !status.ok()) {
    // Inside a spawn block a line may be free text.
    if (!ranks_[rank].in_spawn) out.error = who + " sent a bad PMI line: " + status.sentence();
    return out;
  }
  if (ranks_[rank].in_spawn || message.is_block()) {
    take_spawn_line(rank, message, out);
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
  answer(out, rank, "cmd=appnum appnum=" + std::to_string(appnum_of_rank_[rank]));
}

void PmiServer::universe(std::uint32_t rank, const sim::PmiMessage&, PmiOutcome& out) {
  // Nothing is ever spawned, so the universe is the job.
  answer(out, rank, "cmd=universe_size size=" + std::to_string(ranks_.size()));
}

void PmiServer::kvs_name(std::uint32_t rank, const sim::PmiMessage&, PmiOutcome& out) {
  // One key-value space for the whole job; its name is not checked in later lines.
  answer(out, rank, "cmd=my_kvsname kvsname=" + job_name_);
}

// Failures are replies, not errors: MPICH's clients handle them.
void PmiServer::put(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  const std::string key = line.text("key");
  const std::string value = line.text("value");
  std::string refused;
  if (key.empty() || key.size() > sim::kMaxPmiKey) refused = "key_length";
  if (value.size() > sim::kMaxPmiValue) refused = "value_longer_than_" + std::to_string(sim::kMaxPmiValue);
  if (values_.size() >= kMaxValuesPerRank * ranks_.size() + 1) refused = "too_many_keys";
  // With a second value for a key, some ranks would get the first value and others the second.
  if (refused.empty() && !values_.emplace(key, value).second) refused = "duplicate_key" + key;
  answer(out, rank, "cmd=put_result rc=" + std::string(refused.empty() ? "0 msg=success" : "-1 msg=" + refused));
}

void PmiServer::get(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  const std::string key = line.text("key");
  const auto it = values_.find(key);
  answer(out, rank,
         it != values_.end()
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
  if (++waiting_in_barrier_ < ranks_.size()) return;
  waiting_in_barrier_ = 0;
  for (std::uint32_t each = 0; each < ranks_.size(); ++each) {
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

void PmiServer::publish(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  const std::string service = line.text("service");
  std::string refused;
  if (service.empty() || service.size() > sim::kMaxPmiValue) refused = "service_name_length";
  if (services_.size() >= kMaxValuesPerRank * ranks_.size()) refused = "too_many_services";
  if (refused.empty() && !services_.emplace(service, line.text("port")).second) refused = "service_is_published";
  answer(out, rank, "cmd=publish_result rc=" + std::string(refused.empty() ? "0 msg=success" : "-1 msg=" + refused));
}

void PmiServer::lookup(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  const auto it = services_.find(line.text("service"));
  answer(out, rank,
         it != services_.end() ? "cmd=lookup_result rc=0 msg=success port=" + it->second
                               : "cmd=lookup_result rc=-1 msg=service_not_found");
}

void PmiServer::unpublish(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  const bool was_there = services_.erase(line.text("service")) > 0;
  answer(out, rank,
         std::string("cmd=unpublish_result rc=") + (was_there ? "0 msg=success" : "-1 msg=service_not_found"));
}

void PmiServer::take_spawn_line(std::uint32_t rank, const sim::PmiMessage& line, PmiOutcome& out) {
  ranks_[rank].in_spawn = line.command() != "endcmd";
  // The reply must wait for endcmd, because the client reads only after it has sent that line.
  if (!ranks_[rank].in_spawn) {
    answer(out, rank, "cmd=spawn_result rc=-1 msg=margay_run_starts_no_further_processes errcodes=-1");
  }
}

}  // namespace margay::command
