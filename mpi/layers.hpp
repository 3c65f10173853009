// The namespace of the bindings. Each of their lines names the device and the collectives, so both are visible in it.
#pragma once

namespace margay::mpi_adi {}
namespace margay::collectives {}

namespace margay::mpi {
using namespace mpi_adi;      // NOLINT(google-build-using-namespace): the layer is both layers' C interface.
using namespace collectives;  // NOLINT(google-build-using-namespace)
}  // namespace margay::mpi
