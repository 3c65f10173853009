#include "command/run/process/job_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sim/base/clock.hpp"
#include "sim/base/process_identity.hpp"
#include "sim/base/random.hpp"
#include "sim/boot/findings.hpp"
#include "sim/boot/node_segment.hpp"
#include "sim/shm/published.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::command {
namespace {

using portals::Status;

sim::SegmentRequest request(const sim::SegmentSizes& sizes, const char* name) {
  sim::SegmentRequest wanted;
  wanted.sizes = sizes;
  wanted.name = name;
  // Each rank is given its own descriptors explicitly.
  wanted.inheritable = false;
  wanted.refuse_memfd = std::getenv("MARGAY_REFUSE_MEMFD") != nullptr;
  if (const char* directory = std::getenv("MARGAY_SHM_DIR"); directory != nullptr) wanted.directory = directory;
  return wanted;
}

}  // namespace

bool costs_addresses_only(const JobPlan& plan) {
  if (std::getenv("MARGAY_REFUSE_MEMFD") != nullptr) return false;
  std::uint64_t bytes = sim::Board::bytes_for(plan.places(), plan.ways);
  for (const std::uint32_t places : plan.places_of_node()) {
    if (places > sim::kShmRanksMax) return false;
    bytes = std::max(bytes, sim::shm_segment_bytes(places));
  }
  rlimit files{}, addresses{};
  if (::getrlimit(RLIMIT_FSIZE, &files) != 0 || files.rlim_cur < bytes) return false;
  if (::getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur != RLIM_INFINITY) return false;
  const int tried = ::memfd_create("margay-try", MFD_CLOEXEC);
  if (tried >= 0) ::close(tried);
  return tried >= 0;
}

JobMemory::~JobMemory() {
  for (int segment : segments_) {
    if (segment >= 0) ::close(segment);
  }
  if (findings_descriptor_ >= 0) ::close(findings_descriptor_);
  if (board_descriptor_ >= 0) ::close(board_descriptor_);
}

// Segments are created at full size here, so that a lack of memory is one error and not one for each rank.
Status JobMemory::create(const JobPlan& plan) {
  const sim::SegmentRequest for_board =
      request(sim::only_size(sim::Board::bytes_for(plan.places(), plan.ways)), "margay-board");
  if (Status status = sim::create_segment(for_board, board_descriptor_); !status.ok()) return status;
  if (Status status = sim::Board::create(board_descriptor_, plan.places(), board_, plan.ways); !status.ok()) {
    return status;
  }
  sim::BoardHeader& header = board_.header();
  header.node_count = plan.node_count;
  header.crowded = plan.crowded ? 1 : 0;
  header.processor_hundredths = static_cast<std::uint32_t>(plan.processors * 100);
  sim::set_text(header.rates, plan.rates);
  header.rates_given = plan.rates_given ? 1 : 0;
  // Distinguishes this job's traces and processes from other jobs'.
  header.job_id = sim::random_u64();
  // Ranks that connect over TCP prove with the secret that they belong to this job.
  sim::fill_random(header.secret);
  header.first_ranks = header.used = plan.size();
  std::copy(plan.node_of_place.begin(), plan.node_of_place.end(), board_.node_of_rank());
  for (std::uint32_t rank = 0; rank < plan.size(); ++rank) board_.place(rank) = {.world_rank = rank, .starts = 1};
  for (std::uint32_t ranks : plan.places_of_node()) {
    segments_.push_back(-1);
    // A rank alone on its node shares memory with no other rank.
    if (ranks < 2) continue;
    if (ranks > sim::kShmRanksMax) {
      return Status::error(std::to_string(ranks) + (plan.places() > plan.size() ? " places" : " ranks") +
                           " on one node; shared memory serves at most " + std::to_string(sim::kShmRanksMax) +
                           ": spread them with --nodes");
    }
    const sim::SegmentRequest for_node = request(sim::shm_segment_sizes(ranks), "margay-node");
    if (Status status = sim::create_segment(for_node, segments_.back()); !status.ok()) return status;
    header.segment_bytes = std::max(header.segment_bytes, sim::bytes_of_segment(segments_.back()));
  }
  const sim::ProcessIdentity launcher = sim::own_process();
  header.launcher_pid = launcher.pid;
  header.launcher_ticks = launcher.start_ticks;
  header.started_ns = sim::real_clock().now_ns();
  // The board is published last, so that a rank or `margay top` finds a complete board.
  board_.publish();
  const std::uint64_t id = header.job_id;
  job_name_ = sim::to_hex(std::as_bytes(std::span(&id, 1))).substr(0, 8);
  return {};
}

const sim::ShmLayout* JobMemory::layout_of(std::uint32_t node) {
  if (segments_[node] < 0) return nullptr;
  const auto [found, is_new] = mapped_.try_emplace(node);
  if (!is_new) return found->second.memory.bytes().empty() ? nullptr : &found->second.layout;
  const std::uint64_t bytes = sim::bytes_of_segment(segments_[node]);
  const auto* const nodes = board_.node_of_rank();
  const auto ranks = static_cast<std::uint32_t>(std::count(nodes, nodes + board_.size(), node));
  MappedNode mapped;
  if (!sim::Mapping::map(segments_[node], bytes, mapped.memory).ok() ||
      !sim::ShmLayout::attach(mapped.memory.bytes(), ranks, mapped.layout).ok()) {
    return nullptr;
  }
  found->second = std::move(mapped);
  return &found->second.layout;
}

std::uint32_t JobMemory::local_rank(std::uint32_t place) const {
  const auto* const nodes = board_.node_of_rank();
  return static_cast<std::uint32_t>(std::count(nodes, nodes + place, nodes[place]));
}

bool JobMemory::is_at_rest(std::uint32_t place) {
  const std::uint32_t node = board_.node_of_rank()[place];
  if (segments_[node] < 0) return true;
  const sim::ShmLayout* const layout = layout_of(node);
  return layout != nullptr && sim::is_place_at_rest(*layout, local_rank(place));
}

// The block is cleared before the process can claim it, and `used` grows last, so observers find a whole place.
void JobMemory::begin_world(const std::vector<std::uint32_t>& places, std::uint32_t world, bool is_awaited) {
  std::uint32_t used = board_.used();
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    sim::BoardPlace& place = board_.place(places[i]);
    if (const sim::ShmLayout* const node = layout_of(board_.node_of_rank()[places[i]]);
        node != nullptr && place.starts > 0) {
      sim::clear_place(*node, local_rank(places[i]));
    }
    board_.block(places[i]) = {};
    place = {
        .world = world, .world_rank = i, .starts = place.starts + 1, .is_awaited = is_awaited ? std::uint32_t{1} : 0};
    used = std::max(used, places[i] + 1);
  }
  sim::publish_number(board_.header().used, used);
}

// O_APPEND belongs to the open file description, which the ranks inherit, so records of several ranks do not overwrite
// one another.
Status JobMemory::create_findings() {
  findings_descriptor_ = ::memfd_create(sim::kFindingsFileName, MFD_CLOEXEC);
  if (findings_descriptor_ >= 0 && ::fcntl(findings_descriptor_, F_SETFL, O_APPEND) == 0) return {};
  return Status::error(std::string("--report: cannot make a memory file for the findings of the ranks: ") +
                       std::strerror(errno));
}

}  // namespace margay::command
