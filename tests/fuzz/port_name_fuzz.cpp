// A libFuzzer target for the names of ports and services, which users pass in any form: a text is a port name only if
// it is exactly what its decoded form is written as; and a service's name of any bytes is one field of a PMI line.
// Corpus: tests/fuzz/port_name_corpus.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mpi/dynamic/service_name.hpp"
#include "mpi_adi/object/port_name.hpp"
#include "portals/base/assert.hpp"
#include "sim/boot/pmi_message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay;
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  mpi_adi::PortName name;
  const portals::Status parsed = mpi_adi::parse_port_name(text, name);
  MARGAY_ASSERT(parsed.ok() ? mpi_adi::port_name_text(name) == text : name == mpi_adi::PortName());
  // Damaged by one bit, it is another name or none.
  if (parsed.ok()) {
    std::string damaged(text);
    damaged[name.key % damaged.size()] ^= 1;
    mpi_adi::PortName other = name;
    MARGAY_ASSERT(!mpi_adi::parse_port_name(damaged, other).ok());
  }
  const std::string_view service = text.substr(0, mpi::kServiceNameBytesMax);
  if (service.empty()) return 0;
  sim::PmiMessage line;
  const std::string word = mpi::service_word(service);
  MARGAY_ASSERT(sim::PmiMessage::parse("cmd=publish_name service=" + word + " port=p", line).ok());
  MARGAY_ASSERT(line.text("service") == word && line.text("port") == "p");
  return 0;
}
