/*
 * The C interface of MPI 4.0 in margay, for C and C++.
 *
 * Binary contract: every value, layout and symbol is that of the MPICH 4.0.2 ABI (the "MPICH ABI initiative",
 * libmpi.so.12). A program built against this header runs on any library of that ABI, and a program built against
 * another header of that ABI runs on margay. tests/mpi_adi/abi_probe.py compares it with MPICH's own header where that
 * is installed.
 *
 * The MPICH_* version macros name the ABI, as in the other libraries of that ABI: programs test them to choose code
 * that suits the handles and extensions below. MARGAY_VERSION identifies margay.
 *
 * All functions of the ABI are declared, and all can be linked. A function that margay does not implement fails with
 * MPI_ERR_UNSUPPORTED_OPERATION and a message that names it (docs/mpi_coverage.md).
 */
#ifndef MPI_INCLUDED
#define MPI_INCLUDED

#pragma GCC system_header

#define MARGAY_VERSION "0.1.0"
#define MARGAY_NUMVERSION 100

#define MPI_VERSION 4
#define MPI_SUBVERSION 0

#define MPICH 1
#define MPICH_NAME 4
#define MPICH_HAS_C2F 1
#define MPICH_VERSION "4.0.2"
#define MPICH_NUMVERSION 40002300
#define MPICH_RELEASE_TYPE_ALPHA 0
#define MPICH_RELEASE_TYPE_BETA 1
#define MPICH_RELEASE_TYPE_RC 2
#define MPICH_RELEASE_TYPE_PATCH 3
#define MPICH_CALC_VERSION(major, minor, revision, type, patch) \
  ((major)*10000000 + (minor)*100000 + (revision)*1000 + (type)*100 + (patch))

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#include <stdint.h>
#endif

/* These declarations are what libmpi exports, whatever the including program's default visibility is. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Types first, because the other parts use them. */
/* clang-format off */
#include "margay_mpi/types.h"
#include "margay_mpi/constants.h"
#include "margay_mpi/datatypes.h"
#include "margay_mpi/errors.h"
#include "margay_mpi/tools.h"

#ifndef MPICH_SUPPRESS_PROTOTYPES
#include "margay_mpi/fn_environment.h"
#include "margay_mpi/fn_point_to_point.h"
#include "margay_mpi/fn_request.h"
#include "margay_mpi/fn_datatype.h"
#include "margay_mpi/fn_collective.h"
#include "margay_mpi/fn_communicator.h"
#include "margay_mpi/fn_topology.h"
#include "margay_mpi/fn_one_sided.h"
#include "margay_mpi/fn_file.h"
#include "margay_mpi/fn_tools.h"
#endif
/* clang-format on */

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
