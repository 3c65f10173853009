// The state of MPI over Nexus in one rank: links to all ranks, communicators, messages and requests.
//
// The layer replaces MPI's point-to-point functions by MPI's profiling interface. A message is one remote service
// request: an envelope and the packed data. The receiver's handler matches it. margay's MPI implements all other
// functions.
//
// Rules:
// 1. The layer carries a communicator on all of its ranks or on none, because only collective constructors add it.
//    margay's MPI carries the messages of other communicators, such as intercommunicators, on both sides.
// 2. Each wait serves Nexus and MPI (serve.hpp), so that neither starves.
// 3. One thread of a rank calls MPI: the thread that calls MPI_Init. MPI_Init_thread provides MPI_THREAD_FUNNELED.
#pragma once

#include "mpi_adi/abi/mpi.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "margay/nexus.hpp"

namespace margay::nexus_mpi {

// A communicator whose point-to-point messages the layer carries.
struct Communicator {
  std::uint64_t number = 0;  // equal on all of its ranks, and different for each two communicators that share a rank
  int rank = 0;
  std::vector<int> worlds;         // by rank: the rank in MPI_COMM_WORLD, the number of a context
  std::uint64_t constructors = 0;  // collective constructors called on it, from which children get their numbers
};

// The envelope of a message, as in the request.
struct Envelope {
  std::uint64_t communicator = 0;
  std::uint64_t answer = 0;  // of a synchronous send: the request that the answer completes; 0: none is expected
  std::int32_t source = 0;
  std::int32_t tag = 0;
};

// A message that has arrived before its receive.
struct Message {
  Envelope envelope;
  int context = 0;  // its sender's, to which the answer goes
  std::vector<std::byte> body;
};

// Memory of the user and its datatype.
struct Place {
  void* base = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_BYTE;
};

// A pending send or receive. Only synchronous sends and receives do not complete at once.
struct Request {
  enum class Kind : std::uint8_t { send, receive } kind = Kind::send;
  bool is_complete = false;
  bool is_cancelled = false;
  bool is_freed = false;            // by MPI_Request_free: deleted when it completes
  bool owns_type = false;           // `place.type` is a duplicate
  MPI_Comm handle = MPI_COMM_NULL;  // for error handlers
  std::uint64_t communicator = 0;
  int source = MPI_ANY_SOURCE;  // what it accepts; after completion, the message's
  int tag = MPI_ANY_TAG;
  Place place;
  std::size_t bytes = 0;       // received
  std::size_t sent_bytes = 0;  // of the message, which may be longer
  int error = MPI_SUCCESS;
};

// Request handles differ from those of margay's MPI: the two bits of the kind are 0.
inline constexpr MPI_Request kFirstRequest = 0x3e000000;
inline constexpr MPI_Message kFirstMessage = 0x3d000000;
inline constexpr int kRequestsMost = 0xffffff;

struct Layer {
  Layer();

  nexus::Endpoint endpoint;
  std::vector<nexus::Startpoint> links;  // by context
  std::unordered_map<MPI_Comm, std::unique_ptr<Communicator>> communicators;
  int keyval = MPI_KEYVAL_INVALID;  // deletes communicators with their handles
  int tag_most = 0;

  // In the order of their posting, and of arrival. Searched from the front: the matching rules of MPI.
  std::list<Request*> posted;
  std::list<Message> unexpected;
  // Owned; the index is the handle less kFirstRequest. Index 0 is not used: it is "no answer".
  std::vector<std::unique_ptr<Request>> requests;
  std::vector<std::uint32_t> free_requests;
  // Matched messages of MPI_Mprobe.
  std::unordered_map<MPI_Message, std::pair<MPI_Comm, Message>> matched;
  MPI_Message next_matched = kFirstMessage;
  // Answers to synchronous sends that a handler could not send.
  struct Answer {
    int context;
    std::uint64_t request;
  };
  std::deque<Answer> answers;
  // Error codes of truncated receives, oldest first; see error_code().
  std::deque<int> truncations;
};

// The layer of the calling thread's rank; nullptr before MPI_Init, after MPI_Finalize, and on other threads.
extern constinit thread_local Layer* layer;

// The communicator that the layer carries; nullptr for others.
[[nodiscard]] Communicator* find(MPI_Comm communicator);
// Adds a communicator that a collective constructor on `parent` has made on all of its ranks. Returns `code`.
int add_child(int code, MPI_Comm parent, MPI_Comm child);
void add(MPI_Comm handle, std::uint64_t number);

}  // namespace margay::nexus_mpi
