// A blast wave in a cube, with the communication of shock codes such as LULESH. p^3 ranks have a block of cells each.
// Neighbouring blocks share the corners of cells at their border.
//
//   blast EDGE STEPS      EDGE cells of the whole cube along each axis, a multiple of p
//
// Each step: every cell gives a quarter of its energy to its corners; the ranks sum the corners that they share, over
// up to 26 neighbours (faces, edges, corners); a corner gives its energy to the cells around it. Then they exchange a
// layer of cells through the faces for the steepest gradient, and agree on the time step.
//
// Energies are whole numbers, so the result depends neither on the order of additions nor on the number of ranks. Rank
// 0 prints it.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Place = std::array<int, 3>;

class Domain {
 public:
  static constexpr std::int64_t kBlast = 1'000'000'000'000;
  // Of this rank.
  static inline std::string name = "blast";
  static inline int steps_done = 0;

  Domain(int rank, int along, int cube) : along_(along), edge_(cube / along), cube_(cube) {
    if (edge_ * along != cube) throw std::invalid_argument("EDGE must be a multiple of the ranks along an axis");
    block_ = {rank % along, rank / along % along, rank / along / along};
    cells_.resize(static_cast<std::size_t>(edge_) * edge_ * edge_);
    if (rank == 0) cells_[0] = kBlast;
    for (int number = 0; number < 27; ++number) {
      const Place offset{number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1};
      if (const int peer = rank_at(offset); peer >= 0 && peer != rank) peers_[offset] = peer;
    }
  }

  void step() {
    give_to_corners();
    sum_shared_corners();
    give_to_cells();
    ++steps_done;
  }

