/* One-sided communication as the proposal of April 1996 had it and paper 001, section 4, describes it: a window of any
 * memory, reached through a communicator that does both kinds of communication.
 *
 * MPI-2 took the names MPI_Put and MPI_Get for functions of windows, so the proposal's MPI_Put, MPI_Get, MPI_Iput and
 * MPI_Iget are MPI_RMA_put, MPI_RMA_get, MPI_RMA_iput and MPI_RMA_iget here. Everything goes by messages to the
 * target's put and get portals (6 and 7, figure 11), to oneself too, so a trace shows what the paper tells.
 *
 * - A put is complete when the message is sent: the origin's memory is free again. Puts of one origin to one target are
 *   carried out in their order, and a message that is received was sent behind them. There is no other completion: a
 *   collective call is no such message, as its data may take another way than the puts (through memory of the node), so
 *   after a barrier puts may still be on their way. MPI_RMA_free waits for all.
 * - A get is complete when the data is here.
 * - A window's memory is plain memory, of malloc() or not; so the proposal's function that allocates it is malloc().
 * - Datatypes whose elements at the target are not one run of bytes go as the paper says, one message a block.
 */
#ifndef MARGAY_MPI_RMA_1996_H
#define MARGAY_MPI_RMA_1996_H

#ifndef MPI_VERSION
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Exposes `size` bytes at `base`, addressed in steps of `disp_unit` bytes, to the members of `comm`; *newcomm does both
 * point-to-point communication and one-sided. Collective over comm. The memory is the caller's, and stays until
 * MPI_RMA_free. Errors: MPI_ERR_COMM, MPI_ERR_SIZE, MPI_ERR_DISP, MPI_ERR_BASE. */
int MPI_RMA_init(void* base, MPI_Aint size, int disp_unit, MPI_Comm comm, MPI_Comm* newcomm);
/* The communicator and its window go; *comm becomes MPI_COMM_NULL. Collective, when nobody uses the window any more.
 * The proposal's MPI_Comm_free of such a communicator is refused. */
int MPI_RMA_free(MPI_Comm* comm);

/* origin_count elements at origin_addr to target_count elements in target_rank's window, target_disp steps from its
 * beginning. Errors: those of MPI_Put (MPI 4.0, 12.3.1), MPI_ERR_COMM for a communicator of another sort. */
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
