"""The kinds of arguments: their default values, and their wrong values with the error classes."""
import re
from typing import NamedTuple


class Wrong(NamedTuple):
    """A value that a call must reject. `value`: a C expression, or {...}: the contents to which the argument points."""
    label: str  # its name in the table
    value: str
    error: str  # the class, without MPI_ERR_
    said: str  # a C expression: the value as a message may print it, alternatives between '|'


class Kind(NamedTuple):
    """An argument's kind. `noun`: its name in a message, besides the argument's own."""
    default: str
    noun: str
    wrongs: list


NULL_TEXT = '"null"'


def handles(type_name, null, freed, kind, never, error, pointer=False):
    """The wrong handles of a type: null, freed, of another kind, never created."""
    def form(value):
        return f"{{{value}}}" if pointer else value
    return [Wrong("null", form(null), error, f'"{null}"'),
            Wrong("freed", form(freed), error, f"in_hex({freed})"),
            Wrong("kind", form(f"({type_name}){kind}"), error, f"in_hex({kind})"),
            Wrong("never", form(never), error, f"in_hex({never})")]


def numbers(error, *values):
    """Wrong integers, as label=value."""
    return [Wrong(label, value, error, f"in_decimal({value})") for label, value in (pair.split("=") for pair in values)]


def null_pointer(error="ARG"):
    return [Wrong("pointer", "NULL", error, NULL_TEXT)]


HANDLES = {
    "MPI_Comm": ("comm", "communicator", "MPI_COMM_NULL", "freed_comm", "MPI_INT", "never_comm", "COMM"),
    "MPI_Datatype": ("MPI_INT", "datatype|type", "MPI_DATATYPE_NULL", "freed_type", "MPI_COMM_WORLD", "never_type", "TYPE"),
    "MPI_Group": ("group", "group", "MPI_GROUP_NULL", "freed_group", "MPI_INT", "never_group", "GROUP"),
    "MPI_Op": ("MPI_SUM", "operation", "MPI_OP_NULL", "freed_op", "MPI_INT", "never_op", "OP"),
    "MPI_Info": ("info", "info", "MPI_INFO_NULL", "freed_info", "MPI_INT", "never_info", "INFO"),
    "MPI_Errhandler": ("handler", "error handler", "MPI_ERRHANDLER_NULL", "freed_handler", "MPI_INT", "never_handler", "ARG"),
    "MPI_Session": ("session", "session", "MPI_SESSION_NULL", "freed_session", "MPI_INT", "never_session", "SESSION"),
    "MPI_Request": ("inactive", "request", "MPI_REQUEST_NULL", "freed_request", "MPI_INT", "never_request", "REQUEST"),
    "MPI_Message": ("MPI_MESSAGE_NO_PROC", "message", "MPI_MESSAGE_NULL", "freed_request", "MPI_INT", "never_message", "REQUEST"),
    "MPI_Win": ("win", "window", "MPI_WIN_NULL", "freed_win", "MPI_INT", "never_win", "WIN"),
}
ACCUMULATES = re.compile(r"^MPI_(R?accumulate|R?get_accumulate|Fetch_and_op)(_c)?$", re.IGNORECASE)
# Handles that a pointer passes in, and output handles.
OUT_NAMES = re.compile(r"^(new|baseptr|comm_(cart|graph|dist_graph)$|info_used$)")
INFO_OPTIONAL = re.compile(r"^MPI_(Comm_dup_with_info|Comm_idup_with_info|Comm_split_type|Alloc_mem|Psend_init|Precv_init|"
                           r"Dist_graph_create|Dist_graph_create_adjacent|Comm_create_from_group|Open_port|Comm_spawn|Comm_accept|Comm_connect|(Un)?[Pp]ublish_name|Lookup_name|"
                           r"Intercomm_create_from_groups|Win_create(_dynamic)?(_c)?|Win_allocate(_shared)?(_c)?|Session_init|Session_get_num_psets|Session_get_nth_pset|"
                           r"(Neighbor_)?(All\w+?|Barrier|Bcast|Gatherv?|Scatterv?|Reduce|Reduce_scatter|Reduce_scatter_block|Scan|Exscan|"
                           r"all\w+?)_init(_c)?)$")
TAKES_UNCOMMITTED = re.compile(r"^MPI_(Type_|Get_(?!accumulate|c$)|Status_|Pack_size|Pack_external_size)")

