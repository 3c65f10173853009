! The common part of the Fortran programs: counters of failed checks, and the closing line. External, so that it works
! with each binding.
subroutine check(holds, text)
  implicit none
  include 'mpif.h'
  logical, intent(in) :: holds
  character(*), intent(in) :: text
  integer :: failures, rank, ierr
  common /suite/ failures
  if (holds) return
  failures = failures + 1
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (failures <= 20) write (0, '(a,i0,2a)') 'rank ', rank, ': ', text
end subroutine

! Requires: MPI is initialized. Ends MPI and the program.
subroutine suite_end(name)
  implicit none
  include 'mpif.h'
  character(*), intent(in) :: name
  integer :: failures, all, rank, ierr
  common /suite/ failures
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Allreduce(failures, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. all == 0) print '(2a)', name, ': no errors'
  call MPI_Finalize(ierr)
  if (all /= 0) stop 1
end subroutine

block data suite_data
  integer :: failures
  common /suite/ failures
  data failures /0/
end block data
