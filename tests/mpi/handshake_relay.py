"""A relay between the processes of two jobs, which records the handshake of a connection and replays it."""
import socket
import threading

HELLO, ANSWER, PROOF = 72, 76, 32  # bytes: docs/tcp_wire.md, Handshake
PATIENCE = 60  # against hanging


def fnv1a(text):
    """The check at the end of a port's name."""
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"


def port_at(name, host, port):
    """The name of a port, with another address."""
    head = ":".join([*name.split(":")[:5], f"{host},{port}"])
    return f"{head}:{fnv1a(head)}"


def address_of(name):
    """The host and the port of the address in a name."""
    host, port = name.split(":")[5].split(",")
    return host, int(port)


def receive_all(connection, limit=1 << 20):
    """What arrives before the other side closes the connection."""
    got = b""
    try:
        while len(got) < limit and (some := connection.recv(65536)):
            got += some
    except ConnectionResetError:
        pass
    return got


class Relay:
    """Passes one connection on to `target`. `called` and `answered`: all bytes of the caller and of the target."""

    def __init__(self, target):
        self.target, self.called, self.answered = target, bytearray(), bytearray()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(PATIENCE)
        self.address = self.listener.getsockname()

    def run(self, at_proof):
        """Until both sides have ended. `at_proof`: called when the caller's proof has been passed on."""
        caller, _ = self.listener.accept()
        with caller, socket.create_connection(self.target) as target:
            for each in (caller, target):
                each.settimeout(PATIENCE)
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            back = threading.Thread(target=self.copy, args=(target, caller, self.answered, None))
            back.start()
            self.copy(caller, target, self.called, at_proof)
            back.join()

    @staticmethod
    def copy(source, sink, record, at_proof):
        try:
            while some := source.recv(65536):
                record += some
                sink.sendall(some)
                if at_proof is not None and len(record) >= HELLO + PROOF:
                    at_proof = at_proof()
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def replay_call(self):
        """Calls the target with the caller's bytes; returns the target's."""
        with socket.create_connection(self.target, timeout=PATIENCE) as connection:
            try:
                connection.sendall(self.called)
            except OSError:
                pass
            return receive_all(connection)

    def replay_answer(self):
        """Answers the next caller with the target's bytes; returns the caller's."""
        caller, _ = self.listener.accept()
        with caller:
            caller.settimeout(PATIENCE)
            caller.sendall(self.answered[:ANSWER])
            return receive_all(caller)
