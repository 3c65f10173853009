#include "mpi_adi/protocol/select.hpp"

namespace margay::mpi_adi {

using sim::TraceChoice;
using sim::TraceProtocol;

namespace {

ProtocolChoice select_short(SendMode mode) {
  switch (mode) {
    case SendMode::standard:
      return {SendShape::short_message, TraceProtocol::short_send, TraceChoice::fits_short};
    case SendMode::synchronous:
      return {SendShape::short_message, TraceProtocol::synchronous_short, TraceChoice::mode};
    case SendMode::ready:
      return {SendShape::short_message, TraceProtocol::ready_short, TraceChoice::mode};
    case SendMode::buffered:
      return {SendShape::short_message, TraceProtocol::buffered, TraceChoice::mode};
  }
  return {};
}

}  // namespace

ProtocolChoice select_protocol(SendMode mode, std::uint64_t bytes, std::uint64_t short_limit,
                               DeviceOptions::LongProtocol long_protocol) {
  // In each mode, a message of at most the limit takes the short protocol.
  if (bytes <= short_limit) return select_short(mode);
  const bool rendezvous = long_protocol == DeviceOptions::LongProtocol::rendezvous;
  const SendShape shape = rendezvous ? SendShape::rendezvous : SendShape::long_message;
  switch (mode) {
    case SendMode::standard:
      return {shape, rendezvous ? TraceProtocol::long_rendezvous : TraceProtocol::long_send,
              rendezvous ? TraceChoice::option : TraceChoice::above_short};
    case SendMode::synchronous:
      return {shape, TraceProtocol::synchronous_long, rendezvous ? TraceChoice::option : TraceChoice::mode};
    // Never a rendezvous: a ready send requires a posted receive, so header and body can leave at once in either long
    // protocol.
    case SendMode::ready:
      return {SendShape::ready_long, TraceProtocol::ready_long, TraceChoice::mode};
    case SendMode::buffered:
      return {shape, TraceProtocol::buffered, rendezvous ? TraceChoice::option : TraceChoice::mode};
  }
  return {};
}

}  // namespace margay::mpi_adi
