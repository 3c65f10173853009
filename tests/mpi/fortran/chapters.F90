! Tests of each chapter of the standard for arguments that Fortran passes differently: strings, logicals, arrays, kinds,
! choice buffers and addresses.
! ranks: 2 4
! reference: 2 4
#include "binding.inc"

program chapters
  USE_MPI
#ifndef BINDING_MPIF
  use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
#endif
  implicit none
  INCLUDE_MPI
  integer :: ierr, rank, n
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call messages()
  call persistent()
  call packing()
  call datatypes()
  call kinds()
  call collectives()
  call communicators()
  call topologies()
  call infos()
  call environment()
  call one_sided()
  call suite_end('chapters')
contains

  subroutine messages()
    integer :: peer, got(4), count, done, places(2), i
    logical :: flag
    integer, asynchronous :: a, b
    STATUS(status)
    T_REQUEST :: two(2)
#ifdef BINDING_F08
    type(MPI_Message) :: message
    type(MPI_Status) :: statuses(2)
#else
    integer :: message, statuses(MPI_STATUS_SIZE, 2)
#endif
    peer = ieor(rank, 1)
    call MPI_Sendrecv((/ rank, 2, 3 /), 3, MPI_INTEGER, peer, 4, got, 4, MPI_INTEGER, peer, MPI_ANY_TAG, MPI_COMM_WORLD, &
      status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, count, ierr)
    call check(got(1) == peer .and. count == 3 .and. TAG_OF(status) == 4 .and. SOURCE_OF(status) == peer, 'MPI_Sendrecv')
    call MPI_Isend(rank, 1, MPI_INTEGER, peer, 5, MPI_COMM_WORLD, two(1), ierr)
    call MPI_Mprobe(peer, 5, MPI_COMM_WORLD, message, status, ierr)
    call MPI_Mrecv(got, 4, MPI_INTEGER, message, status, ierr)
    call MPI_Wait(two(1), MPI_STATUS_IGNORE, ierr)
    call check(got(1) == peer .and. VALUE_OF(message) == VALUE_OF(MPI_MESSAGE_NULL), 'MPI_Mprobe')
    a = -1
    b = -1
    call MPI_Irecv(a, 1, MPI_INTEGER, peer, 6, MPI_COMM_WORLD, two(1), ierr)
    call MPI_Irecv(b, 1, MPI_INTEGER, peer, 7, MPI_COMM_WORLD, two(2), ierr)
    call MPI_Ssend(rank, 1, MPI_INTEGER, peer, 7, MPI_COMM_WORLD, ierr)
    call MPI_Send(rank + 100, 1, MPI_INTEGER, peer, 6, MPI_COMM_WORLD, ierr)
    i = 0
    do while (i < 2)
      call MPI_Waitsome(2, two, done, places, statuses, ierr)
      i = i + done
#ifndef BINDING_F08
      ! In MPICH's own library for mpi_f08 the indices begin with 0.
      call check(all(places(1:done) >= 1 .and. places(1:done) <= 2), 'indices begin with 1')
