! Tests of attributes that one language sets and another reads (MPI 4.0, 19.3.7): C's addresses, Fortran's INTEGERs and
! INTEGERs of MPI_ADDRESS_KIND, under keys of C and of Fortran; and Fortran's numbers as the C functions of a key get
! them.
! ranks: 1
! reference: 1
#include "binding.inc"

module numbers
  USE_MPI
  implicit none
#ifdef BINDING_MPIF
  INCLUDE_MPI
#endif
  integer, parameter :: kComm = 0, kType = 1, kWin = 2
  ! C's view of an attribute: its address as it is, the INTEGER there, or the long one.
  integer, parameter :: kAddress = 0, kInteger = 1, kWord = 2
  integer(MPI_ADDRESS_KIND), parameter :: kWords(6) = (/ 42_MPI_ADDRESS_KIND, -1_MPI_ADDRESS_KIND, &
    2_MPI_ADDRESS_KIND**40 + 3, -2_MPI_ADDRESS_KIND**40, 2_MPI_ADDRESS_KIND**31, huge(0_MPI_ADDRESS_KIND) - 2 /)
  integer :: ierr, on_margay
contains
  ! The least significant part of a word.
  integer function low_part(word)
    integer(MPI_ADDRESS_KIND), intent(in) :: word
    low_part = transfer(word, low_part)
  end function

  subroutine set_word(of, handle, key, word)
    integer :: of, handle, key
    integer(MPI_ADDRESS_KIND) :: word
    T_COMM :: comm
    T_TYPE :: type
    T_WIN :: win
    VALUE_OF(comm) = handle
    VALUE_OF(type) = handle
    VALUE_OF(win) = handle
    if (of == kComm) call MPI_Comm_set_attr(comm, key, word, ierr)
    if (of == kType) call MPI_Type_set_attr(type, key, word, ierr)
    if (of == kWin) call MPI_Win_set_attr(win, key, word, ierr)
  end subroutine

  subroutine get_word(of, handle, key, word, flag)
    integer :: of, handle, key
    integer(MPI_ADDRESS_KIND) :: word
    logical :: flag
    T_COMM :: comm
    T_TYPE :: type
    T_WIN :: win
    VALUE_OF(comm) = handle
    VALUE_OF(type) = handle
    VALUE_OF(win) = handle
    if (of == kComm) call MPI_Comm_get_attr(comm, key, word, flag, ierr)
    if (of == kType) call MPI_Type_get_attr(type, key, word, flag, ierr)
    if (of == kWin) call MPI_Win_get_attr(win, key, word, flag, ierr)
  end subroutine

  ! Checks the number that each language reads for `word`, which C sees as `as`.
  subroutine read_all(of, handle, key, as, word, what)
    integer :: of, handle, key, as
    integer(MPI_ADDRESS_KIND) :: word, got
    character(*) :: what
    integer :: c_flag
    logical :: flag
