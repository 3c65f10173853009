// What happens between the search of the heap and the listing of the entry (protocol/post_receive): nothing, so a
// receive is posted atomically. Only in the library of a lab, which is compiled with MARGAY_RACY_POSTING, the kernel
// has a turn there: that library loses messages, for students to find them (mpi_adi/racy).
#pragma once

#include "mpi_adi/device/checked_call.hpp"
#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

#ifdef MARGAY_RACY_POSTING
void posting_gap(DeviceParts& parts, const CheckedReceive& receive);
#else
inline void posting_gap(DeviceParts& /*parts*/, const CheckedReceive& /*receive*/) {}
#endif

}  // namespace margay::mpi_adi
