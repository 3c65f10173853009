! Tests of a program's own functions in Fortran: reductions, error handlers of communicators, windows and sessions,
! generalized requests with all their ends.
! ranks: 1 3
! reference: 1 3
#include "binding.inc"

module functions
  USE_MPI
  implicit none
#ifdef BINDING_MPIF
  INCLUDE_MPI
#endif
  integer :: queries = 0, frees = 0, cancels = 0, handled = 0, last_code = 0
  logical :: last_complete = .false.
  ! a request keeps the address of its extra state, here and in MPICH
  integer(MPI_ADDRESS_KIND), save :: normal = 31, fails = 32
contains
#ifdef BINDING_F08
  ! (a, b) then (c, d) is (a c, b c + d): associative, not commutative.
  subroutine compose(first, second, length, type)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: first, second
    integer :: length
    type(MPI_Datatype) :: type
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(first, in, (/ 2 * length /))
    call c_f_pointer(second, inout, (/ 2 * length /))
    call compose_all(in, inout, length)
  end subroutine
  subroutine on_comm(comm, code)
    type(MPI_Comm) :: comm
    integer :: code
    handled = handled + 1
    last_code = code
  end subroutine
  subroutine on_win(win, code)
    type(MPI_Win) :: win
    integer :: code
    handled = handled + 1
    last_code = code
  end subroutine
  subroutine on_session(session, code)
    type(MPI_Session) :: session
    integer :: code
    handled = handled + 1
    last_code = code
  end subroutine
#else
  subroutine compose(in, inout, length, type)
    integer :: length, type
    integer :: in(2 * length), inout(2 * length)
    call compose_all(in, inout, length)
  end subroutine
  subroutine on_comm(comm, code)
    integer :: comm, code
    handled = handled + 1
    last_code = code
  end subroutine
  subroutine on_win(win, code)
    integer :: win, code
    handled = handled + 1
    last_code = code
  end subroutine
  subroutine on_session(session, code)
    integer :: session, code
    handled = handled + 1
    last_code = code
  end subroutine
