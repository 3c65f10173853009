! Tests of attributes of communicators, datatypes and windows: keys with a program's own functions, which copy, decline
! or fail, and with MPI's; extreme values; the predefined attributes; MPI-1's names.
! ranks: 1 2
! reference: 1 2
#include "binding.inc"

! The calls of the functions: their number, and the value of the last one.
module seen
  USE_MPI
  implicit none
#ifdef BINDING_MPIF
  INCLUDE_MPI
#endif
  integer :: copies = 0, deletes = 0
  integer(MPI_ADDRESS_KIND) :: last = 0
  integer(MPI_ADDRESS_KIND), parameter :: kDeclines = 12, kFails = 13, kStays = 14
  ! Extra states: a key keeps the address of one, here and in MPICH.
  integer(MPI_ADDRESS_KIND), save :: normal = 11, declines = kDeclines, fails = kFails, stays = kStays
contains
  subroutine see_copy(extra, in, out, flag, ierror)
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    integer :: ierror
    copies = copies + 1
    last = in
    out = in + 1
    flag = extra /= kDeclines
    ierror = merge(MPI_ERR_OTHER, MPI_SUCCESS, extra == kFails)
  end subroutine
  subroutine see_delete(value, extra, ierror)
    integer(MPI_ADDRESS_KIND) :: value, extra
    integer :: ierror
    deletes = deletes + 1
    last = value
    ierror = merge(MPI_ERR_OTHER, MPI_SUCCESS, extra == kStays)
  end subroutine
  subroutine copy_comm(comm, keyval, extra, in, out, flag, ierror)
    T_COMM :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    call see_copy(extra, in, out, flag, ierror)
  end subroutine
  subroutine delete_comm(comm, keyval, value, extra, ierror)
    T_COMM :: comm
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    call see_delete(value, extra, ierror)
  end subroutine
  subroutine copy_type(type, keyval, extra, in, out, flag, ierror)
    T_TYPE :: type
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    call see_copy(extra, in, out, flag, ierror)
  end subroutine
  subroutine delete_type(type, keyval, value, extra, ierror)
    T_TYPE :: type
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    call see_delete(value, extra, ierror)
  end subroutine
  subroutine copy_win(win, keyval, extra, in, out, flag, ierror)
    T_WIN :: win
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    call see_copy(extra, in, out, flag, ierror)
  end subroutine
  subroutine delete_win(win, keyval, value, extra, ierror)
    T_WIN :: win
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    call see_delete(value, extra, ierror)
  end subroutine
end module

program attributes
  use seen
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
  call communicators()
  call datatypes()
  call windows()
  call predefined()
#ifndef BINDING_F08
  call first_names()
#endif
  call suite_end('attributes')