FREED_KEYS = {"comm": ("comm_key", "freed_comm_key", "type_key"), "type": ("type_key", "freed_type_key", "comm_key"),
              "win": ("win_key", "freed_win_key", "comm_key")}


def keyval(function, pointer):
    owner = "type" if "_Type_" in function else "win" if "_Win_" in function else "comm"
    living, freed, foreign = FREED_KEYS[owner]

    def form(value):
        return f"{{{value}}}" if pointer else value
    wrongs = [Wrong("null", form("MPI_KEYVAL_INVALID"), "KEYVAL", '"MPI_KEYVAL_INVALID"'),
              Wrong("freed", form(freed), "KEYVAL", f"in_hex({freed})"),
              Wrong("foreign", form(foreign), "KEYVAL", f"in_hex({foreign})"),
              Wrong("kind", form("MPI_INT"), "KEYVAL", "in_hex(MPI_INT)"),
              Wrong("negative", form("-1"), "KEYVAL", "in_hex(-1)"),
              Wrong("predefined", form("MPI_TAG_UB"), "KEYVAL", "in_hex(MPI_TAG_UB)")]
    if owner != "win":
        objects = {"comm": "communicators", "type": "datatypes"}[owner]
        wrongs.append(Wrong("of_windows", form("MPI_WIN_BASE"), "KEYVAL", f'"is for windows, not for {objects}"'))
    elif not function.startswith("MPI_Win_get_attr"):
        wrongs.append(Wrong("of_windows", form("MPI_WIN_BASE"), "KEYVAL", "in_hex(MPI_WIN_BASE)"))
    if pointer:
        wrongs += null_pointer()
    return Kind(form(living), "key", wrongs)


# Integers by name: (pattern of the name, default, noun, wrong values).
INTEGERS = [
    (r"count|incount|outcount|sendcount|recvcount|(origin|target|result)_count|length", "1", "count", numbers("COUNT", "negative=-1", "lowest=INT_MIN")),
    (r"dest|remote_leader", "0", "destination", 
     [Wrong("any", "MPI_ANY_SOURCE", "RANK", '"MPI_ANY_SOURCE|-2"')] + numbers("RANK", "negative=-7", "past=1", "huge=INT_MAX")),
    (r"source", "0", "source", numbers("RANK", "negative=-7", "lowest=INT_MIN", "past=1", "huge=INT_MAX")),
    (r"target_rank", "0", "target", 
     [Wrong("any", "MPI_ANY_SOURCE", "RANK", '"MPI_ANY_SOURCE|-2"')] + numbers("RANK", "negative=-7", "lowest=INT_MIN", "past=1",
                                                                             "huge=INT_MAX")),
    (r"target_disp", "1", "displacement",
     numbers("DISP", "negative=-1", "lowest=INT64_MIN") + numbers("RMA_RANGE", "past=64", "huge=INT64_MAX")),
    (r"disp_unit", "4", "", numbers("DISP", "zero=0", "negative=-1", "lowest=INT_MIN")),
    (r"lock_type", "MPI_LOCK_SHARED", "", numbers("LOCKTYPE", "zero=0", "negative=-1", "past=MPI_LOCK_SHARED + 1", "huge=INT_MAX")),
    (r"assert", "0", "", numbers("ASSERT", "negative=-1", "lowest=INT_MIN", "unknown=1 << 20", "more=MPI_MODE_NOCHECK | 1")),
    (r"window_size", "64", "size", numbers("SIZE", "negative=-1", "lowest=INT64_MIN")),
    (r"root", "0", "root", numbers("ROOT", "none=MPI_PROC_NULL", "negative=-7", "past=1", "huge=INT_MAX")),
    (r"rank|local_leader", "0", "rank", numbers("RANK", "negative=-1", "lowest=INT_MIN", "past=1", "huge=INT_MAX")),
    (r"tag|sendtag", "3", "tag", 
     [Wrong("any", "MPI_ANY_TAG", "TAG", '"MPI_ANY_TAG"')] + numbers("TAG", "negative=-5", "lowest=INT_MIN", "above=1 << 29",
                                                                     "huge=INT_MAX")),
    (r"recvtag", "3", "tag", numbers("TAG", "negative=-5", "lowest=INT_MIN", "above=1 << 29", "huge=INT_MAX")),
    (r"partition|partition_low|partition_high", "0", "partition",
     numbers("ARG", "negative=-1", "past=2", "huge=INT_MAX", "lowest=INT_MIN")),
    (r"blocklength", "1", "", numbers("COUNT", "negative=-1", "lowest=INT_MIN")),
    (r"size|insize|outsize|valuelen|partitions|n|ndims|maxdims|nnodes|indegree|outdegree|max\w+|blocklength|argc", "1", "",
     numbers("ARG", "negative=-1", "lowest=INT_MIN")),
]
RECEIVES = re.compile(r"^MPI_(Probe|Iprobe|Mprobe|Improbe|Recv|Irecv|Recv_init)(_c)?$")
# Integers without wrong values, or with wrong values in the table.
FREE_INTEGERS = {"color": "0", "key": "0", "reorder": "0", "commute": "1", "high": "0", "flag": "0", "level": "1", "stride": "4",
                 "lb": "0", "extent": "4", "disp": "1", "base": "0", "p": "6", "r": "30", "order": "MPI_ORDER_C",
                 "direction": "0", "errorcode": "MPI_ERR_ARG", "errorclass": "MPI_ERR_ARG", "typeclass": "MPI_TYPECLASS_INTEGER",
                 "split_type": "MPI_COMM_TYPE_SHARED", "required": "MPI_THREAD_SINGLE", "fd": "-1"}