#endif
  subroutine compose_all(in, inout, length)
    integer :: length, in(*), inout(*), i
    do i = 1, 2 * length, 2
      inout(i + 1) = in(i + 1) * inout(i) + inout(i + 1)
      inout(i) = in(i) * inout(i)
    end do
  end subroutine

  subroutine query(extra, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    STATUS(status)
    integer :: ierror
    queries = queries + 1
    call MPI_Status_set_elements(status, MPI_INTEGER, 5, ierror)
    call MPI_Status_set_cancelled(status, cancels > 0, ierror)
    SOURCE_OF(status) = 7
    TAG_OF(status) = 8
    ierror = merge(MPI_ERR_OTHER, MPI_SUCCESS, extra == 32)
  end subroutine
  subroutine release(extra, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    frees = frees + 1
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, extra == 31 .or. extra == 32)
  end subroutine
  subroutine cancel(extra, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    cancels = cancels + 1
    last_complete = complete
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, extra == 31)
  end subroutine
end module

program callbacks
  use functions
  implicit none
  integer :: ierr, rank, n
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call reductions()
  call error_handlers()
  call session_handler()
  call generalized()
  call suite_end('callbacks')
contains

  subroutine reductions()
    integer :: mine(6), all(6), expected(6), of_rank(6), i
    logical :: commutes
    T_OP :: op
    call MPI_Op_create(compose, .false., op, ierr)
    call MPI_Op_commutative(op, commutes, ierr)
    call check(.not. commutes, 'MPI_Op_commutative')
    mine = (/ rank + 2, 1, 3, rank, 1, -rank /)
    expected = (/ 1, 0, 1, 0, 1, 0 /)
    do i = 0, n - 1
      of_rank = (/ i + 2, 1, 3, i, 1, -i /)
      call compose_all(expected, of_rank, 3)
      expected = of_rank
    end do
    ! Pairs that pipelines must not split would need their own type; 6 INTEGERs are one block here.
    call MPI_Allreduce(mine, all, 3, MPI_2INTEGER, op, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. all(1) == expected(1) .and. all(2) == expected(2), 'MPI_Allreduce')
    call check(all(3) == expected(3) .and. all(6) == expected(6), 'MPI_Allreduce, the rest')
    call MPI_Scan(mine, all, 3, MPI_2INTEGER, op, MPI_COMM_WORLD, ierr)
    if (rank == n - 1) call check(all(2) == expected(2), 'MPI_Scan')
    call MPI_Reduce_local(mine, all, 3, MPI_2INTEGER, op, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_Reduce_local')
    call MPI_Op_free(op, ierr)
  end subroutine

  subroutine error_handlers()
    integer :: code, before
    integer, asynchronous :: memory(4)
    T_ERRHANDLER :: handler, same
    T_COMM :: comm
    T_WIN :: win
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_create_errhandler(on_comm, handler, ierr)
    call MPI_Comm_set_errhandler(comm, handler, ierr)
    call MPI_Comm_get_errhandler(comm, same, ierr)
    call check(VALUE_OF(same) == VALUE_OF(handler), 'MPI_Comm_get_errhandler')
    call MPI_Errhandler_free(same, ierr)
    before = handled
    call MPI_Send(memory, 1, MPI_INTEGER, n + 5, 1, comm, ierr)
    call check(handled == before + 1 .and. ierr == last_code, 'an error handler of a communicator')
    call MPI_Error_class(ierr, code, ierr)
    call check(code == MPI_ERR_RANK, 'the class of the error')
    call MPI_Comm_call_errhandler(comm, MPI_ERR_TAG, ierr)
    call check(handled == before + 2 .and. last_code == MPI_ERR_TAG, 'MPI_Comm_call_errhandler')
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Comm_free(comm, ierr)
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Win_create_errhandler(on_win, handler, ierr)
    call MPI_Win_set_errhandler(win, handler, ierr)
    before = handled
    call MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC, ierr)
    call check(handled == before + 1 .and. last_code == MPI_ERR_RMA_SYNC, 'an error handler of a window')
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Win_free(win, ierr)
  end subroutine

  subroutine session_handler()
    T_ERRHANDLER :: handler
    T_SESSION :: session
    integer :: before
    call MPI_Session_create_errhandler(on_session, handler, ierr)
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierr)
    call MPI_Session_set_errhandler(session, handler, ierr)
    before = handled
    call MPI_Session_call_errhandler(session, MPI_ERR_ARG, ierr)
    call check(handled == before + 1 .and. last_code == MPI_ERR_ARG, 'an error handler of a session')
    call MPI_Session_finalize(session, ierr)
    call MPI_Errhandler_free(handler, ierr)
  end subroutine

  subroutine generalized()
    T_REQUEST :: request, two(2)
    STATUS(status)
    integer :: count, token
    logical :: flag
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
    call MPI_Grequest_start(query, release, cancel, normal, request, ierr)
    call MPI_Test(request, flag, status, ierr)
    call check(.not. flag .and. queries == 0, 'not complete yet')
    call MPI_Grequest_complete(request, ierr)
    call MPI_Request_get_status(request, flag, status, ierr)
    call check(flag .and. queries == 1 .and. frees == 0, 'MPI_Request_get_status')
    call MPI_Wait(request, status, ierr)
    call check(ierr == MPI_SUCCESS .and. queries == 2 .and. frees == 1, 'query, then free')
    call check(VALUE_OF(request) == VALUE_OF(MPI_REQUEST_NULL), 'the request is gone')
    call check(SOURCE_OF(status) == 7 .and. TAG_OF(status) == 8, 'the status of the query function')
    call MPI_Get_elements(status, MPI_INTEGER, count, ierr)
    call check(count == 5, 'its elements')
    ! Two at once: one of them a message.
    call MPI_Grequest_start(query, release, cancel, normal, two(1), ierr)
    call MPI_Irecv(token, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, two(2), ierr)
    call MPI_Send(4, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, ierr)
    call MPI_Grequest_complete(two(1), ierr)
    call MPI_Waitall(2, two, MPI_STATUSES_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. token == 4 .and. frees == 2, 'MPI_Waitall')
    ! Cancelled before and after it is complete.
    call MPI_Grequest_start(query, release, cancel, normal, request, ierr)
    call MPI_Cancel(request, ierr)
    call check(cancels == 1 .and. .not. last_complete, 'MPI_Cancel of one that is not complete')
    call MPI_Grequest_complete(request, ierr)
    call MPI_Cancel(request, ierr)
    call check(cancels == 2 .and. last_complete, 'MPI_Cancel of one that is complete')
    call MPI_Wait(request, status, ierr)
    call MPI_Test_cancelled(status, flag, ierr)
    call check(flag, 'MPI_Test_cancelled')
    ! The query function fails: the call returns its error.
    call MPI_Grequest_start(query, release, cancel, fails, request, ierr)
    call MPI_Grequest_complete(request, ierr)
    call MPI_Wait(request, status, ierr)
    call check(ierr == MPI_ERR_OTHER .and. frees == 4, 'a query function that fails')
  end subroutine
end program
