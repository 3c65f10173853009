#!/bin/sh
# abi_fortran_test.sh BUILD_DIR: tests Fortran programs by mpifort, mpif90 and mpif77, on one node and on two: mpif.h,
# use mpi, use mpi_f08; MPI_IN_PLACE, array sections, statuses. mpifort links nothing with undefined references, and
# warns about calls of unimplemented functions, which `margay check` names. Exit 0: as expected; 1: not; 77: gfortran or
# MPICH's modules are missing.
set -u
bin=$1/bin
command -v gfortran >/dev/null || { echo "no gfortran"; exit 77; }
"$bin/mpifort" -show >/dev/null 2>&1 || { "$bin/mpifort" -show; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/margay_fortran.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

cat >"$work/old.f" <<'PROGRAM'
      program old
      include 'mpif.h'
      integer ierr, rank, n, v, st(MPI_STATUS_SIZE), k
      double precision x(3)
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, n, ierr)
      v = rank
      call MPI_SENDRECV_REPLACE(v, 1, MPI_INTEGER, mod(rank+1,n), 1,
     &     mod(rank+n-1,n), 1, MPI_COMM_WORLD, st, ierr)
      if (v .ne. mod(rank+n-1,n)) call MPI_ABORT(MPI_COMM_WORLD,3,ierr)
      call MPI_GET_COUNT(st, MPI_INTEGER, k, ierr)
      if (k .ne. 1) call MPI_ABORT(MPI_COMM_WORLD, 4, ierr)
      x(1) = 2d0
      call MPI_BCAST(x, 3, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD,ierr)
      if (rank .eq. 0) print *, 'right'
      call MPI_FINALIZE(ierr)
      end
PROGRAM
cat >"$work/module.f90" <<'PROGRAM'
program module
  use mpi
  implicit none
  integer :: ierr, rank, n, v, row, i
  integer :: grid(6, 4)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  v = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, v, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (v /= n * (n + 1) / 2) error stop 'MPI_IN_PLACE'
  call MPI_Type_vector(4, 1, 6, MPI_INTEGER, row, ierr)
  call MPI_Type_commit(row, ierr)
  grid = -1
  if (rank == 0) grid(1, :) = (/ (i, i = 1, 4) /)
  call MPI_Bcast(grid, 1, row, 0, MPI_COMM_WORLD, ierr)
  if (any(grid(1, :) /= (/ (i, i = 1, 4) /)) .or. any(grid(2:, :) /= -1)) error stop 'a row'
  call MPI_Type_free(row, ierr)
  if (rank == 0) print *, 'right'
  call MPI_Finalize(ierr)
end program
PROGRAM
cat >"$work/f08.f90" <<'PROGRAM'
program f08
  use mpi_f08
  implicit none
  integer :: rank, n, v, count
  real(8), allocatable :: grid(:, :)
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  allocate(grid(8, 8))
  grid = rank
  ! Rows: sections that are not contiguous.
  call MPI_Irecv(grid(1, :), 8, MPI_REAL8, mod(rank + n - 1, n), 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(grid(2, :), 8, MPI_REAL8, mod(rank + 1, n), 3, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  if (any(grid(1, :) /= mod(rank + n - 1, n)) .or. any(grid(2:, :) /= rank)) error stop 'a section'
  v = 1
  call MPI_Allreduce(MPI_IN_PLACE, v, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (v /= n) error stop 'MPI_IN_PLACE'
  call MPI_Sendrecv(v, 1, MPI_INTEGER, rank, 1, count, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  if (count /= 1 .or. status%MPI_SOURCE /= rank) error stop 'a status'
  if (rank == 0) print *, 'right'
  call MPI_Finalize()
end program
PROGRAM

build() {
  said=$("$bin/$1" -o "$work/$2" "$work/$3" 2>&1) && [ -z "$said" ] || { echo "FAILED: $1 $3: $said" >&2; exit 1; }
}
build mpif77 old old.f
build mpif90 module module.f90
build mpifort f08 f08.f90
for program in old module f08; do
  for nodes in 1 2; do
    said=$("$bin/margay" run -n 3 --nodes "$nodes" --check-accounting --timeout 20 "$work/$program" 2>&1)
    if [ "$said" != " right" ]; then
      echo "FAILED: $program on $nodes nodes: $said" >&2
      exit 1
    fi
  done
done

# The link checks of configure scripts depend on the status and on the message.
cat >"$work/missing.f90" <<'PROGRAM'
program missing
  call certainly_not_there()
end program
PROGRAM
if said=$("$bin/mpifort" -o "$work/missing" "$work/missing.f90" 2>&1); then
  echo "FAILED: mpifort links a program with undefined references: $said" >&2
  exit 1
fi
case $said in *"undefined reference"*certainly_not_there*) ;; *) echo "FAILED: no word of it: $said" >&2; exit 1 ;; esac

for binding in mpi mpi_f08; do
  [ $binding = mpi ] && handle=integer || handle='type(MPI_File)'
  cat >"$work/file.f90" <<PROGRAM
program file
  use $binding
  $handle :: fh
  integer :: memory(3), ierr
  call MPI_Init(ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_File_open(MPI_COMM_WORLD, 'x', MPI_MODE_RDONLY, MPI_INFO_NULL, fh, ierr)
  call MPI_File_read(fh, memory, 3, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_Finalize(ierr)
end program
PROGRAM
  said=$("$bin/mpifort" -o "$work/file" "$work/file.f90" 2>&1) || { echo "FAILED: it does not link: $said" >&2; exit 1; }
  checked=$("$bin/margay" check "$work/file" 2>&1)
  for name in open read; do
    case $said in *"warning: MPI_File_$name is not supported"*) ;; *) echo "FAILED: no warning of it: $said" >&2; exit 1 ;; esac
    case $checked in *"mpi_file_${name}_"*) ;; *) echo "FAILED: margay check does not name it: $checked" >&2; exit 1 ;; esac
  done
  if [ "$(printf '%s\n' "$said" | grep -c warning)" -ne 2 ]; then
    echo "FAILED: more warnings than calls: $said" >&2
    exit 1
  fi
done
echo "Fortran programs as expected"