#ifndef BINDING_F08
    integer :: short
    if (of == kComm) then
      call MPI_Attr_get(handle, key, short, flag, ierr)
      call check(flag .and. short == low_part(word), what // ', MPI_Attr_get of Fortran')
    end if
#endif
    call get_word(of, handle, key, got, flag)
    call check(flag .and. got == word, what // ', get_attr of Fortran')
    call c_get(of, handle, key, as, c_flag, got)
    call check(c_flag /= 0 .and. got == word, what // ', C')
  end subroutine
end module

program languages
  use numbers
  implicit none
  integer, asynchronous :: memory(4)
  T_TYPE :: type
  T_WIN :: win
  call MPI_Init(ierr)
  call c_on_margay(on_margay)
  call MPI_Type_contiguous(2, MPI_INTEGER, type, ierr)
  call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, ierr)
  call set_and_read(kComm, VALUE_OF(MPI_COMM_SELF), 'comm')
  call set_and_read(kType, VALUE_OF(type), 'type')
  call set_and_read(kWin, VALUE_OF(win), 'win')
  call functions_of_c()
  call predefined(VALUE_OF(win))
  call MPI_Type_free(type, ierr)
  call MPI_Win_free(win, ierr)
  call suite_end('languages')
contains

  subroutine fortran_key(of, key)
    integer :: of, key
    integer(MPI_ADDRESS_KIND), save :: extra = 0
    if (of == kComm) call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, ierr)
    if (of == kType) call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, extra, ierr)
    if (of == kWin) call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, key, extra, ierr)
  end subroutine

  subroutine delete_under(of, handle, key)
    integer :: of, handle, key
    T_COMM :: comm
    T_TYPE :: type
    T_WIN :: win
    VALUE_OF(comm) = handle
    VALUE_OF(type) = handle
    VALUE_OF(win) = handle
    if (of == kComm) then
      call MPI_Comm_delete_attr(comm, key, ierr)
      call MPI_Comm_free_keyval(key, ierr)
    else if (of == kType) then
      call MPI_Type_delete_attr(type, key, ierr)
      call MPI_Type_free_keyval(key, ierr)
    else
      call MPI_Win_delete_attr(win, key, ierr)
      call MPI_Win_free_keyval(key, ierr)
    end if
  end subroutine

  ! Each language sets, all read; each time the previous value is of another kind.
  subroutine set_and_read(of, handle, what)
    integer :: of, handle
    character(*) :: what
    integer, save :: as(2) = (/ kAddress, kAddress /)
    integer :: keys(2), i, k
    call c_create_key(of, keys(1), as(1))
    call fortran_key(of, keys(2))
    do k = 1, 2
      do i = 1, size(kWords)
        call c_set(of, handle, keys(k), kWords(i))
        as(1) = kAddress
        call read_all(of, handle, keys(k), kAddress, kWords(i), what // ': set by C')
        call set_word(of, handle, keys(k), kWords(i))
        as(1) = kWord
        call read_all(of, handle, keys(k), kWord, kWords(i), what // ': set by Fortran')
#ifndef BINDING_F08
        if (of /= kComm) cycle
        call MPI_Attr_put(handle, keys(k), low_part(kWords(i)), ierr)
        as(1) = kInteger
        call read_all(of, handle, keys(k), kInteger, int(low_part(kWords(i)), MPI_ADDRESS_KIND), &
          what // ': set by Fortran''s MPI_Attr_put')
#endif
      end do
      call delete_under(of, handle, keys(k))
    end do
  end subroutine

  ! A key of C whose functions get the address of Fortran's number.
  subroutine functions_of_c()
    integer, save :: as = kWord
    integer :: key, copies, deletes
    integer(MPI_ADDRESS_KIND) :: word
    T_COMM :: comm, dup
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
    call c_create_key(kComm, key, as)
    call set_word(kComm, VALUE_OF(comm), key, kWords(3))
    call MPI_Comm_dup(comm, dup, ierr)
    call c_seen(copies, deletes, word)
    call check(copies == 1 .and. word == kWords(3), 'what C''s copy function sees')
    ! MPICH gives the copy an invalid address.
    if (on_margay /= 0) then
      call read_all(kComm, VALUE_OF(dup), key, kWord, kWords(3), 'copied by C')
      call set_word(kComm, VALUE_OF(dup), key, kWords(4))
      call read_all(kComm, VALUE_OF(comm), key, kWord, kWords(3), 'the copy is another one')
    else
      as = kAddress
    end if
    call MPI_Comm_free(dup, ierr)
    as = kWord
    call MPI_Comm_delete_attr(comm, key, ierr)
    call c_seen(copies, deletes, word)
    call check(word == kWords(3), 'what C''s delete function sees')
    call MPI_Comm_free_keyval(key, ierr)
    call MPI_Comm_free(comm, ierr)
  end subroutine

  ! Attributes that MPI sets behave as if Fortran had set them: numbers, of which C gets the address; the base is an
  ! address.
  subroutine predefined(handle)
    integer :: handle
    integer(MPI_ADDRESS_KIND) :: word, address
    integer :: c_flag
    logical :: flag
    ! C's keys are one less than Fortran's in this ABI.
    call get_word(kComm, VALUE_OF(MPI_COMM_WORLD), MPI_TAG_UB, word, flag)
    call c_get(kComm, VALUE_OF(MPI_COMM_WORLD), MPI_TAG_UB - 1, kInteger, c_flag, address)
    call check(flag .and. c_flag /= 0 .and. word == address, 'MPI_TAG_UB')
    call get_word(kWin, handle, MPI_WIN_BASE, word, flag)
    call c_get(kWin, handle, MPI_WIN_BASE - 1, kAddress, c_flag, address)
    call check(flag .and. c_flag /= 0 .and. word == address, 'MPI_WIN_BASE')
    call get_word(kWin, handle, MPI_WIN_SIZE, word, flag)
    call c_get(kWin, handle, MPI_WIN_SIZE - 1, kWord, c_flag, address)
    call check(flag .and. c_flag /= 0 .and. word == 16 .and. address == 16, 'MPI_WIN_SIZE')
  end subroutine
end program
