#include "mpi/communicator/arguments.hpp"

#include <cstdio>

#include "mpi/collective/arguments.hpp"
#include "mpi/communicator/attribute_callbacks.hpp"

namespace margay::mpi {

namespace {

std::string entry(const char* what, std::size_t at) {
  return std::string(what) + "[" + std::to_string(at) + "]";
}

}  // namespace

GroupPtr checked_group(Call& call, MPI_Group handle, const char* what) {
  if (!call.ok()) return nullptr;
  GroupPtr found = call.rank().handles().groups().find(handle);
  if (found != nullptr) return found;
  if (handle == MPI_GROUP_NULL) {
    call.error(MPI_ERR_GROUP, std::string(what) + " is MPI_GROUP_NULL");
  } else {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(handle));
    call.error(MPI_ERR_GROUP, std::string(what) + " " + text + " is not a valid group (freed, or never created)");
  }
  return nullptr;
}

int give_group(Call& call, GroupPtr group, MPI_Group* handle) {
  // Groups are shared: a handle adds a reference.
  const MPI_Group made = call.rank().handles().groups().add(std::move(group));
  if (made == MPI_GROUP_NULL) {
    call.error(MPI_ERR_OTHER, "too many groups are alive (262,144); free some first");
  } else {
    call.rank().handles().record_origin(made);
    *handle = made;
  }
  return call.done();
}

void not_negative(Call& call, int number, const char* what) {
  if (number < 0) call.error(MPI_ERR_ARG, std::string(what) + " is " + std::to_string(number) + ", below 0");
}

std::span<const int> checked_array(Call& call, const int* array, int count, const char* what) {
  // A null pointer is valid for an empty array.
  if (count > 0) call.not_null(array, what);
  if (!call.ok() || count <= 0) return {};
  return {array, static_cast<std::size_t>(count)};
}

void check_rank(Call& call, int rank, int size, const char* what) {
  if (rank >= 0 && rank < size) return;
  call.error(MPI_ERR_RANK, std::string(what) + " is " + std::to_string(rank) + "; ranks are " +
                               (size == 0 ? "none here" : "0 to " + std::to_string(size - 1)));
}

std::span<const int> checked_dims(Call& call, int ndims, const int* dims, int processes) {
  not_negative(call, ndims, "ndims");
  const std::span<const int> sizes = checked_array(call, dims, ndims, "dims");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 0) continue;
    call.error(MPI_ERR_DIMS, entry("dims", i) + " is " + std::to_string(sizes[i]) + "; a dimension has at least 1");
  }
  if (!call.ok()) return {};
  // The product is -1 if it passes an int.
  const int size = grid_size(sizes);
  if (size < 0 || size > processes) {
    call.error(MPI_ERR_ARG, "dims makes a grid of " + (size < 0 ? "more than 2,147,483,647" : std::to_string(size)) +
                                " places, the communicator " + std::to_string(processes) + " processes");
    return {};
  }
  return sizes;
}

GraphTopology checked_graph(Call& call, int nnodes, const int* index, const int* edges, int processes) {
  not_negative(call, nnodes, "nnodes");
  if (call.ok() && nnodes > processes) {
    call.error(MPI_ERR_ARG, "nnodes is " + std::to_string(nnodes) + "; the communicator has " +
                                std::to_string(processes) + " processes");
  }
  const std::span<const int> ends = checked_array(call, index, nnodes, "index");
  int before = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] < before) {
      call.error(MPI_ERR_ARG, entry("index", i) + " is " + std::to_string(ends[i]) + ", below " +
                                  (i == 0 ? "0" : "the entry before it"));
    }
    // Entries are ends of consecutive parts of `edges`, so they must not decrease (MPI 4.0, 8.5.3).
    before = ends[i];
  }
  // The last end is the number of edges; it is not used if an entry was wrong.
  const std::span<const int> targets = checked_array(call, edges, call.ok() ? before : 0, "edges");
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] >= 0 && targets[i] < nnodes) continue;
    call.error(MPI_ERR_ARG, entry("edges", i) + " is " + std::to_string(targets[i]) + "; nodes are 0 to " +
                                std::to_string(nnodes - 1));
  }
  if (!call.ok()) return {};
  return {{ends.begin(), ends.end()}, {targets.begin(), targets.end()}};
}

int give_communicator(Call& call, const Made& made, MPI_Comm* handle) {
  if (made.error_class == MPI_ERR_OTHER) {
    call.error(MPI_ERR_OTHER, kContextsUsedUp);
  } else if (made.error_class == MPI_ERR_PORT) {
    call.error(MPI_ERR_PORT, made.why.empty() ? "a member of the groups, which belong to different jobs, cannot be "
                                                "connected with another one; its error names the reason"
                                              : made.why);
  } else {
    record_error(call, made.error_class);
  }
  *handle = made.communicator == nullptr ? MPI_COMM_NULL : made.communicator->handle;
  return call.done();
}

int give_duplicate(Call& call, Communicator& parent, Made made, MPI_Comm* handle, const Info* hints) {
  if (made.communicator != nullptr) {
    // A duplicate has only these hints (MPI 4.0, 7.4.2).
    if (hints != nullptr) made.communicator->hints.set_from(*hints);
    // If a copy fails, only this member frees its communicator: the members have agreed on the contexts, and the others
    // keep theirs.
    if (!copy_attributes(call, parent, *made.communicator)) {
      call.rank().free_communicator(*made.communicator);
      made = {};
    }
  }
  return give_communicator(call, made, handle);
}

}  // namespace margay::mpi