contains

  subroutine communicators()
    integer(MPI_ADDRESS_KIND), parameter :: values(5) = (/ 0_MPI_ADDRESS_KIND, 1234567890123_MPI_ADDRESS_KIND, &
      -1_MPI_ADDRESS_KIND, huge(0_MPI_ADDRESS_KIND) - 1, -huge(0_MPI_ADDRESS_KIND) /)
    integer(MPI_ADDRESS_KIND) :: value
    integer :: key, dup_key, null_key, before, i
    logical :: flag
    T_COMM :: comm, dup
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_create_keyval(copy_comm, delete_comm, key, normal, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup_key, normal, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, null_key, normal, ierr)
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'comm: an attribute that was not set')
    do i = 1, size(values)
      before = deletes
      call MPI_Comm_set_attr(comm, key, values(i), ierr)
      call check(ierr == MPI_SUCCESS .and. deletes == before + merge(0, 1, i == 1), 'comm: set, the old one deleted')
      call MPI_Comm_set_attr(comm, dup_key, values(i), ierr)
      call MPI_Comm_set_attr(comm, null_key, values(i), ierr)
      call MPI_Comm_get_attr(comm, key, value, flag, ierr)
      call check(flag .and. value == values(i), 'comm: get')
      before = copies
      call MPI_Comm_dup(comm, dup, ierr)
      call check(copies == before + 1 .and. last == values(i), 'comm: copied once')
      call MPI_Comm_get_attr(dup, key, value, flag, ierr)
      call check(flag .and. value == values(i) + 1, 'comm: what the copy function gave')
      call MPI_Comm_get_attr(dup, dup_key, value, flag, ierr)
      call check(flag .and. value == values(i), 'comm: MPI_COMM_DUP_FN')
      call MPI_Comm_get_attr(dup, null_key, value, flag, ierr)
      call check(.not. flag, 'comm: MPI_COMM_NULL_COPY_FN')
      before = deletes
      call MPI_Comm_free(dup, ierr)
      call check(deletes == before + 1 .and. last == values(i) + 1, 'comm: deleted with the communicator')
    end do
    before = deletes
    call MPI_Comm_delete_attr(comm, key, ierr)
    call check(deletes == before + 1, 'comm: deleted')
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call check(.not. flag, 'comm: gone')
    call MPI_Comm_free_keyval(key, ierr)
    call check(key == MPI_KEYVAL_INVALID, 'comm: the freed key')
    call MPI_Comm_free_keyval(dup_key, ierr)
    call MPI_Comm_free_keyval(null_key, ierr)
    call refusals(comm)
    call MPI_Comm_free(comm, ierr)
  end subroutine

  ! Functions that decline or fail: the call returns their error.
  subroutine refusals(comm)
    T_COMM, intent(in) :: comm
    integer(MPI_ADDRESS_KIND) :: value
    integer :: key
    logical :: flag
    T_COMM :: dup
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_create_keyval(copy_comm, delete_comm, key, declines, ierr)
    call MPI_Comm_set_attr(comm, key, 5_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_dup(comm, dup, ierr)
    call MPI_Comm_get_attr(dup, key, value, flag, ierr)
    call check(.not. flag, 'comm: a copy function that declines')
    call MPI_Comm_free(dup, ierr)
    call MPI_Comm_delete_attr(comm, key, ierr)
    call MPI_Comm_free_keyval(key, ierr)
    call MPI_Comm_create_keyval(copy_comm, delete_comm, key, fails, ierr)
    call MPI_Comm_set_attr(comm, key, 6_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_dup(comm, dup, ierr)
    call check(ierr /= MPI_SUCCESS, 'comm: a copy function that fails')
    call MPI_Comm_delete_attr(comm, key, ierr)
    call MPI_Comm_free_keyval(key, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, key, stays, ierr)
    call MPI_Comm_set_attr(comm, key, 7_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_delete_attr(comm, key, ierr)
    call check(ierr /= MPI_SUCCESS, 'comm: a delete function that fails')
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call check(flag .and. value == 7, 'comm: what could not be deleted is there')
    stays = 15
    call MPI_Comm_delete_attr(comm, key, ierr)
    call check(ierr == MPI_SUCCESS, 'comm: deleted at last')
    call MPI_Comm_free_keyval(key, ierr)
  end subroutine

  subroutine datatypes()
    integer(MPI_ADDRESS_KIND) :: value
    integer :: key, dup_key, before
    logical :: flag
    T_TYPE :: type, dup
    call MPI_Type_contiguous(3, MPI_INTEGER, type, ierr)
    call MPI_Type_create_keyval(copy_type, delete_type, key, normal, ierr)
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, dup_key, normal, ierr)
    call MPI_Type_set_attr(type, key, -2_MPI_ADDRESS_KIND**40, ierr)
    call MPI_Type_set_attr(type, dup_key, 17_MPI_ADDRESS_KIND, ierr)
    call MPI_Type_get_attr(type, key, value, flag, ierr)
    call check(flag .and. value == -2_MPI_ADDRESS_KIND**40, 'type: get')
    call MPI_Type_dup(type, dup, ierr)
    call MPI_Type_get_attr(dup, key, value, flag, ierr)
    call check(flag .and. value == 1 - 2_MPI_ADDRESS_KIND**40, 'type: copied')
    call MPI_Type_get_attr(dup, dup_key, value, flag, ierr)
    call check(flag .and. value == 17, 'type: MPI_TYPE_DUP_FN')
    before = deletes
    call MPI_Type_free(dup, ierr)
    call check(deletes == before + 1, 'type: deleted with the type')
    call MPI_Type_delete_attr(type, key, ierr)
    call MPI_Type_get_attr(type, key, value, flag, ierr)
    call check(.not. flag .and. deletes == before + 2, 'type: deleted')
    call MPI_Type_free(type, ierr)
    call MPI_Type_free_keyval(key, ierr)
    call MPI_Type_free_keyval(dup_key, ierr)
    call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, key, normal, ierr)
    call MPI_Type_set_attr(MPI_REAL, key, 3_MPI_ADDRESS_KIND, ierr)
    call MPI_Type_dup(MPI_REAL, dup, ierr)
    call MPI_Type_get_attr(dup, key, value, flag, ierr)
    call check(.not. flag, 'type: MPI_TYPE_NULL_COPY_FN')
    call MPI_Type_free(dup, ierr)
    call MPI_Type_delete_attr(MPI_REAL, key, ierr)
    call MPI_Type_free_keyval(key, ierr)
  end subroutine

  subroutine windows()
    integer(MPI_ADDRESS_KIND) :: value, address
    integer, asynchronous :: memory(10)
    integer :: key, null_key, before
    logical :: flag
    T_WIN :: win
    call MPI_Win_create(memory, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Get_address(memory, address, ierr)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr)
    call check(flag .and. value == address, 'win: MPI_WIN_BASE')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
    call check(flag .and. value == 40, 'win: MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr)
    call check(flag .and. value == 4, 'win: MPI_WIN_DISP_UNIT')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierr)
    call check(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'win: MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag, ierr)
    call check(flag .and. value == MPI_WIN_UNIFIED, 'win: MPI_WIN_MODEL')
    call MPI_Win_create_keyval(copy_win, delete_win, key, normal, ierr)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, null_key, normal, ierr)
    call MPI_Win_set_attr(win, key, 99_MPI_ADDRESS_KIND, ierr)
    call MPI_Win_set_attr(win, null_key, -9_MPI_ADDRESS_KIND, ierr)
    call MPI_Win_get_attr(win, null_key, value, flag, ierr)
    call check(flag .and. value == -9, 'win: get')
    call MPI_Win_delete_attr(win, null_key, ierr)
    call MPI_Win_get_attr(win, null_key, value, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'win: deleted')
    before = deletes
    call MPI_Win_free(win, ierr)
    call check(deletes == before + 1 .and. last == 99, 'win: deleted with the window')
    call MPI_Win_free_keyval(key, ierr)
    call MPI_Win_free_keyval(null_key, ierr)
  end subroutine

  subroutine predefined()
    integer(MPI_ADDRESS_KIND) :: value
    integer :: class
    logical :: flag
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
    call check(flag .and. value >= 32767, 'MPI_TAG_UB')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, value, flag, ierr)
    call check(flag .and. value == MPI_PROC_NULL, 'MPI_HOST')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, value, flag, ierr)
    call check(flag .and. value == MPI_ANY_SOURCE, 'MPI_IO')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, ierr)
    call check(flag .and. (value == 0 .or. value == 1), 'MPI_WTIME_IS_GLOBAL')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, value, flag, ierr)
    call check(flag .and. value == 0, 'MPI_APPNUM')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, value, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. (.not. flag .or. value >= 1), 'MPI_UNIVERSE_SIZE')
    call MPI_Add_error_class(class, ierr)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, value, flag, ierr)
    call check(flag .and. value >= class, 'MPI_LASTUSEDCODE')
    call MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, ierr)
    call check(ierr /= MPI_SUCCESS, 'MPI_TAG_UB cannot be set')
  end subroutine

