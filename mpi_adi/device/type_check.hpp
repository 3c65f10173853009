// The check of MARGAY_CHECK_TYPES: whether the types and sizes of a send and of the receive that took its message fit
// each other (MPI 4.0, 3.3.1 and 3.2.4), and whether types are used as the standard defines. The object exists only
// while the check is on.
//
// A sender writes its call and its signature into the three free bytes of a message's note. From these bytes and the
// message's length, the receiver can name both sides:
//
//   byte 1: the call in bits 0-3 (0: no call), kind of signature in bits 4-5
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

// The sender's side of a message, as the note encodes it.
struct SentSide {
  std::uint8_t call = 0;  // number of the sender's MPI call; 0: the note names none
  Signature signature;
};
// Encode and decode bytes 1 to 3 of a note.
void write_sent_side(portals::UserData& data, const SentSide& side);
[[nodiscard]] SentSide read_sent_side(const portals::UserData& data);
// The sender's side of a message in words, such as "4 x MPI_INT by MPI_Send"; empty if its note has no call.
[[nodiscard]] std::string sent_side_text(const portals::Header& header);

// The checker of one process. It keeps the declared type of each receive until the receive is complete. Under the
// process lock.
class TypeCheck {
 public:
  // `rank`: this process's, for printed lines. Each mismatch is a finding.
  TypeCheck(std::uint32_t rank, sim::Findings& findings, sim::SourceLines& lines)
      : rank_(rank), findings_(findings), lines_(lines) {}

  // Records the MPI call that begins, and the address to which it returns. `name` lives as long as the program.
  void begin_call(const char* name, const void* caller) {
    call_ = name;
    caller_ = caller;
  }

  // Records a send that begins; mark() then writes its type into the header's note. For a send that the library makes
  // for itself (`own`), or whose type has no definition, mark() writes no call.
  void begin_send(const Datatype& type, std::uint64_t bytes, bool own);
  // Writes the side that begin_send() recorded. Requires: begin_send() was called for this message.
  void mark(portals::UserData& data) const { write_sent_side(data, outgoing_); }

  // Records a receive that begins.
  void begin_receive(const ReceiveRequest& request, const Datatype& type, std::int64_t count, bool own);
  // Records the receive's message. Called for messages from the heap and for pulled messages, because the row does not
  // contain their headers when the receive ends.
  void record_message(const ReceiveRequest& request, const portals::Header& header);
  // Ends the receive: prints a line when the two sides do not fit.
  void end_receive(const ReceiveRequest& request);

  // Reports that the MPI call under way depends on behaviour that the standard does not define. `what` describes it;
  // `where` is the standard's section. Prints a line the first time for each call and description.
  void nonportable(const std::string& what, const char* where);

  // The most misfits that are printed; later misfits are only counted.
  static constexpr std::uint64_t kLinesMax = 100;

 private:
  // A receive under way, with what its line would print. It refers to the type, which the program may free.
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
  // Prints the line and records the finding, up to kLinesMax.
  void report(const ReceiveRequest& request, const Receive& receive);

  // Constant.
  std::uint32_t rank_;
  sim::Findings& findings_;
  sim::SourceLines& lines_;
  // The MPI call in progress (begin_call()), and the side of its latest send (begin_send()).
  const char* call_ = "";
  const void* caller_ = nullptr;
  SentSide outgoing_;
  // If a receive ends with an error, its entry may stay; it is removed at the request's next use.
  std::unordered_map<const ReceiveRequest*, Receive> receives_;
  std::unordered_set<std::string> nonportable_;  // what was printed, by call and description
  std::uint64_t misfits_ = 0;                    // found so far; see kLinesMax
};

}  // namespace margay::mpi_adi