ARRAYS_OF_RANKS = re.compile(r"^(ranks\d?|sources|destinations)$")
COUNTS_OF_ELEMENTS = ("count", "incount", "outcount", "sendcount", "recvcount", "origin_count", "target_count", "result_count")
# The valid positions of MPI_IN_PLACE, in the send buffer and in the receive buffer: the one rank is the root.
IN_PLACE_ALLOWED = (re.compile(r"^MPI_I?(gather|allgather|alltoall|reduce|allreduce|scan|exscan)(?!_local)", re.IGNORECASE),
                    re.compile(r"^MPI_I?scatter", re.IGNORECASE))
ATTACHES = re.compile(r"^MPI_Buffer_")
BUFFERS = re.compile(r"^(buf|buffer|sendbuf|recvbuf|inbuf|outbuf|inoutbuf|origin_addr|result_addr|compare_addr)$")


FUNCTIONS = {"query_fn": "query", "free_fn": "release", "cancel_fn": "cancel", "user_fn": "add",
             "comm_errhandler_fn": "nothing", "session_errhandler_fn": "session_nothing",
             "file_errhandler_fn": "file_nothing", "win_errhandler_fn": "win_nothing"}


# The meanings of integers of windows, if another chapter's have the same name.
OF_WINDOWS = {"rank": "target_rank", "size": "window_size"}
NOUNS = {"indx": "index"}  # mpi.h cannot use this name: strings.h has a function of that name


def integer(name, function):
    if function.startswith("MPI_Win_"):
        name = OF_WINDOWS.get(name, name)
    if name in FREE_INTEGERS:
        return Kind(FREE_INTEGERS[name], "", [])
    for pattern, default, noun, wrongs in INTEGERS:
        if re.fullmatch(pattern, name):
            if name == "tag" and RECEIVES.match(function):
                wrongs = [wrong for wrong in wrongs if wrong.label != "any"]
            if function.startswith("MPI_Precv_init") and name == "dest":
                noun = "source"  # the standard's name
            return Kind(default, noun, wrongs)
    return None


def handle(base, name, function, pointer, slot):
    default, noun, null, freed, kind, never, error = HANDLES[base]
    if pointer and (OUT_NAMES.match(name) or is_out(base, name, function)):
        return Kind(slot, noun, null_pointer())
    wrongs = handles(base, null, freed, kind, never, error, pointer)
    if base == "MPI_Datatype" and not TAKES_UNCOMMITTED.match(function):
        wrongs.append(Wrong("uncommitted", "uncommitted", "TYPE", "in_hex(uncommitted)"))
    if base == "MPI_Op" and ACCUMULATES.match(function):
        wrongs.append(Wrong("made", "own_op", "OP", "in_hex(own_op)"))
        wrongs.append(Wrong("undefined", "MPI_MAXLOC", "OP", '"MPI_MAXLOC"'))
    if base == "MPI_Info" and INFO_OPTIONAL.match(function):
        wrongs = wrongs[1:]
    if pointer:
        wrongs += null_pointer()
        default = f"{{{default}}}"
    return Kind(default, noun, wrongs)


