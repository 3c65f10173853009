#include "sim/boot/pmi_client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

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

Status PmiClient::lookup(std::string_view key, std::string& value, bool& found) {
  if (Status status = connect_once(); !status.ok()) return status;
  PmiMessage answer;
  const std::string request = "cmd=get kvsname=" + kvs_name_ + " key=" + std::string(key);
  if (Status status = exchange(request, "get_result", answer); !status.ok()) return status;
  int rc = 0;
  // The answer for a missing key also contains a value, so only `rc` shows that the key is missing.
  found = !answer.number("rc", rc) || rc == 0;
  if (found) value = answer.text("value");
  return {};
}

Status PmiClient::get(std::string_view key, std::string& value) {
  bool found = false;
  if (Status status = lookup(key, value, found); !status.ok()) return status;
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

Status PmiClient::get_card(std::uint32_t rank, std::string& card) {
  const std::string key = "card-" + std::to_string(rank);
  std::string value;
  if (Status status = get(key, value); !status.ok()) return status;
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
    if (Status status = get(key + "-" + std::to_string(i), value); !status.ok()) return status;
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

Status PmiClient::unpublish(std::string_view service) {
  PmiMessage answer;
  if (Status status = connect_once(); !status.ok()) return status;
  Status status = exchange("cmd=unpublish_name service=" + std::string(service), "unpublish_result", answer);
  if (!status.ok()) return status;
  return check_rc(answer, "unpublishing service " + std::string(service));
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
