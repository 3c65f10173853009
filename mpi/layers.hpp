// The namespace of the bindings. Nearly every line of theirs uses names of the device and the collectives, so both
// namespaces are visible in it.
#pragma once

namespace margay::mpi_adi {}
namespace margay::collectives {}

namespace margay::mpi {
using namespace mpi_adi;      // NOLINT(google-build-using-namespace): the layer is both layers' C interface.
using namespace collectives;  // NOLINT(google-build-using-namespace)
}  // namespace margay::mpi
