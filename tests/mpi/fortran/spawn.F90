! Tests of started processes: commands, arguments and error codes as Fortran has them.
! ranks: 1 2
! reference: none: Debian's MPICH cannot start processes with UCX
#include "binding.inc"

program spawn
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierr, rank, got, remotes, codes(2), class
  character(len=512) :: program_name, argument
  character(len=16) :: arguments(2)
  T_COMM :: parent, children
  STATUS(status)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_get_parent(parent, ierr)
  if (parent /= MPI_COMM_NULL) then
    call get_command_argument(1, argument)
    call check(argument == 'a child', 'the argument of a started process')
    call MPI_Send(rank, 1, MPI_INTEGER, 0, 4, parent, ierr)
    call MPI_Comm_disconnect(parent, ierr)
    call MPI_Finalize(ierr)
    stop
  end if
  call get_command_argument(0, program_name)
  arguments(1) = 'a child'
  arguments(2) = ' '
  codes = -1
  call MPI_Comm_spawn(program_name, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes, ierr)
  call check(all(codes == MPI_SUCCESS), 'the codes of MPI_Comm_spawn')
  call MPI_Comm_remote_size(children, remotes, ierr)
  call check(remotes == 2, 'the number of started processes')
  got = -1
  if (rank == 0) then
    call MPI_Recv(got, 1, MPI_INTEGER, 1, 4, children, status, ierr)
    call check(got == 1, 'a message of a started process')
    call MPI_Recv(got, 1, MPI_INTEGER, 0, 4, children, status, ierr)
  end if
  call MPI_Comm_disconnect(children, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Comm_spawn('/nonexistent/program', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, &
                      MPI_ERRCODES_IGNORE, ierr)
  call MPI_Error_class(ierr, class, ierr)
  call check(class == MPI_ERR_SPAWN, 'MPI_Comm_spawn of a program that is not there')
  call suite_end('spawn')
end program
