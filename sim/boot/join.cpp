#include "sim/boot/join.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "portals/base/assert.hpp"
#include "sim/base/process_identity.hpp"
#include "sim/base/processors.hpp"
#include "sim/base/random.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/job_rates.hpp"
#include "sim/boot/node_segment.hpp"
#include "sim/boot/parse.hpp"
#include "sim/boot/pmi_client.hpp"
#include "sim/boot/thread_ranks.hpp"
#include "sim/shm/published.hpp"

namespace margay::sim {

namespace {

// Each rank's place belongs to one process for the whole job, because counters and channels must never pass to another
// program. A second process (`sh -c './a; ./b'`, two at once, a child forked before MPI_Init) is refused, and ends the
// job, because the first may be running, and a shell in between may hide the second one's status.

// The error of a second process in a rank's place. `holder`: its pid, 0 if not known.
Status second_process_error(std::int32_t holder) {
  const std::string who = holder == 0            ? "another process"
                          : holder == ::getpid() ? "this process"
                                                 : "process " + std::to_string(holder);
  return Status::error(who +
                       " has taken this rank's place before; a rank is one MPI program in one process: give each "
                       "program a `margay run` of its own");
}

// Takes the place under `margay run`, on the job board. Fails when a process has the place, or had it.
// `is_thread`: the rank is the calling thread.
Status claim_rank_on_board(const Board& board, std::uint32_t rank, bool is_thread) {
  BoardBlock& block = board.block(rank);
  if (const std::int32_t holder = claim_for_process(block.pid, ::getpid()); holder != 0)
    return second_process_error(holder);
  block.start_ticks = own_process().start_ticks;
  if (is_thread) block.thread = ::gettid();
  return {};
}

// Takes the place under another launcher, by a lock on the PMI connection, which all processes in the rank's place
// share. The lock vanishes with its holder, so it detects live processes only; an earlier program is detected by its
// keys at the launcher.
Status claim_rank_on_connection(int descriptor) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(descriptor, F_SETLK, &lock) == 0) return {};
  // A descriptor that cannot be locked detects no second process.
  if (errno != EAGAIN && errno != EACCES) return {};
  if (::fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) lock.l_pid = 0;
  return second_process_error(lock.l_pid > 0 ? lock.l_pid : 0);
}

using Cookie = std::array<std::byte, 16>;
// The cookie has a page of its own after the segment.
constexpr std::uint64_t kCookieRoomBytes = 4096;

struct Node {
  std::uint32_t lowest_rank = 0;
  std::uint32_t ranks = 0;
};

// The nodes of the job, by number.
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
  // A common node is never guessed: without a mapping each rank is alone.
  if (!found || !parse_process_mapping(mapping, job.size, nodes).ok()) nodes = each_alone(job);
  job.node_of_rank = std::move(nodes);
  return {};
}

// Makes rank 0's decisions for the whole job, and publishes them as one value.
Status put_identity(Job& job) {
  job.job_id = random_u64();
  fill_random(job.secret);
  std::uint32_t most = 0;  // on one node
  const std::map<std::uint32_t, Node> nodes = nodes_of(job);
  for (const auto& [number, node] : nodes) most = std::max(most, node.ranks);
  const ProcessorShare share = processor_share();
  job.crowded = are_crowded(job.options.text("wait", "auto"), most, share);
  // The other nodes are assumed to be like this one.
  const auto hundredths = static_cast<std::uint64_t>(share.processors * 100) * nodes.size();
  job.processors = static_cast<double>(hundredths) / 100;
  if (Status status = take_rates(job); !status.ok()) return status;
  // A PMI value has neither spaces nor '='.
  const std::string rates = to_hex(std::as_bytes(std::span(job.rates)));
  return job.pmi->put("margay-job", std::to_string(job.job_id) + (job.crowded ? ":1:" : ":0:") +
                                        std::to_string(hundredths) + ":" + to_hex(job.secret) +
                                        (job.rates_given ? ":1:" : ":0:") + rates);
}

