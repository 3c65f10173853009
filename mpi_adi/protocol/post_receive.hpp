// The posting of a receive. Paper 001, section 2: the entry is prepared, "however, the entry is not activated until a
// search of the dynamic heap is performed ... This operation must be atomic to insure that the kernel doesn't deposit a
// message in the dynamic heap between the time the heap is searched and the entry is activated." It is atomic here,
// because the kernel delivers only in its progress function, which needs the process lock, and the caller has that
// lock. The library of a lab breaks this on purpose (posting_gap()).
#pragma once

#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// The gap between the search of the heap and the listing of the entry. It is empty, so a receive is posted atomically.
// In the library of a lab, compiled with MARGAY_RACY_POSTING, the kernel delivers here: that library loses messages,
// for students to find (mpi_adi/racy).
#ifdef MARGAY_RACY_POSTING
void posting_gap(DeviceParts& parts, const CheckedReceive& receive);
#else
inline void posting_gap(DeviceParts& /*parts*/, const CheckedReceive& /*receive*/) {}
#endif

// Starts a receive: takes its message out of the heap, or puts its match entry into the list, for the message that will
// arrive. The request may be complete on return. See Device. Requires: the source is a rank or MPI_ANY_SOURCE.
[[nodiscard]] ReceiveRequest& post_receive(DeviceParts& parts, const CheckedReceive& receive);
// The same for bytes that the program declared as elements of `traced_type`, the type that a trace reports.
[[nodiscard]] ReceiveRequest& post_receive_of(DeviceParts& parts, const CheckedReceive& receive, Datatype& traced_type);

// Takes a receive from the pool and sets its buffer. The receive is in no list yet.
[[nodiscard]] ReceiveRequest& prepare_receive(DeviceParts& parts, void* buffer, std::int64_t count, Datatype& type,
                                              Communicator& communicator);

}  // namespace margay::mpi_adi
