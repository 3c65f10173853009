"""Names of MPI's error classes, whose numbers are in a trace's `mpi_leave` events (mpi_adi/abi/margay_mpi/errors.h)."""

CLASSES = {1: "MPI_ERR_BUFFER", 2: "MPI_ERR_COUNT", 3: "MPI_ERR_TYPE", 4: "MPI_ERR_TAG", 5: "MPI_ERR_COMM", 6: "MPI_ERR_RANK",
           12: "MPI_ERR_ARG", 13: "MPI_ERR_UNKNOWN", 14: "MPI_ERR_TRUNCATE", 15: "MPI_ERR_OTHER", 17: "MPI_ERR_IN_STATUS",
           18: "MPI_ERR_PENDING", 19: "MPI_ERR_REQUEST", 45: "MPI_ERR_WIN", 49: "MPI_ERR_RMA_CONFLICT", 50: "MPI_ERR_RMA_SYNC",
           51: "MPI_ERR_SIZE", 52: "MPI_ERR_DISP", 55: "MPI_ERR_RMA_RANGE"}


def error_class(number):
    return f"{CLASSES[number]}" if number in CLASSES else f"of class {number}"


def failed(trace, name, rank, begin=0.0):
    """(enter, error class as words) of the calls of a rank that returned an error, from a time on."""
    return [(enter, error_class(leave.error_class)) for enter, leave in trace.calls(name, rank=rank)
            if leave and leave.error_class and enter.time >= begin]