#endif
    end do
    call check(a == peer + 100 .and. b == peer, 'MPI_Waitsome')
    call MPI_Testany(2, two, done, flag, status, ierr)
    call check(flag, 'MPI_Testany of nothing')
    call MPI_Iprobe(peer, 8, MPI_COMM_WORLD, flag, status, ierr)
    call check(.not. flag, 'MPI_Iprobe')
    call MPI_Send(got, 0, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine persistent()
    integer, asynchronous :: in, out
    integer :: peer, i
    T_REQUEST :: two(2)
    peer = ieor(rank, 1)
    call MPI_Recv_init(in, 1, MPI_INTEGER, peer, 9, MPI_COMM_WORLD, two(1), ierr)
    call MPI_Send_init(out, 1, MPI_INTEGER, peer, 9, MPI_COMM_WORLD, two(2), ierr)
    do i = 1, 3
      out = 10 * rank + i
      call MPI_Startall(2, two, ierr)
      call MPI_Waitall(2, two, MPI_STATUSES_IGNORE, ierr)
      call check(in == 10 * peer + i, 'persistent requests')
    end do
    call MPI_Request_free(two(1), ierr)
    call MPI_Request_free(two(2), ierr)
  end subroutine

  subroutine packing()
    character(64) :: room
    integer :: position, i, size
    double precision :: x
    character(5) :: word
    position = 0
    call MPI_Pack((/ 17 /), 1, MPI_INTEGER, room, 64, position, MPI_COMM_WORLD, ierr)
    call MPI_Pack((/ 2.5d0 /), 1, MPI_DOUBLE_PRECISION, room, 64, position, MPI_COMM_WORLD, ierr)
    call MPI_Pack('words', 5, MPI_CHARACTER, room, 64, position, MPI_COMM_WORLD, ierr)
    call MPI_Pack_size(1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, size, ierr)
    call check(position == 17 .and. size >= 8, 'MPI_Pack')
    position = 0
    call MPI_Unpack(room, 64, position, i, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call MPI_Unpack(room, 64, position, x, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
    call MPI_Unpack(room, 64, position, word, 5, MPI_CHARACTER, MPI_COMM_WORLD, ierr)
    call check(i == 17 .and. x == 2.5d0 .and. word == 'words', 'MPI_Unpack')
  end subroutine

  subroutine datatypes()
    integer :: grid(6, 4), part(2, 2), integers, addresses, types, combiner, kept(8), i, size
    integer(MPI_ADDRESS_KIND) :: lower, extent
    character(MPI_MAX_OBJECT_NAME) :: name
    T_TYPE :: box, resized, copy, none(1)
    integer(MPI_ADDRESS_KIND) :: places(1)
    grid = reshape((/ (i, i = 1, 24) /), (/ 6, 4 /))
    call MPI_Type_create_subarray(2, (/ 6, 4 /), (/ 2, 2 /), (/ 1, 2 /), MPI_ORDER_FORTRAN, MPI_INTEGER, box, ierr)
    call MPI_Type_commit(box, ierr)
    call MPI_Sendrecv(grid, 1, box, rank, 1, part, 4, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call check(all(part == grid(2:3, 3:4)), 'MPI_Type_create_subarray')
    call MPI_Type_get_envelope(box, integers, addresses, types, combiner, ierr)
    call check(combiner == MPI_COMBINER_SUBARRAY .and. integers == 8 .and. types == 1, 'MPI_Type_get_envelope')
    call MPI_Type_get_contents(box, 8, 0, 1, kept, places, none, ierr)
    call check(all(kept == (/ 2, 6, 4, 2, 2, 1, 2, MPI_ORDER_FORTRAN /)), 'MPI_Type_get_contents')
    call check(VALUE_OF(none(1)) == VALUE_OF(MPI_INTEGER), 'its type')
    call MPI_Type_create_resized(box, -8_MPI_ADDRESS_KIND, 200_MPI_ADDRESS_KIND, resized, ierr)
    call MPI_Type_get_extent(resized, lower, extent, ierr)
    call MPI_Type_size(resized, size, ierr)
    call check(lower == -8 .and. extent == 200 .and. size == 16, 'MPI_Type_create_resized')
    call MPI_Type_dup(box, copy, ierr)
    call MPI_Type_set_name(copy, '  a box  ', ierr)
    call MPI_Type_get_name(copy, name, size, ierr)
    call check(name(1:size) == 'a box' .or. name(1:size) == '  a box', 'MPI_Type_set_name')
    call MPI_Type_free(copy, ierr)
    call MPI_Type_free(resized, ierr)
    call MPI_Type_free(box, ierr)
  end subroutine

  subroutine kinds()
    integer, parameter :: kLong = selected_int_kind(15)
    integer(kLong) :: long(2), sum(2)
    integer :: size
#ifndef BINDING_MPIF
    double precision :: x
#endif
    T_TYPE :: real_type, integer_type
    call MPI_Type_create_f90_real(15, MPI_UNDEFINED, real_type, ierr)
    call MPI_Type_size(real_type, size, ierr)
    call check(size == 8, 'MPI_Type_create_f90_real')
    call MPI_Type_create_f90_integer(15, integer_type, ierr)
    long = int(rank, kLong) + 2_kLong**40
    call MPI_Allreduce(long, sum, 2, integer_type, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(all(sum == n * 2_kLong**40 + n * (n - 1) / 2), 'MPI_Type_create_f90_integer')
#ifndef BINDING_MPIF
    call MPI_Sizeof(x, size, ierr)
    call check(size == 8, 'MPI_Sizeof')
#endif
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, real_type, ierr)
    call check(ierr == MPI_SUCCESS .and. VALUE_OF(real_type) /= VALUE_OF(MPI_DATATYPE_NULL), 'MPI_Type_match_size')
  end subroutine

  subroutine collectives()
    integer :: counts(0:n - 1), places(0:n - 1), all(n * (n + 1) / 2), mine(n), i, here(1), scanned
    logical :: truth(1), both(1)
    real :: pair(2), most(2)
    T_TYPE :: types(0:n - 1)
    T_REQUEST :: request
    counts = (/ (i, i = 1, n) /)
    places = (/ (i * (i - 1) / 2, i = 1, n) /)
    mine = rank
    all = -1
    call MPI_Gatherv(mine, rank + 1, MPI_INTEGER, all, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) call check(all(1) == 0 .and. all(size(all)) == n - 1 .and. count(all == n - 1) == n, 'MPI_Gatherv')
    mine = -1
    call MPI_Iscatterv(all, counts, places, MPI_INTEGER, mine, rank + 1, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call check(count(mine == rank) == rank + 1, 'MPI_Iscatterv')
    types = MPI_INTEGER
    mine = (/ (100 * rank + i, i = 1, n) /)
    counts = 1
    places = (/ (4 * i, i = 0, n - 1) /)
    call MPI_Alltoallw(mine, counts, places, types, all, counts, places, types, MPI_COMM_WORLD, ierr)
    call check(all(n) == 100 * (n - 1) + rank + 1, 'MPI_Alltoallw')
    call MPI_Scan(rank + 1, scanned, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(scanned == (rank + 1) * (rank + 2) / 2, 'MPI_Scan')
    truth = rank == 0
    call MPI_Allreduce(truth, both, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
    call check(both(1), 'MPI_LOR of logicals')
    call MPI_Allreduce(truth, both, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
    call check(.not. both(1), 'MPI_LAND of logicals')
    pair = (/ real(mod(rank, 2)), real(rank) /)
    call MPI_Allreduce(pair, most, 1, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
    call check(most(1) == 1 .and. most(2) == 1, 'MPI_MAXLOC')
    mine = rank
    call MPI_Reduce_scatter(mine, here, (/ (1, i = 1, n) /), MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
    call check(here(1) == n - 1, 'MPI_Reduce_scatter')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine communicators()
    integer :: ranks(1), color, length, result
    logical :: inter
    character(MPI_MAX_OBJECT_NAME) :: name
    T_COMM :: half, merged, bridge
    T_GROUP :: all, some
    color = mod(rank, 2)
    call MPI_Comm_split(MPI_COMM_WORLD, color, -rank, half, ierr)
    call MPI_Comm_set_name(half, 'one half', ierr)
    call MPI_Comm_get_name(half, name, length, ierr)
    call check(name == 'one half' .and. length == 8, 'MPI_Comm_set_name, padded with blanks')
    call MPI_Comm_group(MPI_COMM_WORLD, all, ierr)
    call MPI_Group_range_incl(all, 1, reshape((/ n - 1, 0, -1 /), (/ 3, 1 /)), some, ierr)
    call MPI_Group_translate_ranks(some, 1, (/ 0 /), all, ranks, ierr)
    call check(ranks(1) == n - 1, 'MPI_Group_range_incl')
    call MPI_Group_compare(all, some, result, ierr)
    call check(result == MPI_SIMILAR, 'MPI_Group_compare')
    call MPI_Group_free(some, ierr)
    call MPI_Group_free(all, ierr)
    ! The highest rank of each half is its rank 0, because the keys are negative.
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, merge(n - 1, n - 2, color == 0), 3, bridge, ierr)
    call MPI_Comm_test_inter(bridge, inter, ierr)
    call check(inter, 'MPI_Comm_test_inter')
    call MPI_Intercomm_merge(bridge, color == 1, merged, ierr)
    call MPI_Comm_size(merged, length, ierr)
    call check(length == n, 'MPI_Intercomm_merge')
    call MPI_Comm_free(merged, ierr)
    call MPI_Comm_free(bridge, ierr)
    call MPI_Comm_free(half, ierr)
    call check(VALUE_OF(half) == VALUE_OF(MPI_COMM_NULL), 'MPI_Comm_free')
  end subroutine

  subroutine topologies()
    integer :: dims(2), coords(2), from, to, kind, nodes, edges, neighbors(2), i
    logical :: periods(2)
    T_COMM :: grid, row, ring
    dims = 0
    call MPI_Dims_create(n, 2, dims, ierr)
    call check(dims(1) * dims(2) == n .and. dims(1) >= dims(2), 'MPI_Dims_create')
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (/ .true., .false. /), .false., grid, ierr)
    call MPI_Cart_get(grid, 2, dims, periods, coords, ierr)
    call check(periods(1) .and. .not. periods(2), 'MPI_Cart_get')
    call MPI_Cart_shift(grid, 0, 1, from, to, ierr)
    call check(from /= MPI_PROC_NULL .and. to /= MPI_PROC_NULL, 'MPI_Cart_shift')
    call MPI_Cart_sub(grid, (/ .true., .false. /), row, ierr)
    call MPI_Topo_test(row, kind, ierr)
    call check(kind == MPI_CART, 'MPI_Topo_test')
    call MPI_Comm_free(row, ierr)
    call MPI_Comm_free(grid, ierr)
    call MPI_Graph_create(MPI_COMM_WORLD, n, (/ (2 * i, i = 1, n) /), &
      (/ (mod(i / 2 + n + 2 * mod(i, 2) - 1, n), i = 0, 2 * n - 1) /), .false., ring, ierr)
    call MPI_Graphdims_get(ring, nodes, edges, ierr)
    call check(nodes == n .and. edges == 2 * n, 'MPI_Graphdims_get')
    call MPI_Graph_neighbors(ring, rank, 2, neighbors, ierr)
    call check(neighbors(1) == mod(rank + n - 1, n) .and. neighbors(2) == mod(rank + 1, n), 'MPI_Graph_neighbors')
    call MPI_Comm_free(ring, ierr)
  end subroutine

  subroutine infos()
    character(20) :: value
    character(MPI_MAX_INFO_KEY) :: key
    integer :: keys, length
    logical :: flag
    T_INFO :: info
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, '  key  ', '  a value ', ierr)
    call MPI_Info_get(info, 'key', 20, value, flag, ierr)
    call check(flag .and. value == 'a value', 'MPI_Info_set strips blanks')
    call MPI_Info_get(info, 'none', 20, value, flag, ierr)
    call check(.not. flag, 'MPI_Info_get of no key')
    call MPI_Info_get_nkeys(info, keys, ierr)
    call MPI_Info_get_nthkey(info, 0, key, ierr)
    call check(keys == 1 .and. key == 'key', 'MPI_Info_get_nthkey')
    call MPI_Info_get_valuelen(info, 'key', length, flag, ierr)
    call check(flag .and. length == 7, 'MPI_Info_get_valuelen')
    length = 20
    call MPI_Info_get_string(info, 'key', length, value, flag, ierr)
    call check(flag .and. value == 'a value', 'MPI_Info_get_string')
    call MPI_Info_delete(info, 'key', ierr)
    call MPI_Info_free(info, ierr)
  end subroutine

  subroutine environment()
    character(MPI_MAX_PROCESSOR_NAME) :: name
    character(MPI_MAX_ERROR_STRING) :: text
    integer :: length, version, subversion, class, code, of_code
    logical :: flag
    double precision :: before
    call MPI_Get_processor_name(name, length, ierr)
    call check(length > 0 .and. len_trim(name) == length, 'MPI_Get_processor_name')
    call MPI_Get_version(version, subversion, ierr)
    call check(version == MPI_VERSION .and. subversion == MPI_SUBVERSION, 'MPI_Get_version')
    call MPI_Add_error_class(class, ierr)
    call MPI_Add_error_code(class, code, ierr)
    call MPI_Add_error_string(code, 'what went wrong', ierr)
    call MPI_Error_string(code, text, length, ierr)
    call check(text == 'what went wrong' .and. length == 15, 'MPI_Add_error_string')
    call MPI_Error_class(code, of_code, ierr)
    call check(of_code == class, 'MPI_Error_class')
    call MPI_Initialized(flag, ierr)
    call check(flag, 'MPI_Initialized')
    call MPI_Finalized(flag, ierr)
    call check(.not. flag, 'MPI_Finalized')
    call MPI_Is_thread_main(flag, ierr)
    call check(flag, 'MPI_Is_thread_main')
    before = MPI_Wtime()
    call check(MPI_Wtime() >= before .and. MPI_Wtick() > 0, 'MPI_Wtime')
  end subroutine

  subroutine one_sided()
    integer, asynchronous :: memory(4), old
    integer :: peer
    T_WIN :: win
    peer = ieor(rank, 1)
    memory = rank
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Win_fence(0, win, ierr)
    call MPI_Put((/ 10 + rank /), 1, MPI_INTEGER, peer, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierr)
    call MPI_Accumulate((/ 5 /), 1, MPI_INTEGER, peer, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    call MPI_Win_fence(0, win, ierr)
    call check(memory(2) == 10 + peer .and. memory(3) == rank + 5, 'MPI_Put, MPI_Accumulate')
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win, ierr)
    call MPI_Fetch_and_op((/ 7 /), old, MPI_INTEGER, peer, 3_MPI_ADDRESS_KIND, MPI_SUM, win, ierr)
    call MPI_Win_unlock(peer, win, ierr)
    call check(old == peer, 'MPI_Fetch_and_op')
    call MPI_Win_free(win, ierr)
#ifndef BINDING_MPIF
    call allocated(peer)
#endif
  end subroutine

#ifndef BINDING_MPIF
  ! Memory as a C pointer, and other members' memory.
  subroutine allocated(peer)
    integer, intent(in) :: peer
    type(c_ptr) :: base
    integer, pointer :: own(:), theirs(:)
    integer(MPI_ADDRESS_KIND) :: size
    integer :: unit, on_node
    T_COMM :: node
    T_WIN :: win
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, ierr)
    call MPI_Win_allocate_shared(8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, node, base, win, ierr)
    call c_f_pointer(base, own, (/ 2 /))
    call MPI_Comm_rank(node, on_node, ierr)
    own = 50 + on_node
    call MPI_Win_fence(0, win, ierr)
    call MPI_Win_shared_query(win, 0, size, unit, base, ierr)
    call c_f_pointer(base, theirs, (/ 2 /))
    call check(size == 8 .and. unit == 4 .and. theirs(1) == 50, 'MPI_Win_shared_query')
    call MPI_Win_fence(0, win, ierr)
    call MPI_Win_free(win, ierr)
    call MPI_Comm_free(node, ierr)
    call MPI_Alloc_mem(64_MPI_ADDRESS_KIND, MPI_INFO_NULL, base, ierr)
    call c_f_pointer(base, own, (/ 16 /))
    own = peer
    call check(own(16) == peer, 'MPI_Alloc_mem')
    call MPI_Free_mem(own, ierr)
  end subroutine
#endif
end program