#ifndef BINDING_F08
  subroutine first_names()
    integer, save :: extra = 21
    integer :: key, dup_key, value
    logical :: flag
    integer :: dup
    integer(MPI_ADDRESS_KIND) :: word
    external copy_first, delete_first, MPI_DUP_FN, MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN
    call MPI_Keyval_create(copy_first, delete_first, key, extra, ierr)
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, dup_key, extra, ierr)
    call MPI_Attr_put(MPI_COMM_SELF, key, -7, ierr)
    call MPI_Attr_put(MPI_COMM_SELF, dup_key, -huge(0), ierr)
    call MPI_Attr_get(MPI_COMM_SELF, key, value, flag, ierr)
    call check(flag .and. value == -7, 'MPI_Attr_get')
    call MPI_Comm_get_attr(MPI_COMM_SELF, key, word, flag, ierr)
    call check(flag .and. word == -7, 'an INTEGER as an address')
    call MPI_Comm_dup(MPI_COMM_SELF, dup, ierr)
    call MPI_Attr_get(dup, key, value, flag, ierr)
    call check(flag .and. value == -6, 'a copy function of INTEGERs')
    call MPI_Attr_get(dup, dup_key, value, flag, ierr)
    call check(flag .and. value == -huge(0), 'MPI_DUP_FN')
    call MPI_Comm_free(dup, ierr)
    call MPI_Attr_delete(MPI_COMM_SELF, dup_key, ierr)
    call MPI_Attr_get(MPI_COMM_SELF, dup_key, value, flag, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_Attr_delete')
    call MPI_Attr_delete(MPI_COMM_SELF, key, ierr)
    call MPI_Keyval_free(key, ierr)
    call MPI_Keyval_free(dup_key, ierr)
    call check(key == MPI_KEYVAL_INVALID, 'MPI_Keyval_free')
    call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, key, extra, ierr)
    call MPI_Attr_put(MPI_COMM_SELF, key, 1, ierr)
    call MPI_Comm_dup(MPI_COMM_SELF, dup, ierr)
    call MPI_Attr_get(dup, key, value, flag, ierr)
    call check(.not. flag, 'MPI_NULL_COPY_FN')
    call MPI_Comm_free(dup, ierr)
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
    call check(flag .and. value >= 32767, 'MPI_Attr_get of MPI_TAG_UB')
    call MPI_Attr_delete(MPI_COMM_SELF, key, ierr)
    call MPI_Keyval_free(key, ierr)
  end subroutine
#endif
end program

#ifndef BINDING_F08
! MPI-1's functions: all INTEGERs.
subroutine copy_first(comm, keyval, extra, in, out, flag, ierror)
  implicit none
  integer :: comm, keyval, extra, in, out, ierror
  logical :: flag
  out = in + 1
  flag = extra == 21
  ierror = 0
end subroutine
subroutine delete_first(comm, keyval, value, extra, ierror)
  implicit none
  integer :: comm, keyval, value, extra, ierror
  ierror = merge(0, 15, extra == 21)
end subroutine
#endif
