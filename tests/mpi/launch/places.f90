! Mistakes of a Fortran program, for places.py, each in a line that a comment labels.
program places
  use mpi_f08
  implicit none
  integer :: rank
  character(16) :: what
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_command_argument(1, what)
  if (what == "leaks") call leaks()
  if (what == "types") call types()
  if (what == "conflict") call conflict()
  call MPI_Finalize()
contains
  subroutine leaks()
    type(MPI_Comm) :: copy
    call MPI_Comm_dup(MPI_COMM_WORLD, copy) ! leaked communicator
  end subroutine

  subroutine types()
    integer :: numbers(2)
    real :: floats(2)
    numbers = 0
    floats = 0
    if (rank == 0) call MPI_Send(floats, 2, MPI_REAL, 1, 0, MPI_COMM_WORLD)
    if (rank == 1) call MPI_Recv(numbers, 2, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ! types
  end subroutine

  subroutine conflict()
    integer, asynchronous :: memory(4), number
    type(MPI_Win) :: window
    number = 1
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
    call MPI_Win_fence(0, window)
    if (rank == 1) then
      call MPI_Put(number, 1, MPI_INTEGER, 0, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window) ! first access
      call MPI_Put(number, 1, MPI_INTEGER, 0, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window) ! second access
    end if
    call MPI_Win_fence(0, window)
    call MPI_Win_free(window)
  end subroutine
end program
