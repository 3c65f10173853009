#include "sim/boot/pmi_client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sim/boot/parse.hpp"

namespace margay::sim {

// Writes the whole line, also on a nonblocking descriptor; MSG_NOSIGNAL, because a send to a launcher that has ended
// must not raise SIGPIPE.
Status PmiClient::send_line(std::string_view line) {
  std::string text(line);
  text += '\n';
  std::string_view rest(text);
  while (!rest.empty()) {
    ssize_t sent = ::send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL);
    // A launcher may pass a pipe instead of a socket.
    if (sent < 0 && errno == ENOTSOCK) sent = ::write(descriptor_, rest.data(), rest.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      pollfd ready{descriptor_, POLLOUT, 0};
      static_cast<void>(::poll(&ready, 1, -1));
      continue;
    }
    if (sent <= 0) {
      return Status::error("rank " + std::to_string(rank_) + ": the launcher's PMI connection (descriptor " +
                           std::to_string(descriptor_) + ") broke: " + std::strerror(errno));
    }
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

// Reads up to a newline; bytes after it stay for the next call.
Status PmiClient::receive_line(std::string& line) {
  while (true) {
    const std::size_t newline = unread_.find('\n');
    if (newline != std::string::npos) {
      line = unread_.substr(0, newline);
      unread_.erase(0, newline + 1);
      return {};
    }
    // Bounds the memory that a broken launcher can make this rank use.
    if (unread_.size() > kMaxPmiLineBytes) return Status::error("the launcher sent a PMI line without an end");
    char buffer[2048];
    const ssize_t count = ::read(descriptor_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      pollfd ready{descriptor_, POLLIN, 0};
      static_cast<void>(::poll(&ready, 1, -1));
      continue;
    }
    if (count <= 0) {
      return Status::error("rank " + std::to_string(rank_) + ": the launcher closed its PMI connection" +
                           (count < 0 ? std::string(": ") + std::strerror(errno) : std::string()));
    }
    unread_.append(buffer, static_cast<std::size_t>(count));
  }
}

Status PmiClient::exchange(std::string_view request, std::string_view expected_command, PmiMessage& answer) {
  if (Status status = send_line(request); !status.ok()) return status;
  std::string line;
  if (Status status = receive_line(line); !status.ok()) return status;
  if (Status status = PmiMessage::parse(line, answer); !status.ok()) return status;
  // One request at a time, so any other answer is a launcher's mistake.
  if (answer.command() != expected_command) {
    return Status::error("the launcher answered PMI \"" + std::string(request.substr(0, 60)) + "\" with \"" +
                         line.substr(0, 120) + "\" instead of " + std::string(expected_command));
  }
  return {};
}

Status PmiClient::init() {
  if (connected_) return {};
  PmiMessage answer;
  Status status = exchange("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", answer);
  // A launcher may close the connection once a rank has finalized.
  if (!status.ok()) {
    return Status::error(status.sentence() +
                         "; was another MPI program in this rank's place before? There is room for "
                         "one: start each with a launch of its own");
  }
  int rc = 0;
  if (answer.number("rc", rc) && rc != 0) {
    return Status::error("the launcher speaks PMI " + answer.text("pmi_version", "?") + "." +
                         answer.text("pmi_subversion", "?") + " and refused version 1.1");
  }
  status = exchange("cmd=get_maxes", "maxes", answer);
  if (!status.ok()) return status;
  int number = 0;
  // Smaller limits are implausible, and would split cards into nothing.
  if (answer.number("vallen_max", number) && number >= 64) max_value_ = static_cast<std::size_t>(number);
  if (answer.number("keylen_max", number) && number >= 16) max_key_ = static_cast<std::size_t>(number);
  status = exchange("cmd=get_my_kvsname", "my_kvsname", answer);
  if (!status.ok()) return status;
  kvs_name_ = answer.text("kvsname");
  connected_ = true;
  return {};
}

Status PmiClient::appnum(std::uint32_t& out) {
  PmiMessage answer;
  if (Status status = connect_once(); !status.ok()) return status;
  if (Status status = exchange("cmd=get_appnum", "appnum", answer); !status.ok()) return status;
  int number = 0;
  out = answer.number("appnum", number) && number >= 0 ? static_cast<std::uint32_t>(number) : 0;
  return {};
}

Status PmiClient::universe_size(int& out) {
  PmiMessage answer;
  if (Status status = connect_once(); !status.ok()) return status;
  if (Status status = exchange("cmd=get_universe_size", "universe_size", answer); !status.ok()) return status;
  if (!answer.number("size", out)) out = -1;
  return {};
}

Status PmiClient::put(std::string_view key, std::string_view value) {
  if (Status status = connect_once(); !status.ok()) return status;
  if (key.size() > max_key_ || value.size() > max_value_) {
    return Status::error("PMI key " + std::string(key.substr(0, 80)) + ": value of " + std::to_string(value.size()) +
                         " bytes; the launcher accepts " + std::to_string(max_value_));
  }
  PmiMessage answer;
  const std::string request =
      "cmd=put kvsname=" + kvs_name_ + " key=" + std::string(key) + " value=" + std::string(value);
  if (Status status = exchange(request, "put_result", answer); !status.ok()) return status;
  // Launchers may leave `rc` out on success.
  int rc = 0;
  if (answer.number("rc", rc) && rc != 0) {
    return Status::error("the launcher refused PMI key " + std::string(key) + ": " + answer.text("msg", "no reason"));
  }
  return {};
}

Status PmiClient::lookup(std::string_view key, std::string& value, bool& found, std::string_view kvs) {
  if (Status status = connect_once(); !status.ok()) return status;
  PmiMessage answer;
  const std::string request =
      "cmd=get kvsname=" + (kvs.empty() ? kvs_name_ : std::string(kvs)) + " key=" + std::string(key);
  if (Status status = exchange(request, "get_result", answer); !status.ok()) return status;
  int rc = 0;
  // The answer for a missing key also contains a value, so only `rc` shows that the key is missing.
  found = !answer.number("rc", rc) || rc == 0;
  if (found) value = answer.text("value");
  return {};
}

Status PmiClient::get(std::string_view key, std::string& value, std::string_view kvs) {
  bool found = false;
  if (Status status = lookup(key, value, found, kvs); !status.ok()) return status;
  return found ? Status() : Status::error("PMI key " + std::string(key) + " does not exist");
}

// Values that were put before the barrier are visible to all ranks after it.
Status PmiClient::barrier() {
  PmiMessage answer;
  if (Status status = connect_once(); !status.ok()) return status;
  return exchange("cmd=barrier_in", "barrier_out", answer);
}

// The first piece begins with the number of pieces: "3:text". Keys are card-RANK and card-RANK-PIECE.
Status PmiClient::put_card(std::string_view card) {
  if (Status status = connect_once(); !status.ok()) return status;
  // Room for the number of pieces before the first one.
  const std::size_t piece_bytes = max_value_ - 32;
  const std::size_t pieces = card.empty() ? 1 : (card.size() + piece_bytes - 1) / piece_bytes;
  const std::string key = "card-" + std::to_string(rank_);
  for (std::size_t i = 0; i < pieces; ++i) {
    // Each piece is a value of its own, because the launcher bounds the length of a value.
    const std::string_view piece = card.substr(i * piece_bytes, piece_bytes);
    Status status = i == 0 ? put(key, std::to_string(pieces) + ":" + std::string(piece))
                           : put(key + "-" + std::to_string(i), piece);
    if (!status.ok()) return status;
  }
  return {};
}

Status PmiClient::get_card(std::uint32_t rank, std::string& card, std::string_view kvs) {
  const std::string key = "card-" + std::to_string(rank);
  std::string value;
  if (Status status = get(key, value, kvs); !status.ok()) return status;
  const std::size_t colon = value.find(':');
  std::uint32_t pieces = 0;
  // Bounds the memory for an implausible number of pieces.
  constexpr std::uint32_t kMaxPieces = 1024;
  if (colon == std::string::npos || !parse_number(std::string_view(value).substr(0, colon), pieces) || pieces == 0 ||
      pieces > kMaxPieces) {
    return Status::error("the card of rank " + std::to_string(rank) + " is malformed: \"" + value.substr(0, 80) + "\"");
  }
  card = value.substr(colon + 1);
  for (std::uint32_t i = 1; i < pieces; ++i) {
    if (Status status = get(key + "-" + std::to_string(i), value, kvs); !status.ok()) return status;
    card += value;
  }
  return {};
}

namespace {

Status check_rc(const PmiMessage& answer, std::string_view what) {
  int rc = 0;
  if (!answer.number("rc", rc) || rc == 0) return {};
  return Status::error(std::string(what) + ": " + answer.text("msg", "refused by the launcher"));
}

}  // namespace

Status PmiClient::publish(std::string_view service, std::string_view port) {
  PmiMessage answer;
  if (Status status = connect_once(); !status.ok()) return status;
  const std::string request = "cmd=publish_name service=" + std::string(service) + " port=" + std::string(port);
  if (Status status = exchange(request, "publish_result", answer); !status.ok()) return status;
  return check_rc(answer, "publishing service " + std::string(service));
}

Status PmiClient::lookup_name(std::string_view service, std::string& port) {
  PmiMessage answer;
  if (Status status = connect_once(); !status.ok()) return status;
  Status status = exchange("cmd=lookup_name service=" + std::string(service), "lookup_result", answer);
  if (!status.ok()) return status;
  port = answer.text("port");
  return check_rc(answer, "looking up service " + std::string(service));
}

Status PmiClient::unpublish(std::string_view service, std::string_view port) {
  PmiMessage answer;
  if (Status status = connect_once(); !status.ok()) return status;
  const std::string request = "cmd=unpublish_name service=" + std::string(service) + " port=" + std::string(port);
  Status status = exchange(request, "unpublish_result", answer);
  if (!status.ok()) return status;
  return check_rc(answer, "unpublishing service " + std::string(service));
}

namespace {

// The lines of one command of a spawn request. `total`, `number`: its position, from 1 on.
std::string spawn_block(const SpawnLines& request, std::size_t number) {
  const SpawnLines::Command& command = request.commands[number - 1];
  std::string text = "mcmd=spawn\nnprocs=" + std::to_string(command.processes) + "\nexecname=" + command.program +
                     "\ntotspawns=" + std::to_string(request.commands.size()) +
                     "\nspawnssofar=" + std::to_string(number) + "\n";
  for (std::size_t i = 0; i < command.arguments.size(); ++i) {
    text += "arg" + std::to_string(i + 1) + "=" + command.arguments[i] + "\n";
  }
  text += "argcnt=" + std::to_string(command.arguments.size()) + "\n";
  const auto add_pairs = [&text](const std::string& kind, const auto& pairs) {
    text += kind + "_num=" + std::to_string(pairs.size()) + "\n";
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      text += kind + "_key_" + std::to_string(i) + "=" + pairs[i].first + "\n";
      text += kind + "_val_" + std::to_string(i) + "=" + pairs[i].second + "\n";
    }
  };
  add_pairs("preput", request.preput);
  add_pairs("info", command.info);
  // send_line() adds the newline.
  return text + "endcmd";
}

// A list of decimal numbers with commas; a part that is not a number ends it.
template <typename Number>
std::vector<Number> numbers_of(std::string_view list) {
  std::vector<Number> numbers;
  Number number = 0;
  while (!list.empty() && parse_number(list.substr(0, list.find(',')), number)) {
    numbers.push_back(number);
    list.remove_prefix(std::min(list.size(), std::min(list.find(','), list.size() - 1) + 1));
  }
  return numbers;
}

// A line has a field's name and its value. The launcher ends a job whose lines are longer than its bound.
constexpr std::size_t kMaxSpawnValue = kMaxPmiLineBytes - 64;

// The reason why the launch protocol cannot carry a text; empty: it can. A control character would begin another line.
std::string why_no_line(std::string_view text) {
  const bool has_control =
      std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (has_control) return "a control character (a newline, a tab)";
  return text.size() > kMaxSpawnValue ? "more than " + std::to_string(kMaxSpawnValue) + " bytes" : "";
}

Status check_lines(const SpawnLines& request) {
  if (request.commands.size() > kMaxSpawnCommands) {
    return Status::error(std::to_string(request.commands.size()) + " commands are more than the " +
                         std::to_string(kMaxSpawnCommands) + " of a request; start them by several calls");
  }
  for (const SpawnLines::Command& command : request.commands) {
    std::string why = why_no_line(command.program);
    const auto check = [&why](std::string_view text) {
      if (why.empty()) why = why_no_line(text);
    };
    std::ranges::for_each(command.arguments, check);
    for (const auto& [key, value] : command.info) {
      check(key);
      check(value);
    }
    if (!why.empty()) {
      return Status::error("the command " + command.program.substr(0, 80) + " has " + why +
                           " in its name, an argument or an info value, which the launch protocol cannot carry; pass "
                           "it by a file");
    }
  }
  return {};
}

}  // namespace

Status PmiClient::spawn(const SpawnLines& request, Spawned& started) {
  started = {};
  if (Status status = check_lines(request); !status.ok()) return status;
  if (Status status = connect_once(); !status.ok()) return status;
  PmiMessage answer;
  // The launcher answers the last block only.
  for (std::size_t number = 1; number < request.commands.size(); ++number) {
    if (Status status = send_line(spawn_block(request, number)); !status.ok()) return status;
  }
  Status status = exchange(spawn_block(request, request.commands.size()), "spawn_result", answer);
  if (!status.ok()) return status;
  started.codes = numbers_of<int>(answer.text("errcodes"));
  started.places = numbers_of<std::uint32_t>(answer.text("places"));
  started.may_try_again = answer.text("again") == "1";
  int rc = 0;
  if (!answer.number("rc", rc) || rc == 0) return {};
  return Status::error(answer.text("msg", "the launcher started none, and gave no reason"));
}

Status PmiClient::kill(const std::vector<std::uint32_t>& places) {
  if (Status status = connect_once(); !status.ok()) return status;
  std::string request = "cmd=margay_kill places=";
  for (const std::uint32_t place : places) request += (request.back() == '=' ? "" : ",") + std::to_string(place);
  PmiMessage answer;
  if (Status status = exchange(request, "margay_kill_result", answer); !status.ok()) return status;
  return check_rc(answer, "ending the processes of places " + request.substr(request.rfind('=') + 1));
}

Status PmiClient::finalize() {
  if (!connected_ || finalized_) return {};
  // Set before the exchange, so that a failed sign-off is not repeated.
  finalized_ = true;
  PmiMessage answer;
  return exchange("cmd=finalize", "finalize_ack", answer);
}

void PmiClient::abort(int code, std::string_view message) {
  std::string line = "cmd=abort exitcode=" + std::to_string(code);
  if (!message.empty()) line += " error_msg=" + std::string(message.substr(0, 200));
  for (char& c : line) {
    // A newline in a message would begin another request.
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  // A launcher that has ended needs no notification.
  static_cast<void>(send_line(line).ok());
}

void PmiClient::refuse_second_program(int code) {
  static_cast<void>(send_line("cmd=abort exitcode=" + std::to_string(code) + " second_program=1").ok());
}

}  // namespace margay::sim
