// What happens to a send under way: its transmission is over, an answer came, its body was read. In any order.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// The request's transmission came off the kernel's list: sent, stopped, or failed (the request then ends with an
// error).
[[gnu::noinline]] void body_taken(DeviceParts& parts, SendRequest& request);
// Something came to the request's acknowledgment entry: the kernel's acknowledgment, a synchronous answer, or both.
[[gnu::noinline]] void answers_came(DeviceParts& parts, SendRequest& request);
// The receiver has pulled the body, or as much of it as it has room for.
[[gnu::noinline]] void body_read(DeviceParts& parts, SendRequest& request);

}  // namespace margay::mpi_adi