def is_out(base, name, function):
    """Whether the function returns a new handle of that type through its pointer."""
    if name.startswith("array_of_") and "get_contents" not in function:
        return False
    if base == "MPI_Request":
        return not re.match(r"^MPI_(Wait|Test|Start|Request_|Cancel)", function)
    if base == "MPI_Message":
        return "probe" in function
    return not re.search(r"_(free|disconnect|commit|finalize)$", function)


def kind_of(type_name, name, function, slot):
    """The kind of an argument, or None. `slot`: a C expression, memory of the argument's own."""
    base = type_name.replace("const ", "").strip()
    pointer = base.endswith("*")
    element = base.rstrip("* ")
    if element in HANDLES and base.count("*") <= 1:
        return handle(element, name, function, pointer, slot)
    if re.search(r"keyval$", name):
        return Kind(slot, "", null_pointer()) if "create" in function else keyval(function, pointer)
    if element == "MPI_Status":
        if type_name.startswith("const") or function.startswith("MPI_Status_set"):
            return Kind("&status", "status", null_pointer() + [Wrong("ignore", "MPI_STATUS_IGNORE", "ARG", '"MPI_STATUS_IGNORE"')])
        return Kind(slot, name if name.startswith("array_of_") else "status", null_pointer())  # MPI_STATUS_IGNORE is valid
    if name == "ranges":
        return Kind("{0,0,1}", "", null_pointer() + [
            Wrong("past", "{0,5,1}", "ARG", '"5"'), Wrong("negative", "{-7,0,1}", "ARG", '"-7"'),
            Wrong("stride", "{0,0,0}", "ARG", '"0"')])
    if not pointer:
        kind = integer(name, function)
        # Of MPI_INT. Constructors would read as many entries of their arrays.
        if base == "MPI_Count" and name in COUNTS_OF_ELEMENTS and "_Type_" not in function:
            kind = kind._replace(wrongs=kind.wrongs + numbers("COUNT", "past=INT64_MAX"))
        return kind
    if BUFFERS.match(name):
        wrongs = null_pointer("BUFFER")
        if not (IN_PLACE_ALLOWED[name == "recvbuf"].match(function) or ATTACHES.match(function)):
            wrongs.append(Wrong("in_place", "MPI_IN_PLACE", "BUFFER", '"MPI_IN_PLACE"'))
        return Kind(slot, "buffer", wrongs)
    if name == "extra_state" or name.startswith("attribute_val") and re.search("_(set|put)", function):
        return Kind("NULL", "", [])
    if element == "char" and base.count("*") == 1 and type_name.startswith("const"):
        return string(name, function)
    if "unction" in element:
        if name in FUNCTIONS:
            default = FUNCTIONS[name]
            return Kind(default + ("_c" if element.endswith("_c") else ""), "", null_pointer())
        return Kind("NULL", "", [])  # Of an attribute key: equivalent to the function without effect.
    if ARRAYS_OF_RANKS.match(name) and type_name.startswith("const"):
        return Kind("{0}", "", null_pointer() + [Wrong(f"element_{w.label}", f"{{{w.value}}}", "RANK", w.said) for w in
                                                 numbers("RANK", "negative=-7", "past=1", "huge=INT_MAX")])
    return Kind(slot, NOUNS.get(name, ""), null_pointer())


def string(name, function):
    if name == "key":
        return Kind('"key"', "key", null_pointer("INFO_KEY") + [
            Wrong("empty", '""', "INFO_KEY", '"empty"'), Wrong("long", "long_text", "INFO_KEY", '"longer"')])
    if name == "value":
        return Kind('"value"', "value", null_pointer("INFO_VALUE") + [Wrong("long", "long_text", "INFO_VALUE", '"longer"')])
    if name == "datarep":
        return Kind('"external32"', "datarep", null_pointer() + [Wrong("unknown", '"external64"', "ARG", '"external64"'),
                                                                Wrong("empty", '""', "ARG", r'"\"\""')])
    if name in ("pset_name", "stringtag"):
        return Kind('"mpi://SELF"', name, null_pointer() + [Wrong("long", "long_text", "ARG", '"longer"')])
    if name == "service_name" or name == "port_name" and "ublish" in function:
        error = "PORT" if name == "port_name" else "NAME" if "Lookup" in function else "SERVICE"
        return Kind('"text"', name, null_pointer() + [Wrong("empty", '""', error, '"empty"'),
                                                      Wrong("long", "long_text", error, '"longer"')])
    return Kind('"text"', name, null_pointer())
