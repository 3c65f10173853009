// The namespace of the bindings. Nearly every line of the bindings uses names of the device and the collectives, so
// both of these namespaces are visible in it.
#pragma once

namespace margay::mpi_adi {}
namespace margay::collectives {}

namespace margay::mpi {
using namespace mpi_adi;      // NOLINT(google-build-using-namespace): the layer is both layers' C interface.
using namespace collectives;  // NOLINT(google-build-using-namespace)
}  // namespace margay::mpi
