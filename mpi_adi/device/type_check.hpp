// The check of MARGAY_CHECK_TYPES: whether the types and sizes of a send and of the receive that took it fit each other
// (MPI 4.0, 3.3.1 and 3.2.4), and whether types are used as the standard defines. Only there while that is asked for.
//
// A sender tells its call and its signature in the three free bytes of a message's note; the receiver, which knows the
// message's length, can name both sides from them:
//
//   byte 1: the call in bits 0-3 (0: nothing is told), kind of signature in bits 4-5
//   bytes 2-3: uniform: index of the predefined type; mixed: hash, low byte first
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "mpi_adi/datatype/datatype.hpp"
#include "mpi_adi/datatype/signature.hpp"
#include "mpi_adi/device/receive_request.hpp"
#include "portals/base/header.hpp"
#include "sim/base/source_lines.hpp"
#include "sim/boot/findings.hpp"

namespace margay::mpi_adi {

// What a sender tells.
struct SentSide {
  std::uint8_t call = 0;  // number of its call; 0: it tells nothing
  Signature signature;
};
void write_sent_side(portals::UserData& data, const SentSide& side);
[[nodiscard]] SentSide read_sent_side(const portals::UserData& data);
// What the message's sender tells, as words: "4 x MPI_INT by MPI_Send"; empty: nothing.
[[nodiscard]] std::string words_of_sent_side(const portals::Header& header);

// Under the process lock.
class TypeCheck {
 public:
  // `rank`: of this process, for what it prints. Each mismatch is a finding.
  TypeCheck(std::uint32_t rank, sim::Findings& findings, sim::SourceLines& lines)
      : rank_(rank), findings_(findings), lines_(lines) {}

  // The MPI call that begins, and where it returns to. `name` lives as long as the program.
  void begin_call(const char* name, const void* caller) {
    call_ = name;
    caller_ = caller;
  }

  // A send begins, whose header mark() completes. One without a type, or `own`, the library's, tells nothing.
  void begin_send(const Datatype& type, std::uint64_t bytes, bool own);
  void mark(portals::UserData& data) const { write_sent_side(data, outgoing_); }

  // A receive begins.
  void begin_receive(const ReceiveRequest& request, const Datatype& type, std::int64_t count, bool own);
  // Its message, when the header will not be in the request's row at the end.
  void came(const ReceiveRequest& request, const portals::Header& header);
  // It is over: prints a line when the two sides do not fit.
  void end_receive(const ReceiveRequest& request);

  // The MPI call under way makes a use of `what`, a text, that works here and that the standard does not define (in its
  // section `where`): prints a line the first time.
  void nonportable(const std::string& what, const char* where);

  // Of misfits.
  static constexpr std::uint64_t kLinesMax = 100;

 private:
  struct Receive {
    const char* call = "";
    const void* caller = nullptr;
    std::int64_t count = 0;
    TypePtr type;
    std::string type_name;
    bool came = false;
    SentSide sent;
    std::uint64_t bytes = 0;  // of the message
  };
  void report(const ReceiveRequest& request, const Receive& receive);

  std::uint32_t rank_;
  sim::Findings& findings_;
  sim::SourceLines& lines_;
  const char* call_ = "";
  const void* caller_ = nullptr;
  SentSide outgoing_;
  std::unordered_map<const ReceiveRequest*, Receive> receives_;
  std::unordered_set<std::string> nonportable_;  // what was printed of them
  std::uint64_t misfits_ = 0;
};

}  // namespace margay::mpi_adi
