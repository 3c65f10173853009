! Fortran: saved variables, units of one number in each rank, output, the status of stop.
program units
  implicit none
  integer, save :: count = 5
  integer :: rank, round, number
  real :: values(200000) = 1.0
  character(len=20) :: text
  common /shared/ number

  call get_environment_variable("RANK", text)
  read (text, *) rank
  number = rank
  open (unit=10, file="units_" // trim(text), status="replace")
  do round = 1, 4
    count = count + rank
    values(round) = values(round) + rank
    write (10, *) "rank", rank, "round", round
    print *, "count", count, "sum", sum(values), number
    call pause_a_moment()
  end do
  rewind (10)
  read (10, '(a)') text
  print '(2a)', "read", text
  close (10, status="delete")
  write (*, '(a)', advance="no") "half "
  call pause_a_moment()
  write (*, '(a)') "line"
  if (rank == 1) stop 3
  if (rank == 2) stop 4
contains
  subroutine pause_a_moment()
    interface
      integer(4) function usleep(microseconds) bind(c, name="usleep")
        integer(4), value :: microseconds
      end function usleep
    end interface
    integer(4) :: ignored
    ignored = usleep(1000)
  end subroutine pause_a_moment
end program units