// Parses the value of put_identity(); false: `text` does not have that form.
bool read_identity(std::string_view text, Job& job) {
  // Job number, crowded, hundredths of processors, secret, rates given, rates.
  std::array<std::string_view, 6> fields;
  for (std::string_view& field : fields) {
    const std::size_t end = text.find(':');
    if ((end == std::string_view::npos) != (&field == &fields.back())) return false;
    field = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  const auto is_flag = [](std::string_view field) { return field == "0" || field == "1"; };
  std::uint64_t hundredths = 0;
  if (!is_flag(fields[1]) || !is_flag(fields[4]) || fields[5].size() > 2 * kRatesTextMax) return false;
  if (!parse_number(fields[0], job.job_id) || !parse_number(fields[2], hundredths)) return false;
  job.crowded = fields[1] == "1";
  job.processors = static_cast<double>(hundredths) / 100;
  job.rates_given = fields[4] == "1";
  job.rates.resize(fields[5].size() / 2);
  return from_hex(fields[3], job.secret) && from_hex(fields[5], std::as_writable_bytes(std::span(job.rates)));
}

Status get_identity(Job& job) {
  std::string text;
  if (Status status = job.pmi->get("margay-job", text); !status.ok()) {
    return Status::error("rank 0 of this job does not use the same margay: " + status.sentence());
  }
  return read_identity(text, job) ? Status() : Status::error("the job's identity, as PMI gives it, is malformed");
}

// Makes the segment and publishes where the other ranks of the node find it. A failure is published too, as "none":
// then each rank of the node becomes a node of its own.
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

// Whether an opened file is the segment that was offered. `bytes`: the segment's size, before the cookie.
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

// Opens the segment that was offered; -1 when this process cannot open it, or it is another file.
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

// Opens the segment, unless this rank made it, and publishes this process's identity, or "no" if that failed.
Status open_and_announce(Job& job, const Node& node, const SegmentSizes& sizes) {
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

// Gets the result of open_and_announce() at `rank`. `opened` is false if that rank could not open the segment.
Status get_open_result(const Job& job, std::uint32_t rank, ProcessIdentity& process, bool& opened) {
  std::string text;
  if (Status status = job.pmi->get("margay-open-" + std::to_string(rank), text); !status.ok()) return status;
  const std::string_view view(text);
  const std::size_t colon = view.find(':');
  opened = colon != std::string_view::npos && parse_number(view.substr(0, colon), process.pid) &&
           parse_number(view.substr(colon + 1), process.start_ticks);
  return {};
}

// Renumbers the nodes: ranks that share memory stay together, all others become nodes of their own.
Status settle_nodes(Job& job, const std::map<std::uint32_t, Node>& nodes) {
  std::map<std::uint32_t, bool> is_shared;
  for (const auto& [node, who] : nodes) is_shared[node] = who.ranks > 1;
  for (std::uint32_t rank = 0; rank < job.size; ++rank) {
    bool& shared = is_shared[job.node_of_rank[rank]];
    if (!shared) continue;
    ProcessIdentity process;
    if (Status status = get_open_result(job, rank, process, shared); !status.ok()) return status;
    if (job.node_of_rank[rank] == job.node_of_rank[job.rank]) job.node_processes.push_back(process);
  }
  // All ranks compute the numbers from the same published values, so they agree.
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

// Programs are assigned in the order of the ranks, so if the first and the last rank run the same one, all do.
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

// Detects an earlier program in this rank's place, which has left its keys with the launcher.
Status refuse_second(Job& job) {
  std::string program;
  bool found = false;
  if (Status status = job.pmi->lookup(program_key(job.rank), program, found); !status.ok() || !found) return status;
  abort_job(job, 1, second_process_error(0).sentence());
}

void stand_alone(Job& job) {
  job.node_of_rank = each_alone(job);
  job.node_count = job.size;
}

// Fills in all fields of the job that come from PMI: identity, secret, processors, rates, programs, nodes, the node's
// segment and its processes. Collective over the job. Requires: rank, size and pmi are set.
//
// 1. Rank 0 puts the job's identity and secret; the lowest rank of each node makes the segment and puts its position:
//    process, descriptor, and a random cookie that is stored after the segment's last byte.
// 2. Barrier. The other ranks of the node open the segment through /proc and compare the cookie, because in another PID
//    namespace the process number may be another process's. Each puts its process's identity, or "no".
// 3. Barrier. A node on which any rank failed is dissolved: each of its ranks becomes a node of its own.
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
  // Without shared memory anywhere in the job the second barrier is not needed.
  if (segment_sizes == nullptr || nodes.size() == job.size) {
    stand_alone(job);
    return {};
  }
  if (shares) {
    if (Status status = open_and_announce(job, node, sizes); !status.ok()) return status;
  }
  if (Status status = job.pmi->barrier(); !status.ok()) return status;
  if (Status status = settle_nodes(job, nodes); !status.ok()) return status;
  return {};
}

// The exit status of a second program in a rank's place.
constexpr int kRefusedStatus = 1;

template <typename Integer>
Status number_from_environment(const char* name, Integer& out) {
  const char* text = std::getenv(name);
  if (text != nullptr && parse_number(std::string_view(text), out)) return {};
  return Status::error(
      std::string(name) + "=" + (text != nullptr ? text : "(not set)") +
      " is not the number that a launcher puts there; unset it, or start the program with `margay run`");
}

// Marks an inherited descriptor close-on-exec, so that programs started by this one do not inherit it. Fails if it is
// not open. `name`: the variable that has it.
Status keep_descriptor(const char* name, int out) {
  if (out < 0 || ::fcntl(out, F_SETFD, FD_CLOEXEC) != 0) {
    return Status::error(
        std::string(name) + "=" + std::to_string(out) +
        ": this descriptor of the launcher is not open here; a program between the launcher and this one " +
        "closed it, or this is a child of a rank (unset " + name + " to run it alone)");
  }
  return {};
}

// Takes an inherited descriptor, as keep_descriptor() does.
Status take_descriptor(const char* name, int& out) {
  if (Status status = number_from_environment(name, out); !status.ok()) return status;
  return keep_descriptor(name, out);
}

// Takes the connection of the rank that is this process's thread number `thread_rank`.
Status take_connection(std::uint32_t thread_rank, int& out) {
  constexpr const char* kName = "MARGAY_PMI_FDS";
  const char* const list = std::getenv(kName);
  std::string_view numbers(list != nullptr ? list : "");
  for (std::uint32_t before = 0; before < thread_rank && !numbers.empty(); ++before) {
    const std::size_t comma = numbers.find(',');
    numbers.remove_prefix(comma == std::string_view::npos ? numbers.size() : comma + 1);
  }
  if (!parse_number(numbers.substr(0, numbers.find(',')), out)) {
    return Status::error(std::string(kName) + "=" + (list != nullptr ? list : "(not set)") +
                         " has no descriptor for thread " + std::to_string(thread_rank) +
                         " of this process; start the program with `margay run --threads`");
  }
  return keep_descriptor(kName, out);
}

// The error of a program that begins MPI or portals outside of the threads that are its ranks.
Status refuse_shared_globals(std::uint32_t ranks) {
  return Status::error(
      "margay run --threads makes " + std::to_string(ranks) +
      " ranks of this process, which would share the program's global variables: run it without "
      "--threads; for libraries with an entry function, such as margay::rmi::run(), use that function");
}

// Ends a second program in a rank's place. It must not write to the job board, where the rank's block is the first
// program's, so it prints the reason itself and notifies the launcher through PMI.
[[noreturn]] void refuse_second_program(const Job& job, const Status& refusal) {
  static_cast<void>(std::fprintf(stderr, "margay: rank %u: %s\n", job.rank, refusal.sentence().c_str()));
  job.pmi->refuse_second_program(kRefusedStatus);
  static_cast<void>(std::fflush(nullptr));
  ::_exit(kRefusedStatus);
}

Status join_margay(Job& job, std::optional<std::uint32_t> thread_rank) {
  if (Status status = ranks_of_process(job.process_ranks); !status.ok()) return status;
  const bool is_thread = job.process_ranks > 1;
  if (is_thread && !thread_rank) return refuse_shared_globals(job.process_ranks);
  MARGAY_ASSERT(thread_rank.value_or(0) < job.process_ranks);
  if (Status status = take_descriptor("MARGAY_BOARD_FD", job.board_fd); !status.ok()) return status;
  if (Status status = number_from_environment("MARGAY_RANK", job.rank); !status.ok()) return status;
  // The variable has the first rank of the process.
  job.rank += thread_rank.value_or(0);
  Board board;
  if (Status status = Board::attach(job.board_fd, board); !status.ok()) return status;
  const BoardHeader& header = board.header();
  if (job.rank >= board.used()) {
    return Status::error("this is rank " + std::to_string(job.rank) + " by MARGAY_RANK, but the job has " +
                         std::to_string(board.used()) + " ranks");
  }
  int pmi_descriptor = -1;
  Status connected =
      is_thread ? take_connection(*thread_rank, pmi_descriptor) : take_descriptor("PMI_FD", pmi_descriptor);
  if (!connected.ok()) return connected;
  job.pmi = std::make_shared<PmiClient>(pmi_descriptor, job.rank, header.size);
  if (board.block(job.rank).pid == ::getpid() && board.block(job.rank).state == RankState::initialized) {
    return Status::error(std::string("this process is in the job already, on ") +
                         (board.block(job.rank).on_portals != 0 ? "margay::Program" : "MPI or a library") +
                         "; a program on margay::Program has all portals, and uses neither MPI nor libraries");
  }
  if (board.block(job.rank).pid == ::getpid()) {
    return Status::error("this process was in the job before, and left it; start one program on portals, or MPI, once");
  }
  if (Status status = claim_rank_on_board(board, job.rank, is_thread); !status.ok()) refuse_second_program(job, status);
  job.launcher = Launcher::margay;
  job.size = header.size;
  job.node_count = header.node_count;
  job.job_id = header.job_id;
  job.secret = header.secret;
  job.crowded = header.crowded != 0;
  job.processors = header.processor_hundredths / 100.0;
  job.rates.assign(header.rates.data(), ::strnlen(header.rates.data(), header.rates.size()));
  job.rates_given = header.rates_given != 0;
  job.node_of_rank = SharedTable::Numbers(board.node_of_rank(), board.node_of_rank() + header.size);
  job.nodes_are_emulated = true;
  job.universe_size = static_cast<int>(header.size);
  take_world(board, job);
  if (std::getenv("MARGAY_APPNUM") != nullptr) {
    if (Status status = number_from_environment("MARGAY_APPNUM", job.appnum); !status.ok()) return status;
    if (Status status = number_from_environment("MARGAY_PROGRAM_RANKS", job.program_ranks); !status.ok()) return status;
  }
  // Only checked and marked close-on-exec here: Findings::add_outside() reads its number from the options.
  if (std::getenv("MARGAY_FINDINGS_FD") != nullptr) {
    int findings_fd = -1;
    if (Status status = take_descriptor("MARGAY_FINDINGS_FD", findings_fd); !status.ok()) return status;
  }
  if (std::getenv("MARGAY_NODE_FD") != nullptr) {
    if (Status status = take_descriptor("MARGAY_NODE_FD", job.node_segment_fd); !status.ok()) return status;
    struct stat info {};
    if (::fstat(job.node_segment_fd, &info) != 0) return Status::error("the node's shared memory cannot be examined");
    job.node_segment_bytes = static_cast<std::uint64_t>(info.st_size);
  }
  return {};
}

Status join_foreign(Job& job, SegmentSizesOf segment_sizes) {
  int descriptor = -1;
  if (Status status = take_descriptor("PMI_FD", descriptor); !status.ok()) return status;
  if (Status status = number_from_environment("PMI_RANK", job.rank); !status.ok()) return status;
  if (Status status = number_from_environment("PMI_SIZE", job.size); !status.ok()) return status;
  if (job.size == 0 || job.size > kRanksMax || job.rank >= job.size) {
    return Status::error("PMI_RANK=" + std::to_string(job.rank) + " and PMI_SIZE=" + std::to_string(job.size) +
                         " do not fit together");
  }
  job.launcher = Launcher::pmi;
  job.pmi = std::make_shared<PmiClient>(descriptor, job.rank, job.size);
  if (Status status = claim_rank_on_connection(descriptor); !status.ok()) {
    abort_job(job, kRefusedStatus, status.sentence());
  }
  return join_through_pmi(job, segment_sizes);
}

// A job of one rank has an identity too, which its trace carries.
Status join_alone(Job& job) {
  job.job_id = random_u64();
  fill_random(job.secret);
  job.universe_size = 1;
  const ProcessorShare share = processor_share();
  job.crowded = are_crowded(job.options.text("wait", "auto"), 1, share);
  job.processors = share.processors;
  return take_rates(job);
}

// Finds this rank's position on its node, once node_of_rank is known.
void place_on_node(Job& job) {
  job.node = job.node_of_rank[job.rank];
  job.ranks_on_node = 0;
  job.local_rank = 0;
  for (std::uint32_t rank = 0; rank < job.size; ++rank) {
    if (job.node_of_rank[rank] != job.node) continue;
    if (rank < job.rank) ++job.local_rank;
    ++job.ranks_on_node;
  }
}

Status join_by_environment(Job& job, SegmentSizesOf segment_sizes, std::optional<std::uint32_t> thread_rank) {
  if (std::getenv("MARGAY_BOARD_FD") != nullptr) return join_margay(job, thread_rank);
  if (std::getenv("PMI_FD") != nullptr) return join_foreign(job, segment_sizes);
  if (Status status = refuse_foreign_launcher([](const char* name) -> const char* { return std::getenv(name); });
      !status.ok()) {
    return status;
  }
  return join_alone(job);
}

}  // namespace

Status join(Job& out, SegmentSizesOf segment_sizes, std::optional<std::uint32_t> thread_rank) {
  Job job;
  job.options = Options::from_environment(environ);
  if (Status status = job.options.check(); !status.ok()) return status;
  job.trace_dir = job.options.text("trace");
  job.tcp_interface = job.options.text("iface");
  if (Status status = join_by_environment(job, segment_sizes, thread_rank); !status.ok()) return status;
  place_on_node(job);
  // Under margay's launcher, the launcher has reported misspelt options.
  if (job.launcher != Launcher::margay && job.rank == 0) {
    for (const std::string& sentence : job.options.misspelt()) std::fprintf(stderr, "margay: %s\n", sentence.c_str());
  }
  out = std::move(job);
  return {};
}

namespace {

using portals::Status;

struct Sign {
  // The variable that has the number of processes; null: `mark` alone is the sign.
  const char* size_variable;
  // A variable that must be set, too; null: none.
  const char* mark;
  const char* launcher;
};

// Signs of launchers in the environment. The first one that fits is reported.
constexpr Sign kSigns[] = {
    {"OMPI_COMM_WORLD_SIZE", nullptr, "Open MPI's mpirun"},
    {"MV2_COMM_WORLD_SIZE", nullptr, "MVAPICH's launcher"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "Slurm's srun without PMI (try srun --mpi=pmi2)"},
    {"SLURM_NTASKS", "SLURM_PROCID", "Slurm's srun without PMI (try srun --mpi=pmi2)"},
    {"PMI_SIZE", nullptr, "a launcher that gave PMI_SIZE but no PMI_FD"},
    {"JSM_NAMESPACE_SIZE", nullptr, "IBM's jsrun"},
    {nullptr, "PMI_PORT", "a launcher that speaks PMI over a port (PMI_PORT)"},
    {nullptr, "PMIX_RANK", "a launcher that speaks PMIx only"},
    {nullptr, "PALS_RANKID", "Cray's PALS"},
    {nullptr, "ALPS_APP_PE", "Cray's ALPS"},
};

bool is_started_by(const Sign& sign, Environment environment) {
  if (sign.mark != nullptr && environment(sign.mark) == nullptr) return false;
  if (sign.size_variable == nullptr) return true;
  const char* text = environment(sign.size_variable);
  unsigned size = 0;
  return text != nullptr && parse_number(std::string_view(text), size) && size > 1;
}

}  // namespace

Status refuse_foreign_launcher(Environment environment) {
  if (environment("MARGAY_ALONE") != nullptr) return {};
  for (const Sign& sign : kSigns) {
    if (!is_started_by(sign, environment)) continue;
    const char* variable = sign.size_variable != nullptr ? sign.size_variable : sign.mark;
    return Status::error(std::string("this program uses margay's MPI, but was started by ") + sign.launcher + " (" +
                         variable + "=" + environment(variable) +
                         "), which margay cannot talk to; start it with `margay run` or MPICH's mpiexec, or set "
                         "MARGAY_ALONE=1 to run each process as a job of one rank");
  }
  return {};
}

}  // namespace margay::sim
