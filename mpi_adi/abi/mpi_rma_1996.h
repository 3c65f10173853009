/* One-sided communication as the proposal of April 1996 had it and paper 001, section 4, describes it: a window of any
 * memory, reached through a communicator that does both kinds of communication.
 *
 * MPI-2 took the names MPI_Put and MPI_Get for functions of windows, so the proposal's MPI_Put, MPI_Get, MPI_Iput and
 * MPI_Iget are MPI_RMA_put, MPI_RMA_get, MPI_RMA_iput and MPI_RMA_iget here. All accesses are messages to the target's
 * put and get portals (6 and 7, figure 11), also those to oneself, so a trace shows the paper's protocol.
 *
 * - A put is complete when the message is sent: the origin's memory is free again. Puts of one origin to one target are
 *   performed in their order, and a message that was sent behind them and is received proves that they are done. There
 *   is no other completion: the data of a collective call may take another path than the puts (through memory of the
 *   node), so puts may still be under way after a barrier. MPI_RMA_free waits for all.
 * - A get is complete when the data has arrived.
 * - A window's memory is plain memory, of malloc() or not; so the proposal's function that allocates it is malloc().
 * - An access to elements that are not one run of bytes at the target is one message for each block, as in the paper.
 */
#ifndef MARGAY_MPI_RMA_1996_H
#define MARGAY_MPI_RMA_1996_H

#ifndef MPI_VERSION
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Exposes `size` bytes at `base`, addressed in steps of `disp_unit` bytes, to the members of `comm`; *newcomm supports
 * point-to-point and one-sided communication. Collective over comm. The caller owns the memory, which must stay valid
 * until MPI_RMA_free. Errors: MPI_ERR_COMM, MPI_ERR_SIZE, MPI_ERR_DISP, MPI_ERR_BASE. */
int MPI_RMA_init(void* base, MPI_Aint size, int disp_unit, MPI_Comm comm, MPI_Comm* newcomm);
/* Frees the communicator and its window; *comm becomes MPI_COMM_NULL. Collective, after the last use of the window.
 * MPI_Comm_free, which the proposal allows for such a communicator, fails. */
int MPI_RMA_free(MPI_Comm* comm);

/* Copy origin_count elements at origin_addr to, or from, target_count elements in target_rank's window, target_disp
 * steps from its start. Errors: those of MPI_Put (MPI 4.0, 12.3.1); MPI_ERR_COMM for one without a window. */
int MPI_RMA_put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Comm comm);
int MPI_RMA_get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Comm comm);
/* The same, with a request for MPI_Wait and MPI_Test. "A non-blocking put must build a request handle that is
 * immediately marked completed": it is, unless the wire has no room for the message yet. */
int MPI_RMA_iput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                 MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Comm comm,
                 MPI_Request* request);
int MPI_RMA_iget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                 MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Comm comm,
                 MPI_Request* request);

#ifdef __cplusplus
}
#endif

#endif
