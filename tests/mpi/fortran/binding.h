! One text for three bindings: -DBINDING_MPIF (mpif.h), -DBINDING_MPI (use mpi), -DBINDING_F08 (use mpi_f08).
#if defined(BINDING_F08)
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define T_COMM type(MPI_Comm)
#define T_TYPE type(MPI_Datatype)
#define T_WIN type(MPI_Win)
#define T_REQUEST type(MPI_Request)
#define T_OP type(MPI_Op)
#define T_ERRHANDLER type(MPI_Errhandler)
#define T_GROUP type(MPI_Group)
#define T_INFO type(MPI_Info)
#define T_SESSION type(MPI_Session)
#define STATUS(s) type(MPI_Status) :: s
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define VALUE_OF(h) h%MPI_VAL
#else
#if defined(BINDING_MPIF)
#define USE_MPI use, intrinsic :: iso_c_binding
#define INCLUDE_MPI include 'mpif.h'
#else
#define USE_MPI use mpi
#define INCLUDE_MPI
#endif
#define T_COMM integer
#define T_TYPE integer
#define T_WIN integer
#define T_REQUEST integer
#define T_OP integer
#define T_ERRHANDLER integer
#define T_GROUP integer
#define T_INFO integer
#define T_SESSION integer
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define VALUE_OF(h) h
#endif
