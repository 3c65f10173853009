// MPI's receives and probes.
#include <utility>

#include "libraries/nexus_mpi/completion.hpp"
#include "libraries/nexus_mpi/matching.hpp"
#include "libraries/nexus_mpi/serve.hpp"

namespace margay::nexus_mpi {
namespace {

// As for sends.
Communicator* carrier_from(int source, int tag, MPI_Comm communicator) {
  Communicator* const found = find(communicator);
  if (found == nullptr || (source < 0 && source != MPI_ANY_SOURCE) || (tag < 0 && tag != MPI_ANY_TAG)) return nullptr;
  return std::cmp_less(source, found->worlds.size()) || source == MPI_ANY_SOURCE ? found : nullptr;
}

bool is_valid(const void* base, MPI_Count count, MPI_Datatype type) {
  return count >= 0 && type != MPI_DATATYPE_NULL && (base != nullptr || count == 0 || !is_plain(type));
}

void fill(Request& request, const Communicator& communicator, MPI_Comm handle, const Place& place, int source,
          int tag) {
  request.kind = Request::Kind::receive;
  request.handle = handle;
  request.communicator = communicator.number;
  request.source = source;
  request.tag = tag;
  request.place = place;
}

int ended(const Request& request, const char* call, MPI_Status* status) {
  set_status(status, request);
  const int code = error_code(request, call);
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(request.handle, code);
  return code;
}

// The bytes of a probe's match are those of a receive into any room.
template <typename Others>
int receive(const char* call, const Place& place, int source, int tag, MPI_Comm communicator, MPI_Status* status,
            Others others) {
  Communicator* const found = carrier_from(source, tag, communicator);
  if (found == nullptr || !is_valid(place.base, place.count, place.type)) return others();
  return guarded(communicator, call, [&] {
    Request request;
    fill(request, *found, communicator, place, source, tag);
    post(request);
    try {
      serve_until([&request] { return request.is_complete; });
    } catch (...) {
      static_cast<void>(unpost(request));
      throw;
    }
    return ended(request, call, status);
  });
}

template <typename Others>
int begin_receive(const char* call, const Place& place, int source, int tag, MPI_Comm communicator, MPI_Request* out,
                  Others others) {
  Communicator* const found = carrier_from(source, tag, communicator);
  if (found == nullptr || out == nullptr || !is_valid(place.base, place.count, place.type)) return others();
  return guarded(communicator, call, [&] {
    auto request = std::make_unique<Request>();
    Request& added = *request;
    fill(added, *found, communicator, place, source, tag);
    if (!is_plain(place.type)) {
      // The user may free it before the message arrives.
      if (const int code = PMPI_Type_dup(place.type, &added.place.type); code != MPI_SUCCESS) return code;
      added.owns_type = true;
    }
    *out = add_request(std::move(request));
    post(added);
    send_answers();
    return MPI_SUCCESS;
  });
}

void report(const Message& message, MPI_Status* status) {
  set_status(status, message.envelope.source, message.envelope.tag, message.body.size());
}

// Waits for a message, or with `flag` looks once; `take` gets it.
template <typename Take>
int probe(const char* call, Communicator& found, int source, int tag, MPI_Comm communicator, int* flag, Take take) {
  return guarded(communicator, call, [&] {
    auto at = layer->unexpected.end();
    const auto look = [&] {
      at = find_arrived(found, source, tag);
      return at != layer->unexpected.end();
    };
    if (flag == nullptr) {
      serve_until(look);
    } else {
      if (!look()) {
        serve();
        look();
      }
      *flag = at != layer->unexpected.end() ? 1 : 0;
    }
    if (at != layer->unexpected.end()) take(at);
    return MPI_SUCCESS;
  });
}

int probe_message(const char* call, Communicator& found, int source, int tag, MPI_Comm communicator, int* flag,
                  MPI_Message* message, MPI_Status* status) {
  if (flag != nullptr) *message = MPI_MESSAGE_NULL;
  return probe(call, found, source, tag, communicator, flag, [&](auto at) {
    report(*at, status);
    *message = layer->next_matched++;
    layer->matched.emplace(*message, std::pair(communicator, std::move(*at)));
    layer->unexpected.erase(at);
  });
}

// Completes a request with a matched message.
void take_matched(MPI_Message* message, Request& request, const Place& place) {
  const auto at = layer->matched.find(*message);
  request.kind = Request::Kind::receive;
  request.handle = at->second.first;
  request.place = place;
  complete(request, at->second.second);
  layer->matched.erase(at);
  *message = MPI_MESSAGE_NULL;
  send_answers();
}

bool is_matched(const MPI_Message* message) {
  return layer != nullptr && message != nullptr && layer->matched.contains(*message);
}

template <typename Others>
int exchange(const Place& out, int destination, int send_tag, const Place& in, int source, int tag,
             MPI_Comm communicator, MPI_Status* status, Others others) {
  if (find(communicator) == nullptr || in.count < 0 || out.count < 0) return others();
  MPI_Request receives = MPI_REQUEST_NULL;
  int code = MPI_Irecv_c(in.base, in.count, in.type, source, tag, communicator, &receives);
  if (code != MPI_SUCCESS) return code;
  MPI_Request sends = MPI_REQUEST_NULL;
  code = MPI_Isend_c(out.base, out.count, out.type, destination, send_tag, communicator, &sends);
  if (code != MPI_SUCCESS) {
    MPI_Cancel(&receives);
    MPI_Request_free(&receives);
    return code;
  }
  code = wait_for("MPI_Sendrecv", receives, status);
  const int sent = MPI_Wait(&sends, MPI_STATUS_IGNORE);
  return code != MPI_SUCCESS ? code : sent;
}

// MPI_Isendrecv and its replacing form. Nexus has copied the data when the send returns, before the receive overwrites
// them; to MPI_PROC_NULL, none are sent. So the send is complete, and the request is the receive's.
template <typename Others>
int begin_exchange(const Place& out, int destination, int send_tag, const Place& in, int source, int tag,
                   MPI_Comm communicator, MPI_Request* request, Others others) {
  if (find(communicator) == nullptr || request == nullptr || in.count < 0 || out.count < 0) return others();
  MPI_Request sends = MPI_REQUEST_NULL;
  int code = MPI_Isend_c(out.base, out.count, out.type, destination, send_tag, communicator, &sends);
  if (code == MPI_SUCCESS) code = wait_for("MPI_Isendrecv", sends, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return code;
  return MPI_Irecv_c(in.base, in.count, in.type, source, tag, communicator, request);
}

// MPI_Sendrecv_replace.
template <typename Others>
int replace(const Place& place, int destination, int send_tag, int source, int tag, MPI_Comm communicator,
            MPI_Status* status, Others others) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (find(communicator) == nullptr || place.count < 0) return others();
  const int code = begin_exchange(place, destination, send_tag, place, source, tag, communicator, &request, others);
  return code != MPI_SUCCESS ? code : wait_for("MPI_Sendrecv_replace", request, status);
}

}  // namespace
}  // namespace margay::nexus_mpi

