// Posting a receive. Paper 001, section 2: the entry is prepared, "however, the entry is not activated until a search
// of the dynamic heap is performed ... This operation must be atomic to insure that the kernel doesn't deposit a
// message in the dynamic heap between the time the heap is searched and the entry is activated." It is: the kernel
// delivers in its progress only, which runs under the process lock that the caller holds. In the library of a lab it is
// not (posting_gap()).
#pragma once

#include "mpi_adi/device/envelope.hpp"
#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// The gap between the search of the heap and the listing of the entry: nothing, so a receive is posted atomically. In
// the library of a lab, which is compiled with MARGAY_RACY_POSTING, the kernel has a turn there: that library loses
// messages, for students to find them (mpi_adi/racy).
#ifdef MARGAY_RACY_POSTING
void posting_gap(DeviceParts& parts, const CheckedReceive& receive);
#else
inline void posting_gap(DeviceParts& /*parts*/, const CheckedReceive& /*receive*/) {}
#endif

// See Device. Requires: the source is a rank or MPI_ANY_SOURCE.
[[nodiscard]] ReceiveRequest& post_receive(DeviceParts& parts, const CheckedReceive& receive);
// The same of bytes that the program has as elements of `told`, the type that a trace reports.
[[nodiscard]] ReceiveRequest& post_receive_of(DeviceParts& parts, const CheckedReceive& receive, Datatype& told);

// A receive with its buffer, in no list yet.
[[nodiscard]] ReceiveRequest& prepare_receive(DeviceParts& parts, void* buffer, std::int64_t count, Datatype& type,
                                              Communicator& communicator);

}  // namespace margay::mpi_adi
