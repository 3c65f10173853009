// The note: the twelve bytes of user data in the device's own messages. Paper 001, section 2: "The protocol type is
// also encoded in the user data portion of the message header"; "For short synchronous messages, the return match bits
// are contained in the user data."
//
//   byte 0: protocol in bits 0-1, synchronous in bit 7 · bytes 1-3: 0, or the sender's call and types
//   (device/type_check) · bytes 4-11: answer bits
#pragma once

#include <cstdint>
#include <cstring>

#include "portals/base/header.hpp"

namespace margay::mpi_adi {

// The protocol of a message. A receive needs it to choose between the saved body and a pull. The numbers are part of
// the wire format.
enum class NoteProtocol : std::uint8_t { short_message = 0, long_message = 1, rendezvous = 2 };

// A note, decoded.
struct Note {
  NoteProtocol protocol = NoteProtocol::short_message;
  bool synchronous = false;            // the sender waits until a receive has taken the message
  portals::MatchBits answer_bits = 0;  // of the sender's acknowledgment and read entries; 0: the sender has none
};

// Two constants of the layout above: the synchronous bit in byte 0, and the offset of the answer bits.
inline constexpr unsigned kNoteSynchronous = 0x80;
// Not a multiple of 8, so the answer bits are copied and never read in place.
inline constexpr std::size_t kNoteAnswerAt = 4;

// Writes all bytes but 1 to 3, which belong to the check of types.
inline void write_note(portals::UserData& data, const Note& note) {
  data[0] = static_cast<std::byte>(static_cast<unsigned>(note.protocol) | (note.synchronous ? kNoteSynchronous : 0U));
  std::memcpy(&data[kNoteAnswerAt], &note.answer_bits, sizeof note.answer_bits);
}

// Whether any byte of the note is not 0. The note of a plain short message is all zeros, so its receive skips the
// decoding. This test costs two loads on the path of each message.
[[nodiscard]] inline bool has_note(const portals::UserData& data) {
  std::uint64_t head = 0;
  std::uint32_t tail = 0;
  std::memcpy(&head, data.data(), sizeof head);
  std::memcpy(&tail, &data[sizeof head], sizeof tail);
  return (head | tail) != 0;
}

// Decodes a note. Unused bits are ignored, and an unknown protocol counts as short, because bytes from a wire may be
// invalid.
[[nodiscard]] inline Note read_note(const portals::UserData& data) {
  Note note;
  const auto first = static_cast<unsigned>(data[0]);
  const unsigned protocol = first & 3U;
  if (protocol <= 2) note.protocol = static_cast<NoteProtocol>(protocol);
  note.synchronous = (first & kNoteSynchronous) != 0;
  std::memcpy(&note.answer_bits, &data[kNoteAnswerAt], sizeof note.answer_bits);
  return note;
}

// The kind of an answer: byte 0 of the user data of a put to a send's acknowledgment entry.
enum class Answer : std::uint8_t {
  synchronous = 0,   // a receive took the message
  not_returned = 1,  // to a cancel: too late, a receive has the message or will have it
  returned = 2,      // to a cancel: the message is freed, no receive will have it
};

// The length of the message's body in bytes, wherever the body is now. A rendezvous header has it in its return length.
[[nodiscard]] inline std::uint64_t message_bytes(const portals::Header& header, const Note& note) {
  return note.protocol == NoteProtocol::rendezvous ? header.return_length : header.length;
}
// The same for a header whose note was not decoded.
[[nodiscard]] inline std::uint64_t message_bytes(const portals::Header& header) {
  return message_bytes(header, read_note(header.user_data));
}

}  // namespace margay::mpi_adi
