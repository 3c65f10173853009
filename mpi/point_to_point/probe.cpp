// MPI_Probe, MPI_Mprobe and their variants (MPI 4.0, chapter 3.8).
#include "mpi/call/binding.hpp"
#include "mpi/point_to_point/arguments.hpp"
#include "mpi/point_to_point/completion.hpp"
#include "mpi_adi/device/message.hpp"
#include "mpi_adi/rank/wait.hpp"

using namespace margay::mpi;
using margay::sim::TraceProbe;

namespace {

void fill(MPI_Status* status, const Envelope& envelope) {
  fill_status(status, envelope.source, envelope.tag, envelope.bytes);
}

// The checks that all probes share.
Communicator* check_probe(Call& call, int source, int tag, MPI_Comm comm) {
  Communicator* communicator = call.communicator(comm);
  call.source(communicator, source);
  call.receive_tag(tag);
  return communicator;
}

// Whether no message can arrive any more, because the source is lost; sets the error if so.
bool source_is_lost(Call& call, int source, const Communicator& communicator) {
  if (!call.device().is_source_lost(source, communicator)) return false;
  call.error(MPIX_ERR_PROC_FAILED, lost_text(call.rank()));
  return true;
}

// Waits until `probe` finds a message, or its source is lost. The awaited envelope is published only during the wait,
// because the handler of an error runs outside the lock and may never return.
template <typename Probe>
void wait_for_one(Call& call, const Awaited& awaited, Probe probe) {
  // Published for reports of what this process waits for.
  const ProbeWait awaiting(call.device(), awaited);
  wait_until(call.rank(), [&] { return probe() || source_is_lost(call, awaited.source, *awaited.communicator); });
}

// The handle of a matched message; MPI_MESSAGE_NULL, with the error set, if there are too many.
MPI_Message hand_out(Call& call, Message& message) {
  const Handle handle = call.rank().handles().messages().add(message);
  // The message stays extracted: no receive can match it any more.
  if (handle == 0) {
    call.error(MPI_ERR_OTHER, "too many matched messages are alive (2^18); receive some first");
    return MPI_MESSAGE_NULL;
  }
  call.rank().handles().record_origin(handle);
  return handle;
}

// The checks of both matched receives. Returns nullptr for MPI_MESSAGE_NO_PROC and after an error.
Message* check_matched(Call& call, const void* buffer, std::int64_t count, Datatype* type, const MPI_Message* handle) {
  call.count(count);
  call.buffer(buffer, count, type);
  call.not_null(handle, "message");
  if (!call.ok() || *handle == MPI_MESSAGE_NO_PROC) return nullptr;
  Message* message = call.rank().handles().messages().find(*handle);
  if (message == nullptr) {
    call.error(MPI_ERR_REQUEST,
               *handle == MPI_MESSAGE_NULL
                   ? "the message is MPI_MESSAGE_NULL"
                   : "message " + in_hex(*handle) + " is not a matched message (received, or never created)");
  }
  return message;
}

// Receives a message that a matched probe extracted; no other receive can match it.
Request* start_matched(Call& call, void* buffer, std::int64_t count, Datatype& type, Message* message,
                       MPI_Message* handle) {
  if (message == nullptr) {  // MPI_MESSAGE_NO_PROC: like a receive from MPI_PROC_NULL
    *handle = MPI_MESSAGE_NULL;
    return call.device().start_receive(
        {buffer, count, &type, MPI_PROC_NULL, MPI_ANY_TAG, &call.rank().worlds().world()});
  }
  // From here on the message belongs to the receive.
  call.rank().handles().messages().remove(*handle);
  *handle = MPI_MESSAGE_NULL;
  return call.device().start_matched_receive(buffer, count, type, *message);
}

int mrecv(Call& call, void* buffer, std::int64_t count, MPI_Datatype datatype, MPI_Message* message,
          MPI_Status* status) {
  Datatype* type = call.datatype(datatype);
  call.status(status);
  Message* matched = check_matched(call, buffer, count, type, message);
  if (!call.ok()) return call.failed();
  Request& request = *start_matched(call, buffer, count, *type, matched, message);
  call.wait(request);
  finish_device_request(call, request, status);
  return call.done();
}

int imrecv(Call& call, void* buffer, std::int64_t count, MPI_Datatype datatype, MPI_Message* message,
           MPI_Request* request) {
  Datatype* type = call.datatype(datatype);
  Message* matched = check_matched(call, buffer, count, type, message);
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  Request* started = start_matched(call, buffer, count, *type, matched, message);
  // A receive from MPI_PROC_NULL has no communicator: its handle is the world's.
  hand_out(call, started, started->communicator != nullptr ? *started->communicator : call.rank().worlds().world(),
           request);
  return call.done();
}

}  // namespace

