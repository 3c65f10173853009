#include "mpi/dynamic/service_name.hpp"

#include "sim/boot/pmi_message.hpp"

namespace margay::mpi {

std::string service_word(std::string_view name) {
  return sim::to_pmi_word(name);
}

}  // namespace margay::mpi
