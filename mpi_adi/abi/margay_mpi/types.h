/* The types of the C interface: handles, status, callbacks. Included by mpi.h only. */

/* Handles are integers that carry their kind and index (mpi_adi/abi/handles.hpp decodes them); a file is a pointer.
 * The struct tags are part of the ABI for C++, which mangles them into names. */
typedef int MPI_Comm;
typedef int MPI_Group;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Message;
typedef int MPI_Info;
typedef int MPI_Win;
typedef int MPI_Errhandler;
typedef int MPI_Session;
typedef int MPIX_Grequest_class;
typedef struct ADIOI_FileD* MPI_File;

typedef int MPI_Fint;
typedef long MPI_Aint;
typedef long MPI_Offset;
typedef long MPI_Count;

/* The 63-bit count of a status: low word, then the high word shifted left by one, with "cancelled" in its lowest bit.
 */
typedef struct MPI_Status {
  int count_lo;
  int count_hi_and_cancelled;
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
} MPI_Status;

/* The same five words as Fortran 2008 sees them. */
typedef struct {
  MPI_Fint count_lo;
  MPI_Fint count_hi_and_cancelled;
  MPI_Fint MPI_SOURCE;
  MPI_Fint MPI_TAG;
  MPI_Fint MPI_ERROR;
} MPI_F08_status;

/* Reductions. */
typedef void(MPI_User_function)(void* in, void* inout, int* length, MPI_Datatype* datatype);
typedef void(MPI_User_function_c)(void* in, void* inout, MPI_Count* length, MPI_Datatype* datatype);

/* Attributes; the first pair is MPI-1's. */
typedef int(MPI_Copy_function)(MPI_Comm old, int keyval, void* extra, void* value_in, void* value_out, int* flag);
typedef int(MPI_Delete_function)(MPI_Comm comm, int keyval, void* value, void* extra);
typedef int(MPI_Comm_copy_attr_function)(MPI_Comm old, int keyval, void* extra, void* in, void* out, int* flag);
typedef int(MPI_Comm_delete_attr_function)(MPI_Comm comm, int keyval, void* value, void* extra);
typedef int(MPI_Type_copy_attr_function)(MPI_Datatype old, int keyval, void* extra, void* in, void* out, int* flag);
typedef int(MPI_Type_delete_attr_function)(MPI_Datatype type, int keyval, void* value, void* extra);
typedef int(MPI_Win_copy_attr_function)(MPI_Win old, int keyval, void* extra, void* in, void* out, int* flag);
typedef int(MPI_Win_delete_attr_function)(MPI_Win win, int keyval, void* value, void* extra);

