#include "sim/boot/pmi_join.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string_view>

#include "sim/base/processors.hpp"
#include "sim/base/random.hpp"
#include "sim/boot/job_rates.hpp"
#include "sim/boot/node_segment.hpp"
#include "sim/boot/parse_number.hpp"
#include "sim/boot/place.hpp"
#include "sim/boot/pmi_client.hpp"

namespace margay::sim {
namespace {

using Cookie = std::array<std::byte, 16>;
constexpr std::uint64_t kCookieRoomBytes = 4096;  // behind the segment, a page of its own

struct Node {
  std::uint32_t lowest_rank = 0;
  std::uint32_t ranks = 0;
};

std::map<std::uint32_t, Node> nodes_of(const Job& job) {
  std::map<std::uint32_t, Node> nodes;
  for (std::uint32_t rank = 0; rank < job.size; ++rank) {
    auto [it, fresh] = nodes.try_emplace(job.node_of_rank[rank], Node{rank, 0});
    ++it->second.ranks;
  }
  return nodes;
}

SharedTable::Numbers each_alone(const Job& job) {
  SharedTable::Numbers nodes(job.size);
  std::iota(nodes.begin(), nodes.end(), 0U);
  return nodes;
}

Status read_mapping(Job& job) {
  std::string mapping;
  bool found = false;
  if (Status status = job.pmi->lookup("PMI_process_mapping", mapping, found); !status.ok()) return status;
  SharedTable::Numbers nodes;
  // Same-node is never guessed: without a mapping everybody is alone.
  if (!found || !parse_process_mapping(mapping, job.size, nodes).ok()) nodes = each_alone(job);
  job.node_of_rank = std::move(nodes);
  return {};
}

Status put_identity(Job& job) {
  job.job_id = random_u64();
  fill_random(job.secret);
  std::uint32_t most = 0;  // on one node
  const std::map<std::uint32_t, Node> nodes = nodes_of(job);
  for (const auto& [number, node] : nodes) most = std::max(most, node.ranks);
  const ProcessorShare share = processor_share();
  job.crowded = are_crowded(job.options.text("wait", "auto"), most, share);
  // The others' nodes are taken to be like this one.
  const auto hundredths = static_cast<std::uint64_t>(share.processors * 100) * nodes.size();
  job.processors = static_cast<double>(hundredths) / 100;
  if (Status status = take_rates(job); !status.ok()) return status;
  const std::string rates = to_hex(std::as_bytes(std::span(job.rates)));  // a value has neither spaces nor '='
  return job.pmi->put("margay-job", std::to_string(job.job_id) + (job.crowded ? ":1:" : ":0:") +
                                        std::to_string(hundredths) + ":" + to_hex(job.secret) +
                                        (job.rates_given ? ":1:" : ":0:") + rates);
}

// What put_identity put. false: it did not.
bool read_identity(std::string_view text, Job& job) {
  // The job's number, whether it is crowded, hundredths of processors, the secret, whether rates were given, the rates.
  std::array<std::string_view, 6> words;
  for (std::string_view& word : words) {
    const std::size_t end = text.find(':');
    if ((end == std::string_view::npos) != (&word == &words.back())) return false;
    word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  const auto is_flag = [](std::string_view word) { return word == "0" || word == "1"; };
  std::uint64_t hundredths = 0;
  if (!is_flag(words[1]) || !is_flag(words[4]) || words[5].size() > 2 * kRatesTextMax) return false;
  if (!parse_number(words[0], job.job_id) || !parse_number(words[2], hundredths)) return false;
  job.crowded = words[1] == "1";
  job.processors = static_cast<double>(hundredths) / 100;
  job.rates_given = words[4] == "1";
  job.rates.resize(words[5].size() / 2);
  return from_hex(words[3], job.secret) && from_hex(words[5], std::as_writable_bytes(std::span(job.rates)));
}

Status get_identity(Job& job) {
  std::string text;
  if (Status status = job.pmi->get("margay-job", text); !status.ok()) {
    return Status::error("rank 0 of this job does not use the same margay: " + status.sentence());
  }
  return read_identity(text, job) ? Status() : Status::error("the job's identity, as PMI gives it, is malformed");
}

// Makes the segment and tells where it is. A refusal is told too, as "none": the node is then taken apart by all alike.
Status offer_segment(Job& job, SegmentSizes sizes) {
  SegmentRequest request;
  for (std::uint64_t* bytes : {&sizes.sparse, &sizes.allocated, &sizes.least}) *bytes += kCookieRoomBytes;
  request.sizes = sizes;
  request.inheritable = false;
  const std::string key = "margay-segment-" + std::to_string(job.rank);
  if (!create_segment(request, job.node_segment_fd).ok()) return job.pmi->put(key, "none");
  Cookie cookie;
  fill_random(cookie);
  job.node_segment_bytes = bytes_of_segment(job.node_segment_fd) - kCookieRoomBytes;
  if (::pwrite(job.node_segment_fd, cookie.data(), cookie.size(), static_cast<off_t>(job.node_segment_bytes)) !=
      static_cast<ssize_t>(cookie.size())) {
    return job.pmi->put(key, "none");
  }
  return job.pmi->put(key,
                      std::to_string(::getpid()) + ":" + std::to_string(job.node_segment_fd) + ":" + to_hex(cookie));
}

// `bytes`: of the segment before it.
bool holds_cookie(int descriptor, const SegmentSizes& sizes, const Cookie& expected, std::uint64_t& bytes) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return false;
  bytes = static_cast<std::uint64_t>(info.st_size) - kCookieRoomBytes;
  if (bytes != sizes.sparse && bytes != sizes.allocated && bytes != sizes.least) return false;
  Cookie found;
  return ::pread(descriptor, found.data(), found.size(), static_cast<off_t>(bytes)) ==
             static_cast<ssize_t>(found.size()) &&
         found == expected;
}

// -1 when this process cannot open it or it is not the one that was offered.
int open_offer(std::string_view offer, const SegmentSizes& sizes, std::uint64_t& bytes) {
  const std::size_t first = offer.find(':');
  const std::size_t second = first == std::string_view::npos ? first : offer.find(':', first + 1);
  int pid = 0;
  int descriptor = 0;
  Cookie cookie;
  if (second == std::string_view::npos || !parse_number(offer.substr(0, first), pid) ||
      !parse_number(offer.substr(first + 1, second - first - 1), descriptor) ||
      !from_hex(offer.substr(second + 1), cookie)) {
    return -1;
  }
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(descriptor);
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (opened < 0) return -1;
  if (holds_cookie(opened, sizes, cookie, bytes)) return opened;
  ::close(opened);
  return -1;
}

Status open_and_tell(Job& job, const Node& node, const SegmentSizes& sizes) {
  if (job.rank != node.lowest_rank) {
    std::string offer;
    Status status = job.pmi->get("margay-segment-" + std::to_string(node.lowest_rank), offer);
    if (!status.ok()) return status;
    job.node_segment_fd = open_offer(offer, sizes, job.node_segment_bytes);
  }
  const ProcessIdentity me = own_process();
  return job.pmi->put("margay-open-" + std::to_string(job.rank),
                      job.node_segment_fd >= 0 ? std::to_string(me.pid) + ":" + std::to_string(me.start_ticks) : "no");
}

// What open_and_tell said of `rank`; false: it could not open the segment.
Status get_opened(const Job& job, std::uint32_t rank, ProcessIdentity& process, bool& opened) {
  std::string text;
  if (Status status = job.pmi->get("margay-open-" + std::to_string(rank), text); !status.ok()) return status;
  const std::string_view words(text);
  const std::size_t colon = words.find(':');
  opened = colon != std::string_view::npos && parse_number(words.substr(0, colon), process.pid) &&
           parse_number(words.substr(colon + 1), process.start_ticks);
  return {};
}

// Renumbers the nodes: those that share memory stay together, the ranks of the others stand alone.
Status settle_nodes(Job& job, const std::map<std::uint32_t, Node>& nodes) {
  std::map<std::uint32_t, bool> is_shared;
  for (const auto& [node, who] : nodes) is_shared[node] = who.ranks > 1;
  for (std::uint32_t rank = 0; rank < job.size; ++rank) {
    bool& shared = is_shared[job.node_of_rank[rank]];
    if (!shared) continue;
    ProcessIdentity process;
    if (Status status = get_opened(job, rank, process, shared); !status.ok()) return status;
    if (job.node_of_rank[rank] == job.node_of_rank[job.rank]) job.node_processes.push_back(process);
  }
  const bool mine = is_shared[job.node_of_rank[job.rank]];
  std::map<std::uint32_t, std::uint32_t> renumbered;
  std::uint32_t next = 0;
  SharedTable::Numbers numbers = job.node_of_rank.numbers();
  for (std::uint32_t& node : numbers) {
    if (!is_shared[node]) {
      node = next++;
    } else {
      const auto [it, fresh] = renumbered.try_emplace(node, next);
      if (fresh) ++next;
      node = it->second;
    }
  }
  job.node_of_rank = std::move(numbers);
  job.node_count = next;
  if (!mine) job.node_processes.clear();
  if (!mine && job.node_segment_fd >= 0) {
    ::close(job.node_segment_fd);
    job.node_segment_fd = -1;
    job.node_segment_bytes = 0;
  }
  return {};
}

std::string program_key(std::uint32_t rank) {
  return "margay-program-" + std::to_string(rank);
}

Status get_program(Job& job, std::uint32_t rank, std::uint32_t& appnum) {
  std::string text;
  if (Status status = job.pmi->get(program_key(rank), text); !status.ok()) return status;
  return parse_number(std::string_view(text), appnum)
             ? Status()
             : Status::error("rank " + std::to_string(rank) + "'s program, as PMI gives it, is not a number");
}

// Programs come in the order of the ranks: where the first and the last rank run the same one, all do.
Status count_program(Job& job) {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  Status status = get_program(job, 0, first);
  if (status.ok()) status = get_program(job, job.size - 1, last);
  if (!status.ok() || first == last) return status;
  for (std::uint32_t rank = 0; rank < job.size; ++rank) {
    std::uint32_t appnum = 0;
    if (status = get_program(job, rank, appnum); !status.ok()) return status;
    job.program_ranks += appnum == job.appnum ? 1 : 0;
  }
  return {};
}

// A program that was in this rank's place before has left its keys with the launcher.
Status refuse_second(Job& job) {
  std::string program;
  bool found = false;
  if (Status status = job.pmi->lookup(program_key(job.rank), program, found); !status.ok() || !found) return status;
  abort_job(job, 1, place_is_taken(0).sentence());
}

void stand_alone(Job& job) {
  job.node_of_rank = each_alone(job);
  job.node_count = job.size;
}

}  // namespace

Status join_through_pmi(Job& job, SegmentSizesOf segment_sizes) {
  if (Status status = job.pmi->init(); !status.ok()) return status;
  if (Status status = refuse_second(job); !status.ok()) return status;
  if (Status status = job.pmi->appnum(job.appnum); !status.ok()) return status;
  if (Status status = job.pmi->universe_size(job.universe_size); !status.ok()) return status;
  if (Status status = read_mapping(job); !status.ok()) return status;
  if (Status status = job.pmi->put(program_key(job.rank), std::to_string(job.appnum)); !status.ok()) return status;
  if (job.rank == 0) {
    if (Status status = put_identity(job); !status.ok()) return status;
  }
  const std::map<std::uint32_t, Node> nodes = nodes_of(job);
  const Node node = nodes.at(job.node_of_rank[job.rank]);
  const bool shares = node.ranks > 1 && segment_sizes != nullptr;
  const SegmentSizes sizes = shares ? segment_sizes(node.ranks) : SegmentSizes{};
  if (shares && job.rank == node.lowest_rank) {
    if (Status status = offer_segment(job, sizes); !status.ok()) return status;
  }
  if (Status status = job.pmi->barrier(); !status.ok()) return status;
  if (job.rank != 0) {
    if (Status status = get_identity(job); !status.ok()) return status;
  }
  if (Status status = count_program(job); !status.ok()) return status;
  if (segment_sizes == nullptr || nodes.size() == job.size) {
    stand_alone(job);
    return {};
  }
  if (shares) {
    if (Status status = open_and_tell(job, node, sizes); !status.ok()) return status;
  }
  if (Status status = job.pmi->barrier(); !status.ok()) return status;
  if (Status status = settle_nodes(job, nodes); !status.ok()) return status;
  return {};
}

}  // namespace margay::sim