using namespace margay::nexus_mpi;

extern "C" {

int MPI_Recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return receive("MPI_Recv", {buf, count, type}, source, tag, comm, status,
                 [&] { return PMPI_Recv(buf, count, type, source, tag, comm, status); });
}
int MPI_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  return begin_receive("MPI_Irecv", {buf, count, type}, source, tag, comm, request,
                       [&] { return PMPI_Irecv(buf, count, type, source, tag, comm, request); });
}
int MPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  return exchange({const_cast<void*>(sendbuf), sendcount, sendtype}, dest, sendtag, {recvbuf, recvcount, recvtype},
                  source, recvtag, comm, status, [&] {
                    return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                                         source, recvtag, comm, status);
                  });
}
int MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status* status) {
  return replace({buf, count, type}, dest, sendtag, source, recvtag, comm, status,
                 [&] { return PMPI_Sendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, status); });
}
int MPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  return begin_exchange({const_cast<void*>(sendbuf), sendcount, sendtype}, dest, sendtag,
                        {recvbuf, recvcount, recvtype}, source, recvtag, comm, request, [&] {
                          return PMPI_Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                                recvtype, source, recvtag, comm, request);
                        });
}
int MPI_Isendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Request* request) {
  const Place place{buf, count, type};
  return begin_exchange(place, dest, sendtag, place, source, recvtag, comm, request, [&] {
    return PMPI_Isendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, request);
  });
}
int MPI_Mrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  if (!is_matched(message) || !is_valid(buf, count, type)) return PMPI_Mrecv(buf, count, type, message, status);
  return guarded(MPI_COMM_WORLD, "MPI_Mrecv", [&] {
    Request request;
    take_matched(message, request, {buf, count, type});
    return ended(request, "MPI_Mrecv", status);
  });
}
int MPI_Imrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  if (!is_matched(message) || request == nullptr || !is_valid(buf, count, type))
    return PMPI_Imrecv(buf, count, type, message, request);
  return guarded(MPI_COMM_WORLD, "MPI_Imrecv", [&] {
    *request = add_request(std::make_unique<Request>());
    take_matched(message, *find_request(*request), {buf, count, type});
    return MPI_SUCCESS;
  });
}

int MPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return receive("MPI_Recv", {buf, count, type}, source, tag, comm, status,
                 [&] { return PMPI_Recv_c(buf, count, type, source, tag, comm, status); });
}
int MPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return begin_receive("MPI_Irecv", {buf, count, type}, source, tag, comm, request,
                       [&] { return PMPI_Irecv_c(buf, count, type, source, tag, comm, request); });
}
int MPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                   MPI_Status* status) {
  return exchange({const_cast<void*>(sendbuf), sendcount, sendtype}, dest, sendtag, {recvbuf, recvcount, recvtype},
                  source, recvtag, comm, status, [&] {
                    return PMPI_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                                           source, recvtag, comm, status);
                  });
}
int MPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag, int source,
                           int recvtag, MPI_Comm comm, MPI_Status* status) {
  return replace({buf, count, type}, dest, sendtag, source, recvtag, comm, status, [&] {
    return PMPI_Sendrecv_replace_c(buf, count, type, dest, sendtag, source, recvtag, comm, status);
  });
}
int MPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                    MPI_Request* request) {
  return begin_exchange({const_cast<void*>(sendbuf), sendcount, sendtype}, dest, sendtag,
                        {recvbuf, recvcount, recvtype}, source, recvtag, comm, request, [&] {
                          return PMPI_Isendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                                  recvtype, source, recvtag, comm, request);
                        });
}
int MPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag, int source,
                            int recvtag, MPI_Comm comm, MPI_Request* request) {
  const Place place{buf, count, type};
  return begin_exchange(place, dest, sendtag, place, source, recvtag, comm, request, [&] {
    return PMPI_Isendrecv_replace_c(buf, count, type, dest, sendtag, source, recvtag, comm, request);
  });
}
int MPI_Mrecv_c(void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  if (!is_matched(message) || !is_valid(buf, count, type)) return PMPI_Mrecv_c(buf, count, type, message, status);
  return guarded(MPI_COMM_WORLD, "MPI_Mrecv", [&] {
    Request request;
    take_matched(message, request, {buf, count, type});
    return ended(request, "MPI_Mrecv", status);
  });
}
int MPI_Imrecv_c(void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  if (!is_matched(message) || request == nullptr || !is_valid(buf, count, type))
    return PMPI_Imrecv_c(buf, count, type, message, request);
  return guarded(MPI_COMM_WORLD, "MPI_Imrecv", [&] {
    *request = add_request(std::make_unique<Request>());
    take_matched(message, *find_request(*request), {buf, count, type});
    return MPI_SUCCESS;
  });
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  Communicator* const found = carrier_from(source, tag, comm);
  if (found == nullptr) return PMPI_Probe(source, tag, comm, status);
  return probe("MPI_Probe", *found, source, tag, comm, nullptr, [&](auto at) { report(*at, status); });
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  Communicator* const found = carrier_from(source, tag, comm);
  if (found == nullptr || flag == nullptr) return PMPI_Iprobe(source, tag, comm, flag, status);
  return probe("MPI_Iprobe", *found, source, tag, comm, flag, [&](auto at) { report(*at, status); });
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  Communicator* const found = carrier_from(source, tag, comm);
  if (found == nullptr || message == nullptr) return PMPI_Mprobe(source, tag, comm, message, status);
  return probe_message("MPI_Mprobe", *found, source, tag, comm, nullptr, message, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  Communicator* const found = carrier_from(source, tag, comm);
  if (found == nullptr || flag == nullptr || message == nullptr)
    return PMPI_Improbe(source, tag, comm, flag, message, status);
  return probe_message("MPI_Improbe", *found, source, tag, comm, flag, message, status);
}

}  // extern "C"
