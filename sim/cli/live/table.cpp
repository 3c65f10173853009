#include "sim/cli/live/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace margay::sim {

namespace {

double value(const RankLook& rank, SortKey key) {
  const RankLook::Rates rates = rank.rates.value_or(RankLook::Rates{});
  switch (key) {
    case SortKey::kRank:
      return -static_cast<double>(rank.rank);
    case SortKey::kSince:
      return rank.since_s.value_or(-1);
    case SortKey::kProcessor:
      return rates.processor;
    case SortKey::kCalls:
      return rates.calls;
    case SortKey::kMessages:
      return rates.messages;
    case SortKey::kBytes:
      return rates.bytes;
    case SortKey::kPosted:
      return static_cast<double>(rank.posted_receives);
    case SortKey::kUnexpected:
      return static_cast<double>(rank.unexpected.messages);
    case SortKey::kHeap:
      return static_cast<double>(rank.unexpected.bytes);
  }
  return 0;
}

std::vector<std::size_t> order_of(const std::vector<RankLook>& ranks, SortKey key) {
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t one, std::size_t other) { return value(ranks[one], key) > value(ranks[other], key); });
  return order;
}

std::string number_of(std::uint64_t count) {
  return short_number(static_cast<double>(count));
}

constexpr std::string_view kColumns =
    "{:>5} {:>4} {:>8} {:<9} {:<22} {:>7} {:>5} {:>7} {:>7} {:>7} {:>6} {:>6} {:>6} {:>7} {:>7} {:>7} {:>7}  {}";

std::string head_line() {
  return fmt::format(fmt::runtime(kColumns), "rank", "node", "pid", "state", "call", "since s", "cpu%", "calls/s",
                     "msgs/s", "bytes/s", "posted", "unexp", "heap", "shm", "bytes", "tcp", "bytes", "");
}

std::string line_of(const RankLook& rank) {
  const auto rate = [&](double RankLook::Rates::*which) {
    return rank.rates ? short_number((*rank.rates).*which) : std::string("-");
  };
  const bool begun = rank.doing != Doing::kNotBegun && rank.doing != Doing::kUnknown;
  const auto told = [begun](std::uint64_t count) { return begun ? number_of(count) : std::string("-"); };
  const auto& sent = rank.sent;
  const BoardCount& shm = sent[static_cast<std::size_t>(CountedWire::kShm)];
  const BoardCount& tcp = sent[static_cast<std::size_t>(CountedWire::kTcp)];
  const std::string since =
      !rank.since_s ? "-" : fmt::format("{}{}", rank.watched ? ">" : "", short_time(*rank.since_s));
  std::string line = fmt::format(
      fmt::runtime(kColumns), rank.rank, rank.node, rank.pid == 0 ? "-" : std::to_string(rank.pid), name(rank.doing),
      rank.call.empty() ? "-" : rank.call, since, rank.rates ? fmt::format("{:.0f}", rank.rates->processor * 100) : "-",
      rate(&RankLook::Rates::calls), rate(&RankLook::Rates::messages), rate(&RankLook::Rates::bytes),
      told(rank.posted_receives), told(rank.unexpected.messages), told(rank.unexpected.bytes), told(shm.messages),
      told(shm.bytes), told(tcp.messages), told(tcp.bytes), rank.waits_for);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string stall_line(const JobLook& job) {
  const std::string cycle = job.cycle.empty() ? "" : "; cycle: " + job.cycle;
  if (job.stall == BoardStall::kDeadlock) {
    return "deadlock: all ranks wait for messages, none is under way and nobody will send one" + cycle;
  }
  return "no rank makes progress, all of them wait" + cycle;
}

}  // namespace

std::span<const SortWord> sort_words() {
  static constexpr std::array<SortWord, 9> kWords{{{SortKey::kRank, 'r', "rank", "[r]ank"},
                                                   {SortKey::kSince, 's', "since", "[s]ince"},
                                                   {SortKey::kProcessor, 'c', "cpu", "[c]pu"},
                                                   {SortKey::kCalls, 'l', "calls", "cal[l]s"},
                                                   {SortKey::kMessages, 'm', "messages", "[m]sgs"},
                                                   {SortKey::kBytes, 'b', "bytes", "[b]ytes"},
                                                   {SortKey::kPosted, 'p', "posted", "[p]osted"},
                                                   {SortKey::kUnexpected, 'u', "unexpected", "[u]nexp"},
                                                   {SortKey::kHeap, 'h', "heap", "[h]eap"}}};
  return kWords;
}

std::string short_number(double number) {
  constexpr double kThousand = 1000;
  constexpr double kPlain = 9999.5;
  if (number < kPlain) return fmt::format("{:.0f}", number);
  const char* unit = "kMGTPE";
  number /= kThousand;
  while (number >= kThousand - 0.5 && unit[1] != '\0') {
    number /= kThousand;
    ++unit;
  }
  return number < 99.95 ? fmt::format("{:.1f}{}", number, *unit) : fmt::format("{:.0f}{}", number, *unit);
}

std::string short_time(double seconds) {
  constexpr double kTenSeconds = 9.95;
  constexpr long kMinute = 60;
  constexpr long kHour = 3600;
  if (seconds < kTenSeconds) return fmt::format("{:.1f}", seconds);
  const long whole = std::lround(std::min(seconds, 1e9));
  if (whole < kMinute) return std::to_string(whole);
  if (whole < kHour) return fmt::format("{}m{:02}", whole / kMinute, whole % kMinute);
  return fmt::format("{}h{:02}", whole / kHour, whole % kHour / kMinute);
}

std::vector<std::string> table_of(const JobLook& job, SortKey key, std::size_t& head_at) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("job {}: {} rank{} on {} node{}, launcher {}, {}  {}", job.name, job.ranks.size(),
                              job.ranks.size() == 1 ? "" : "s", job.nodes, job.nodes == 1 ? "" : "s", job.launcher,
                              job.ended    ? "has ended"
                              : job.runs_s ? "for " + short_time(*job.runs_s) + " s"
                                           : "since an unknown time",
                              job.command));
  if (job.stall != BoardStall::kNone) lines.push_back(stall_line(job));
  head_at = lines.size();
  lines.push_back(head_line());
  for (const std::size_t at : order_of(job.ranks, key)) lines.push_back(line_of(job.ranks[at]));
  return lines;
}

}  // namespace margay::sim