  // 1 / sqrt(the greatest difference between neighbouring cells).
  [[nodiscard]] double stable_step() const {
    std::int64_t steepest = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const std::vector<std::int64_t> behind = layer_behind(axis);
      for_each(edge_, [&](const Place& at) {
        Place next = at;
        ++next[axis];
        const bool is_inside = next[axis] < edge_;
        if (!is_inside && behind.empty()) return;
        const std::int64_t other = is_inside ? cells_[index(next, edge_)] : behind[in_layer(at, axis)];
        steepest = std::max(steepest, std::abs(other - cells_[index(at, edge_)]));
      });
    }
    return 1 / std::sqrt(static_cast<double>(steepest));
  }

  [[nodiscard]] std::int64_t energy() const {
    std::int64_t sum = 0;
    for (const std::int64_t cell : cells_) sum += cell;
    return sum;
  }
  [[nodiscard]] std::int64_t first_cell() const { return cells_[0]; }

 private:
  template <typename Function>
  static void for_each(int edge, Function&& function) {
    for (int z = 0; z < edge; ++z)
      for (int y = 0; y < edge; ++y)
        for (int x = 0; x < edge; ++x) function(Place{x, y, z});
  }
  [[nodiscard]] static std::size_t index(const Place& at, int edge) {
    return (static_cast<std::size_t>(at[2]) * edge + at[1]) * edge + at[0];
  }
  [[nodiscard]] std::size_t in_layer(const Place& at, int axis) const {
    return static_cast<std::size_t>(at[(axis + 1) % 3]) * edge_ + at[(axis + 2) % 3];
  }
  // -1: outside of the cube.
  [[nodiscard]] int rank_at(const Place& offset) const {
    int rank = 0;
    for (int axis = 2; axis >= 0; --axis) {
      const int place = block_[axis] + offset[axis];
      if (place < 0 || place >= along_) return -1;
      rank = rank * along_ + place;
    }
    return rank;
  }
  [[nodiscard]] static Place corner_of(const Place& cell, int number) {
    return {cell[0] + (number & 1), cell[1] + (number >> 1 & 1), cell[2] + (number >> 2)};
  }

  void give_to_corners() {
    corners_.assign(static_cast<std::size_t>(edge_ + 1) * (edge_ + 1) * (edge_ + 1), 0);
    for_each(edge_, [this](const Place& at) {
      std::int64_t& cell = cells_[index(at, edge_)];
      const std::int64_t part = cell / 32;
      for (int i = 0; i < 8; ++i) corners_[index(corner_of(at, i), edge_ + 1)] += part;
      cell -= 8 * part;
    });
  }

  // The cells around a corner get equal parts; the first of them also gets the rest of the division.
  void give_to_cells() {
    for_each(edge_, [this](const Place& at) {
      for (int i = 0; i < 8; ++i) {
        const Place corner = corner_of(at, i);
        std::int64_t around = 1;
        bool is_first = true;
        for (int axis = 0; axis < 3; ++axis) {
          const int place = block_[axis] * edge_ + corner[axis];
          const bool is_border = place == 0 || place == cube_;
          if (!is_border) around *= 2;
          // This cell is the one before the corner along the axis, or the only one.
          is_first &= is_border || corner[axis] != at[axis];
        }
        const std::int64_t energy = corners_[index(corner, edge_ + 1)];
        cells_[index(at, edge_)] += energy / around + (is_first ? energy % around : 0);
      }
    });
  }

  // The corners that this block shares with the neighbour at the offset, in the order of both.
  [[nodiscard]] std::vector<std::size_t> shared_with(const Place& offset) const {
    std::vector<std::size_t> corners;
    for_each(edge_ + 1, [&](const Place& at) {
      for (int axis = 0; axis < 3; ++axis)
        if (offset[axis] != 0 && at[axis] != (offset[axis] > 0 ? edge_ : 0)) return;
      corners.push_back(index(at, edge_ + 1));
    });
    return corners;
  }

  static int tag_of(const Place& offset, int sign) { return 13 + sign * (offset[0] + 3 * offset[1] + 9 * offset[2]); }

  void sum_shared_corners() {
    std::map<Place, std::vector<std::int64_t>> sent, received;
    std::vector<MPI_Request> requests;
    for (const auto& [offset, peer] : peers_) {
      for (const std::size_t corner : shared_with(offset)) sent[offset].push_back(corners_[corner]);
      received[offset].resize(sent[offset].size());
    }
    for (const auto& [offset, peer] : peers_) {
      const int count = static_cast<int>(sent[offset].size());
      requests.resize(requests.size() + 2);
      MPI_Irecv(received[offset].data(), count, MPI_INT64_T, peer, tag_of(offset, -1), MPI_COMM_WORLD,
                &requests.end()[-2]);
      MPI_Isend(sent[offset].data(), count, MPI_INT64_T, peer, tag_of(offset, 1), MPI_COMM_WORLD, &requests.end()[-1]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const auto& [offset, values] : received) {
      const std::vector<std::size_t> corners = shared_with(offset);
      for (std::size_t i = 0; i < corners.size(); ++i) corners_[corners[i]] += values[i];
    }
  }

  // The first layer of cells of the next block along the axis; empty: there is none.
  [[nodiscard]] std::vector<std::int64_t> layer_behind(int axis) const {
    Place forth{}, back{};
    forth[axis] = 1;
    back[axis] = -1;
    const auto cells = static_cast<std::size_t>(edge_) * edge_;
    std::vector<std::int64_t> own(cells), behind(rank_at(forth) >= 0 ? cells : 0);
    for_each(edge_, [&](const Place& at) {
      if (at[axis] == 0) own[in_layer(at, axis)] = cells_[index(at, edge_)];
    });
    const auto peer_at = [this](const Place& offset) { return rank_at(offset) >= 0 ? rank_at(offset) : MPI_PROC_NULL; };
    MPI_Sendrecv(own.data(), static_cast<int>(cells), MPI_INT64_T, peer_at(back), 100 + axis, behind.data(),
                 static_cast<int>(behind.size()), MPI_INT64_T, peer_at(forth), 100 + axis, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return behind;
  }

  const int along_, edge_, cube_;
  Place block_{};
  std::vector<std::int64_t> cells_, corners_;
  std::map<Place, int> peers_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int along = static_cast<int>(std::lround(std::cbrt(size)));
  if (along * along * along != size || argc != 3) {
    std::cerr << "usage: blast EDGE STEPS, with 1, 8, 27, 64, ... ranks\n";
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  Domain domain(rank, along, std::atoi(argv[1]));
  double time = 0;
  for (const int steps = std::atoi(argv[2]); Domain::steps_done < steps;) {
    domain.step();
    double step = domain.stable_step();
    MPI_Allreduce(MPI_IN_PLACE, &step, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    time += step;
  }
  std::int64_t energy = domain.energy();
  MPI_Allreduce(MPI_IN_PLACE, &energy, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (energy != Domain::kBlast) {
    std::cerr << Domain::name << ": energy is not conserved\n";
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0) {
    std::cout.precision(17);
    std::cout << Domain::name << ": " << Domain::steps_done << " steps, time " << time << ", the first cell has "
              << domain.first_cell() << '\n';
  }
  MPI_Finalize();
}