/* Error handlers; the _fn names are MPI-2.0's. */
typedef void(MPI_Handler_function)(MPI_Comm* comm, int* code, ...);
typedef void(MPI_Comm_errhandler_function)(MPI_Comm* comm, int* code, ...);
typedef void(MPI_File_errhandler_function)(MPI_File* file, int* code, ...);
typedef void(MPI_Win_errhandler_function)(MPI_Win* win, int* code, ...);
typedef void(MPI_Session_errhandler_function)(MPI_Session* session, int* code, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_Session_errhandler_function MPI_Session_errhandler_fn;

/* Generalized requests, with the extension that lets the library drive them. */
typedef int(MPI_Grequest_query_function)(void* extra, MPI_Status* status);
typedef int(MPI_Grequest_free_function)(void* extra);
typedef int(MPI_Grequest_cancel_function)(void* extra, int complete);
typedef int(MPIX_Grequest_poll_function)(void* extra, MPI_Status* status);
typedef int(MPIX_Grequest_wait_function)(int count, void** extras, double timeout, MPI_Status* status);

/* Data representations of files. */
typedef int(MPI_Datarep_extent_function)(MPI_Datatype datatype, MPI_Aint* extent, void* extra);
typedef int(MPI_Datarep_conversion_function)(void* user, MPI_Datatype, int count, void* file, MPI_Offset, void* extra);
typedef int(MPI_Datarep_conversion_function_c)(void* user, MPI_Datatype, MPI_Count, void* file, MPI_Offset,
                                               void* extra);

/* Conversions to and from Fortran: handles are the same integers there. MPI_File_c2f and MPI_File_f2c are functions. */
#define MPI_Comm_c2f(comm) ((MPI_Fint)(comm))
#define MPI_Comm_f2c(comm) ((MPI_Comm)(comm))
#define MPI_Group_c2f(group) ((MPI_Fint)(group))
#define MPI_Group_f2c(group) ((MPI_Group)(group))
#define MPI_Type_c2f(datatype) ((MPI_Fint)(datatype))
#define MPI_Type_f2c(datatype) ((MPI_Datatype)(datatype))
#define MPI_Op_c2f(op) ((MPI_Fint)(op))
#define MPI_Op_f2c(op) ((MPI_Op)(op))
#define MPI_Request_c2f(request) ((MPI_Fint)(request))
#define MPI_Request_f2c(request) ((MPI_Request)(request))
#define MPI_Message_c2f(message) ((MPI_Fint)(message))
#define MPI_Message_f2c(message) ((MPI_Message)(message))
#define MPI_Info_c2f(info) ((MPI_Fint)(info))
#define MPI_Info_f2c(info) ((MPI_Info)(info))
#define MPI_Win_c2f(win) ((MPI_Fint)(win))
#define MPI_Win_f2c(win) ((MPI_Win)(win))
#define MPI_Errhandler_c2f(handler) ((MPI_Fint)(handler))
#define MPI_Errhandler_f2c(handler) ((MPI_Errhandler)(handler))
#define MPI_Session_c2f(session) ((MPI_Fint)(session))
#define MPI_Session_f2c(session) ((MPI_Session)(session))
#define PMPI_Comm_c2f(comm) MPI_Comm_c2f(comm)
#define PMPI_Comm_f2c(comm) MPI_Comm_f2c(comm)
#define PMPI_Group_c2f(group) MPI_Group_c2f(group)
#define PMPI_Group_f2c(group) MPI_Group_f2c(group)
#define PMPI_Type_c2f(datatype) MPI_Type_c2f(datatype)
#define PMPI_Type_f2c(datatype) MPI_Type_f2c(datatype)
#define PMPI_Op_c2f(op) MPI_Op_c2f(op)
#define PMPI_Op_f2c(op) MPI_Op_f2c(op)
#define PMPI_Request_c2f(request) MPI_Request_c2f(request)
#define PMPI_Request_f2c(request) MPI_Request_f2c(request)
#define PMPI_Message_c2f(message) MPI_Message_c2f(message)
#define PMPI_Message_f2c(message) MPI_Message_f2c(message)
#define PMPI_Info_c2f(info) MPI_Info_c2f(info)
#define PMPI_Info_f2c(info) MPI_Info_f2c(info)
#define PMPI_Win_c2f(win) MPI_Win_c2f(win)
#define PMPI_Win_f2c(win) MPI_Win_f2c(win)
#define PMPI_Errhandler_c2f(handler) MPI_Errhandler_c2f(handler)
#define PMPI_Errhandler_f2c(handler) MPI_Errhandler_f2c(handler)
#define PMPI_Session_c2f(session) MPI_Session_c2f(session)
#define PMPI_Session_f2c(session) MPI_Session_f2c(session)

/* MPI-2's own request type for files, from the time before these were ordinary requests. */
#define MPIO_Request MPI_Request
#define MPIO_Test MPI_Test
#define MPIO_Wait MPI_Wait
#define PMPIO_Test PMPI_Test
#define PMPIO_Wait PMPI_Wait
#define MPIO_USES_MPI_REQUEST
#define MPIO_REQUEST_DEFINED
#define MPIO_REQUEST_NULL ((MPIO_Request)0)
#define MPI_FILE_DEFINED
#define HAVE_MPI_OFFSET
#define HAVE_MPI_INFO
#define HAVE_MPI_GREQUEST 1
#define HAVE_MPI_DARRAY_SUBARRAY
