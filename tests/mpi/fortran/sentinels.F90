! Tests of the constants that MPI recognises by their address: MPI_BOTTOM, MPI_IN_PLACE, ignored statuses and error
! codes, absent or empty weights, arguments of programs without any.
! ranks: 2 4
! reference: 2 4
#include "binding.inc"

program sentinels
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierr, rank, n
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call bottom()
  call in_place()
  call ignored_statuses()
  call weights()
  call spawning()
  call suite_end('sentinels')
contains

  subroutine bottom()
    integer, asynchronous, target :: first(3), second
    integer(MPI_ADDRESS_KIND) :: places(2)
    integer :: i, peer
    T_TYPE :: type
    T_REQUEST :: request
    call MPI_Get_address(first, places(1), ierr)
    call MPI_Get_address(second, places(2), ierr)
    call MPI_Type_create_hindexed(2, (/ 3, 1 /), places, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)
    first = (/ (rank * 10 + i, i = 1, 3) /)
    second = rank
    call MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. all(first == (/ 1, 2, 3 /)) .and. second == 0, 'MPI_BOTTOM in a broadcast')
    peer = ieor(rank, 1)
    second = rank
    call MPI_Isend(MPI_BOTTOM, 1, type, peer, 5, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call MPI_Recv(MPI_BOTTOM, 1, type, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_Get_address(second, places(2), ierr)
    call check(ierr == MPI_SUCCESS .and. second == peer, 'MPI_BOTTOM in messages')
    call MPI_Type_free(type, ierr)
  end subroutine

  subroutine in_place()
    integer :: v, all(0:n - 1), i
    T_REQUEST :: request
    v = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, v, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. v == n * (n + 1) / 2, 'MPI_IN_PLACE, MPI_Allreduce')
    all = -1
    all(rank) = rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. all(n - 1) == n - 1 .and. all(0) == 0, 'MPI_IN_PLACE, MPI_Allgather')
    if (rank == 0) then
      call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    else
      call MPI_Gather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    end if
    call check(ierr == MPI_SUCCESS .and. all(0) == 0, 'MPI_IN_PLACE, MPI_Gather')
    all = (/ (rank, i = 1, n) /)
    call MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. all(n - 1) == n - 1 .and. all(0) == 0, 'MPI_IN_PLACE, MPI_Ialltoall')
    all = 1
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. all(0) == n, 'MPI_IN_PLACE, MPI_Reduce_scatter_block')
  end subroutine

  subroutine ignored_statuses()
    integer :: a, b, done, places(2)
    logical :: flag
    T_REQUEST :: two(2)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, rank, 2, a, 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. a == rank, 'MPI_STATUS_IGNORE, MPI_Sendrecv')
    call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. .not. flag, 'MPI_STATUS_IGNORE, MPI_Iprobe')
    call MPI_Irecv(b, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, two(1), ierr)
    call MPI_Isend(a, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, two(2), ierr)
    call MPI_Waitall(2, two, MPI_STATUSES_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. b == rank, 'MPI_STATUSES_IGNORE, MPI_Waitall')
    call MPI_Testall(2, two, flag, MPI_STATUSES_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. flag, 'MPI_STATUSES_IGNORE, MPI_Testall')
    call MPI_Waitsome(2, two, done, places, MPI_STATUSES_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. done == MPI_UNDEFINED, 'MPI_STATUSES_IGNORE, MPI_Waitsome')
  end subroutine

  subroutine weights()
    integer :: before, after, from(1), to(1), in_weights(1), out_weights(1), in_degree, out_degree
    logical :: weighted
    T_COMM :: graph
    before = mod(rank + n - 1, n)
    after = mod(rank + 1, n)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, (/ before /), MPI_UNWEIGHTED, 1, (/ after /), &
      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_UNWEIGHTED, adjacent')
    call MPI_Dist_graph_neighbors_count(graph, in_degree, out_degree, weighted, ierr)
    call check(in_degree == 1 .and. out_degree == 1 .and. .not. weighted, 'a graph without weights')
    call MPI_Dist_graph_neighbors(graph, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, ierr)
    call check(ierr == MPI_SUCCESS .and. from(1) == before .and. to(1) == after, 'MPI_UNWEIGHTED, neighbors')
    call MPI_Comm_free(graph, ierr)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, (/ rank /), (/ 1 /), (/ after /), MPI_UNWEIGHTED, MPI_INFO_NULL, &
      .false., graph, ierr)
    call check(ierr == MPI_SUCCESS, 'MPI_UNWEIGHTED')
    call MPI_Dist_graph_neighbors_count(graph, in_degree, out_degree, weighted, ierr)
    call check(in_degree == 1 .and. out_degree == 1 .and. .not. weighted, 'another graph without weights')
    call MPI_Comm_free(graph, ierr)
    ! Edges with weights out of rank 0 only: the other ranks' weights are empty.
    if (rank == 0) then
      call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, from, MPI_WEIGHTS_EMPTY, 1, (/ 1 /), (/ 17 /), &
        MPI_INFO_NULL, .false., graph, ierr)
    else if (rank == 1) then
      call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, (/ 0 /), (/ 17 /), 0, to, MPI_WEIGHTS_EMPTY, &
        MPI_INFO_NULL, .false., graph, ierr)
    else
      call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, from, MPI_WEIGHTS_EMPTY, 0, to, MPI_WEIGHTS_EMPTY, &
        MPI_INFO_NULL, .false., graph, ierr)
    end if
    call check(ierr == MPI_SUCCESS, 'MPI_WEIGHTS_EMPTY')
    call MPI_Dist_graph_neighbors_count(graph, in_degree, out_degree, weighted, ierr)
    call check(weighted .and. in_degree == merge(1, 0, rank == 1), 'a graph with weights')
    in_weights = 0
    out_weights = 0
    call MPI_Dist_graph_neighbors(graph, in_degree, from, in_weights, out_degree, to, out_weights, ierr)
    call check(in_weights(1) == merge(17, 0, rank == 1) .and. out_weights(1) == merge(17, 0, rank == 0), 'its weights')
    call MPI_Comm_free(graph, ierr)
  end subroutine

  ! The arguments that reach C's MPI_Comm_spawn as constants; sentinels_c.c defines that function.
  subroutine spawning()
    T_COMM :: comm
    integer :: codes(2), argv_null, codes_null
    call MPI_Comm_spawn('none', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, comm, MPI_ERRCODES_IGNORE, ierr)
    call c_spawned(argv_null, codes_null)
    call check(argv_null == 1 .and. codes_null == 1, 'MPI_ARGV_NULL, MPI_ERRCODES_IGNORE')
    call MPI_Comm_spawn('none', (/ 'one', '   ' /), 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, comm, codes, ierr)
    call c_spawned(argv_null, codes_null)
    call check(argv_null == 0 .and. codes_null == 0, 'arguments and error codes')
    call MPI_Comm_spawn_multiple(2, (/ 'a', 'b' /), MPI_ARGVS_NULL, (/ 1, 1 /), (/ MPI_INFO_NULL, MPI_INFO_NULL /), 0, &
      MPI_COMM_SELF, comm, MPI_ERRCODES_IGNORE, ierr)
    call c_spawned(argv_null, codes_null)
    call check(argv_null == 1 .and. codes_null == 1, 'MPI_ARGVS_NULL, MPI_ERRCODES_IGNORE')
  end subroutine
end program
