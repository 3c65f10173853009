// The layer's start and end, in MPI_Init and MPI_Finalize.
#include <string>

#include "libraries/nexus_mpi/matching.hpp"
#include "libraries/nexus_mpi/serve.hpp"

namespace margay::nexus_mpi {

constinit thread_local Layer* layer = nullptr;

namespace {

// The numbers of the two communicators that exist from the start.
constexpr std::uint64_t kWorld = 1, kSelf = 2;

int delete_communicator(MPI_Comm handle, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  if (layer != nullptr) layer->communicators.erase(handle);
  return MPI_SUCCESS;
}

int start() {
  return guarded(MPI_COMM_WORLD, "MPI_Init over Nexus", [] {
    register_handlers();
    nexus::init();
    layer = new Layer();
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_communicator, &layer->keyval, nullptr);
    void* most = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&most), &found);
    layer->tag_most = found != 0 ? *static_cast<int*>(most) : 0x7fffffff;
    add(MPI_COMM_WORLD, kWorld);
    add(MPI_COMM_SELF, kSelf);
    // No context sends before all have their links.
    layer->links = nexus::exchange(nexus::Startpoint(layer->endpoint));
    return MPI_SUCCESS;
  });
}

int end() {
  return guarded(MPI_COMM_WORLD, "MPI_Finalize over Nexus", [] {
    send_answers();
    // The callbacks of the user's attributes may communicate.
    const int keyval = layer->keyval;
    PMPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
    nexus::finish();
    delete layer;
    layer = nullptr;
    return MPI_SUCCESS;
  });
}

}  // namespace

Layer::Layer() = default;

}  // namespace margay::nexus_mpi

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  return code != MPI_SUCCESS ? code : margay::nexus_mpi::start();
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code =
      PMPI_Init_thread(argc, argv, required < MPI_THREAD_FUNNELED ? required : MPI_THREAD_FUNNELED, provided);
  return code != MPI_SUCCESS ? code : margay::nexus_mpi::start();
}

int MPI_Finalize() {
  if (margay::nexus_mpi::layer == nullptr) return PMPI_Finalize();
  const int code = margay::nexus_mpi::end();
  const int finalized = PMPI_Finalize();
  return code != MPI_SUCCESS ? code : finalized;
}

}  // extern "C"
