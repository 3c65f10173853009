! Tests of ports and published names: blank-padded strings of Fortran, and the intercommunicator of two groups.
! ranks: 2 3
! reference: none: Debian's MPICH has no ports with UCX
#include "binding.inc"

program ports
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierr, rank, n, color, remotes, got, class
  character(len=MPI_MAX_PORT_NAME) :: port, found
  T_COMM :: group, bridge
  STATUS(status)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  color = merge(0, 1, rank == 0)
  call MPI_Comm_split(MPI_COMM_WORLD, color, rank, group, ierr)
  found = ' '
  if (rank == 0) then
    call MPI_Open_port(MPI_INFO_NULL, port, ierr)
    call MPI_Publish_name('fortran ocean', MPI_INFO_NULL, port, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Publish_name')
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    call MPI_Comm_accept(port, MPI_INFO_NULL, 0, group, bridge, ierr)
  else
    if (rank == 1) call MPI_Lookup_name('fortran ocean', MPI_INFO_NULL, found, ierr)
    call MPI_Comm_connect(found, MPI_INFO_NULL, 0, group, bridge, ierr)
  end if
  call MPI_Comm_remote_size(bridge, remotes, ierr)
  call check(remotes == merge(n - 1, 1, rank == 0), 'MPI_Comm_connect')
  got = -1
  if (rank < 2) then
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 4, got, 1, MPI_INTEGER, 0, 4, bridge, status, ierr)
    call check(got == 1 - rank, 'MPI_Sendrecv between the groups')
  end if
  call MPI_Comm_disconnect(bridge, ierr)
  call check(bridge == MPI_COMM_NULL, 'MPI_Comm_disconnect')
  if (rank == 0) then
    call MPI_Unpublish_name('fortran ocean', MPI_INFO_NULL, port, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Unpublish_name')
    call MPI_Close_port(port, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Close_port')
  end if
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
  call MPI_Lookup_name('no ocean', MPI_INFO_NULL, found, ierr)
  call MPI_Error_class(ierr, class, ierr)
  call check(class == MPI_ERR_NAME, 'MPI_Lookup_name of an unpublished name')
  call MPI_Comm_free(group, ierr)
  call suite_end('ports')
end program