extern "C" int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  Call call(call_name<"MPI_Probe">);
  Communicator* communicator = check_probe(call, source, tag, comm);
  call.status(status);
  if (!call.ok()) return refuse(call, source, tag);
  if (source == MPI_PROC_NULL) {
    proc_null_status(status);
    return MPI_SUCCESS;
  }
  Envelope envelope;
  wait_for_one(call, {source, tag, communicator}, [&] {
    return call.device().probe(source, tag, *communicator, envelope, Context::point_to_point, TraceProbe::probe);
  });
  if (call.ok()) fill(status, envelope);
  return call.done();
}
MARGAY_ALIAS(Probe)

extern "C" int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  Call call(call_name<"MPI_Iprobe">);
  Communicator* communicator = check_probe(call, source, tag, comm);
  call.not_null(flag, "flag");
  call.status(status);
  if (!call.ok()) return refuse(call, source, tag);
  if (source == MPI_PROC_NULL) {
    *flag = 1;
    proc_null_status(status);
    return MPI_SUCCESS;
  }
  Envelope envelope;
  // Before the probe: a message that has arrived, but is still on its wire, must be found.
  look_once(call);
  const bool found =
      call.device().probe(source, tag, *communicator, envelope, Context::point_to_point, TraceProbe::iprobe);
  *flag = found ? 1 : 0;
  if (*flag != 0) {
    fill(status, envelope);
  } else if (!source_is_lost(call, source, *communicator)) {
    yield_processor(call);
  }
  return call.done();
}
MARGAY_ALIAS(Iprobe)

extern "C" int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  Call call(call_name<"MPI_Mprobe">);
  Communicator* communicator = check_probe(call, source, tag, comm);
  call.not_null(message, "message");
  call.status(status);
  if (!call.ok()) return refuse(call, source, tag);
  if (source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    proc_null_status(status);
    return MPI_SUCCESS;
  }
  Envelope envelope;
  // Extracted inside the wait, so that no other thread's receive can match it first.
  Message* found = nullptr;
  wait_for_one(call, {source, tag, communicator}, [&] {
    found = call.device().matched_probe(source, tag, *communicator, envelope, TraceProbe::mprobe);
    return found != nullptr;
  });
  // The wait ended with an error.
  if (found == nullptr) return call.failed();
  *message = hand_out(call, *found);
  fill(status, envelope);
  return call.done();
}
MARGAY_ALIAS(Mprobe)

extern "C" int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  Call call(call_name<"MPI_Improbe">);
  Communicator* communicator = check_probe(call, source, tag, comm);
  call.not_null(flag, "flag");
  call.not_null(message, "message");
  call.status(status);
  if (!call.ok()) return refuse(call, source, tag);
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    proc_null_status(status);
    return MPI_SUCCESS;
  }
  Envelope envelope;
  look_once(call);
  Message* found = call.device().matched_probe(source, tag, *communicator, envelope, TraceProbe::improbe);
  if (found == nullptr) {
    *flag = 0;
    *message = MPI_MESSAGE_NULL;
    if (source_is_lost(call, source, *communicator)) return call.failed();
    yield_processor(call);
    return MPI_SUCCESS;
  }
  *message = hand_out(call, *found);
  fill(status, envelope);
  return call.done();
}
MARGAY_ALIAS(Improbe)

MARGAY_TWINS(Mrecv, (void* buf, Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status), {
  Call call(called);
  return mrecv(call, buf, count, datatype, message, status);
})

MARGAY_TWINS(Imrecv, (void* buf, Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request), {
  Call call(called);
  return imrecv(call, buf, count, datatype, message, request);
})
