#include "command/run/pmi/spawn_order.hpp"

#include <algorithm>
#include <utility>

#include "sim/boot/parse.hpp"
#include "sim/boot/pmi_message.hpp"

namespace margay::command {
namespace {

using portals::Status;

// A piece of a rank's line in an error message.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMostShown = 60;
  return "\"" + std::string(text.substr(0, kMostShown)) + (text.size() > kMostShown ? "...\"" : "\"");
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

template <typename Number>
std::string with_commas(const std::vector<Number>& numbers) {
  std::string text;
  for (const Number number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

}  // namespace

std::uint32_t SpawnOrder::processes() const {
  std::uint32_t sum = 0;
  for (const SpawnCommand& command : commands) sum += command.processes;
  return sum;
}

void SpawnReader::refuse(std::string error) {
  if (error_.empty()) error_ = std::move(error);
}

SpawnReader::Step SpawnReader::take_line(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (!in_block_) {
    begin_block();
    return Step::more;
  }
  if (line == "endcmd") {
    end_block();
    // After an error in the counts the number of blocks is unknown, so the order ends here.
    const bool last = total_ < 0 || so_far_ < 0 || so_far_ >= total_;
    if (last) blocks_ = 0;
    return last ? Step::whole : Step::more;
  }
  if (line == "mcmd=spawn") {
    // The block before has no end, so its fields belong to a request that nobody completes.
    refuse("the spawn request begins again before its endcmd");
    begin_block();
    return Step::more;
  }
  bytes_ += line.size();
  if (bytes_ > kMaxSpawnBytes) {
    refuse("the spawn request is longer than " + std::to_string(kMaxSpawnBytes) + " bytes");
    return Step::more;
  }
  const std::size_t equals = line.find('=');
  if (has_control(line)) {
    refuse("a line of the spawn request has a control character");
  } else if (equals == std::string_view::npos || equals == 0) {
    refuse("the spawn request has the line " + quoted(line) + ", which is not key=value");
  } else {
    take_field(line.substr(0, equals), line.substr(equals + 1));
  }
  return Step::more;
}

void SpawnReader::begin_block() {
  in_block_ = true;
  command_ = {};
  info_ = {"info", {}, -1};
  preput_ = {"preput", {}, -1};
  processes_ = arguments_ = total_ = so_far_ = -1;
}

bool SpawnReader::take_number(std::string_view key, std::string_view value, std::uint32_t most, std::int64_t& out) {
  std::uint32_t number = 0;
  // parse_number() accepts no sign, and nothing after the digits.
  if (sim::parse_number(value, number) && number <= most) {
    out = number;
    return true;
  }
  refuse("the spawn request has " + std::string(key.substr(0, 40)) + "=" + quoted(value) +
         ", which is not a number from 0 to " + std::to_string(most));
  return false;
}

void SpawnReader::take_field(std::string_view key, std::string_view value) {
  if (key == "nprocs") {
    static_cast<void>(take_number(key, value, kMaxSpawnProcesses, processes_));
  } else if (key == "execname") {
    command_.program = value;
  } else if (key == "totspawns") {
    static_cast<void>(take_number(key, value, kMaxSpawnCommands, total_));
  } else if (key == "spawnssofar") {
    static_cast<void>(take_number(key, value, kMaxSpawnCommands, so_far_));
  } else if (key == "argcnt") {
    static_cast<void>(take_number(key, value, kMaxSpawnArguments, arguments_));
  } else if (take_pair(info_, key, value) || take_pair(preput_, key, value)) {
    return;
  } else if (std::string_view number = key; take_prefix(number, "arg")) {
    take_argument(number, value);
  }
}

void SpawnReader::take_argument(std::string_view number, std::string_view value) {
  std::uint32_t at = 0;
  // Another field whose name begins with "arg".
  if (!sim::parse_number(number, at)) return;
  if (at != command_.arguments.size() + 1 || at > kMaxSpawnArguments) {
    return refuse("the spawn request has arg" + std::to_string(at) + " where arg" +
                  std::to_string(command_.arguments.size() + 1) + " must follow, of at most " +
                  std::to_string(kMaxSpawnArguments));
  }
  command_.arguments.emplace_back(value);
}

bool SpawnReader::take_pair(NumberedPairs& pairs, std::string_view key, std::string_view value) {
  std::string_view rest = key;
  if (!take_prefix(rest, pairs.name) || !take_prefix(rest, "_")) return false;
  if (rest == "num") {
    static_cast<void>(take_number(key, value, kMaxSpawnPairs, pairs.announced));
    return true;
  }
  const bool is_key = take_prefix(rest, "key_");
  if (!is_key && !take_prefix(rest, "val_")) return false;
  std::uint32_t at = 0;
  if (!sim::parse_number(rest, at) || at >= kMaxSpawnPairs) {
    refuse("the spawn request has the field " + quoted(key) + "; its number must be from 0 to " +
           std::to_string(kMaxSpawnPairs - 1));
    return true;
  }
  if (at >= pairs.pairs.size()) pairs.pairs.resize(at + 1);
  (is_key ? pairs.pairs[at].first : pairs.pairs[at].second) = value;
  return true;
}

void SpawnReader::check_pairs(const NumberedPairs& pairs) {
  const std::size_t count = pairs.pairs.size();
  if (pairs.announced >= 0 && static_cast<std::size_t>(pairs.announced) != count) {
    refuse("the spawn request announces " + std::to_string(pairs.announced) + " pairs of " + std::string(pairs.name) +
           ", and has " + std::to_string(count));
  }
  if (std::ranges::any_of(pairs.pairs, [](const auto& pair) { return pair.first.empty(); })) {
    refuse("the spawn request has a value of " + std::string(pairs.name) + " without its key");
  }
}

void SpawnReader::end_block() {
  in_block_ = false;
  if (processes_ < 0) refuse("the spawn request lacks nprocs");
  if (command_.program.empty()) refuse("the spawn request lacks the program's name (execname)");
  if (arguments_ >= 0 && static_cast<std::size_t>(arguments_) != command_.arguments.size()) {
    refuse("the spawn request announces " + std::to_string(arguments_) + " arguments, and has " +
           std::to_string(command_.arguments.size()));
  }
  check_pairs(info_);
  check_pairs(preput_);
  // Each block has both, and without them the request's end is unknown.
  if (total_ < 0) refuse("the spawn request lacks totspawns");
  if (so_far_ < 0) refuse("the spawn request lacks spawnssofar");
  ++blocks_;
  if (total_ < 1 || so_far_ != blocks_ || so_far_ > total_) {
    refuse("the spawn request has block " + std::to_string(so_far_) + " of " + std::to_string(total_) +
           " where block " + std::to_string(blocks_) + " must follow");
    // The client's counts are wrong, so no further block is awaited.
    total_ = -1;
  }
  command_.processes = static_cast<std::uint32_t>(std::max<std::int64_t>(processes_, 0));
  command_.info = std::move(info_.pairs);
  // The same keys come with each block.
  if (order_.preput.empty()) order_.preput = std::move(preput_.pairs);
  order_.commands.push_back(std::move(command_));
  if (order_.processes() > kMaxSpawnProcesses) {
    refuse("the spawn request asks for more than " + std::to_string(kMaxSpawnProcesses) + " processes");
  }
}

SpawnOrder SpawnReader::take_order() {
  return std::exchange(order_, SpawnOrder());
}

namespace {

// A number with an optional '-'.
bool parse_signed(std::string_view text, std::int64_t& out) {
  const bool negative = take_prefix(text, "-");
  std::uint32_t digits = 0;
  if (!sim::parse_number(text, digits)) return false;
  out = negative ? -std::int64_t{digits} : std::int64_t{digits};
  return true;
}

// One part of the value of "soft".
struct Triplet {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t stride = 1;

  [[nodiscard]] bool has(std::int64_t number) const {
    const bool inside = stride > 0 ? begin <= number && number <= end : end <= number && number <= begin;
    return inside && (number - begin) % stride == 0;
  }
};

// The stride leads from the begin to the end; without one it is 1. A part without numbers, such as 5:2, is valid.
bool parse_triplet(std::string_view part, Triplet& out) {
  std::int64_t numbers[3] = {0, 0, 1};
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    const std::size_t colon = part.find(':');
    more = colon != std::string_view::npos;
    if (count == 3 || !parse_signed(part.substr(0, colon), numbers[count])) return false;
    part.remove_prefix(more ? colon + 1 : part.size());
  }
  if (count == 1) numbers[1] = numbers[0];
  out = {numbers[0], numbers[1], numbers[2]};
  if (count < 3) return true;
  return out.stride != 0 && (out.begin == out.end || (out.begin < out.end) == (out.stride > 0));
}

}  // namespace

Status parse_soft(std::string_view text, std::uint32_t most, std::vector<bool>& allowed) {
  allowed.assign(std::size_t{most} + 1, false);
  const std::string whole(text);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    Triplet triplet;
    if (!parse_triplet(part, triplet)) {
      return Status::error("info key soft=" + quoted(whole) +
                           ": each part must be a number, begin:end or begin:end:stride, with a stride that leads from "
                           "the begin to the end");
    }
    for (std::uint32_t number = 0; number <= most; ++number) {
      if (triplet.has(number)) allowed[number] = true;
    }
  }
  return {};
}

std::string spawn_answer(const std::vector<int>& codes, const std::vector<std::uint32_t>& places,
                         std::string_view error, bool again) {
  std::string line = std::string("cmd=spawn_result rc=") + (error.empty() ? "0" : "-1");
  line += " errcodes=" + (codes.empty() ? std::string("-1") : with_commas(codes));
  if (!places.empty()) line += " places=" + with_commas(places);
  if (error.empty()) return line;
  if (again) line += " again=1";
  std::string text(error.substr(0, sim::kMaxPmiValue));
  // A newline would end the line, and a word with '=' would begin a field.
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    if (c == '=') c = ':';
  }
  return line + " msg=" + text;
}

}  // namespace margay::command
