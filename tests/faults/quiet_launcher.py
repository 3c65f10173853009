#!/usr/bin/env python3
"""A PMI-1.1 launcher that ends no process, as srun without --kill-on-bad-exit:

    quiet_launcher.py RANKS[:NODES] PROGRAM [ARGUMENT...]

The nodes are on this host, with the ranks divided evenly. Its connections stay open after finalize. Prints each rank's
status, in the order in which they end."""
import os
import selectors
import socket
import subprocess
import sys
import time

PATIENCE_SECONDS = 60  # a rank that no process ends must not hang the test


class Launcher:
    def __init__(self, ranks, nodes, command):
        on_node = [ranks * (node + 1) // nodes - ranks * node // nodes for node in range(nodes)]
        blocks = ",".join(f"({node},1,{count})" for node, count in enumerate(on_node))
        self.keys = {"PMI_process_mapping": f"(vector,{blocks})"}
        self.waiting = 0
        self.sockets = []
        self.selector = selectors.DefaultSelector()
        self.running = {}
        for rank in range(ranks):
            ours, theirs = socket.socketpair()
            environment = {**os.environ, "PMI_FD": str(theirs.fileno()), "PMI_RANK": str(rank), "PMI_SIZE": str(ranks)}
            self.running[rank] = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()])
            theirs.close()
            self.sockets.append(ours)
            self.selector.register(ours, selectors.EVENT_READ, rank)

    def answer(self, line):
        fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
        command = fields["cmd"]
        if command == "put":
            self.keys[fields["key"]] = fields["value"]
        if command == "get":
            value = self.keys.get(fields["key"])
            return f"cmd=get_result rc={0 if value else -1} value={value or 'unknown'}"
        return {"init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
                "get_maxes": "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
                "get_appnum": "cmd=appnum appnum=0",
                "get_universe_size": f"cmd=universe_size size={len(self.sockets)}",
                "get_my_kvsname": "cmd=my_kvsname kvsname=quiet",
                "put": "cmd=put_result rc=0",
                "finalize": "cmd=finalize_ack"}.get(command)

    def serve(self, rank):
        text = self.sockets[rank].recv(65536).decode()
        if text == "":
            self.selector.unregister(self.sockets[rank])
        for line in text.splitlines():  # clients send whole lines and wait for each answer
            if line.startswith("cmd=barrier_in"):
                self.waiting += 1
            elif (reply := self.answer(line)) is not None:
                self.sockets[rank].send(reply.encode() + b"\n")
        if self.waiting == len(self.sockets):
            self.waiting = 0
            for each in self.sockets:
                each.send(b"cmd=barrier_out\n")

    def run(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.running:
            for key, _ in self.selector.select(0.02):
                self.serve(key.data)
            for rank, process in list(self.running.items()):
                if time.monotonic() > deadline:
                    process.kill()
                if process.poll() is not None:
                    print(f"rank {rank} ended: {process.returncode}", flush=True)
                    del self.running[rank]


RANKS, _, NODES = sys.argv[1].partition(":")
Launcher(int(RANKS), int(NODES or 1), sys.argv[2:]).run()
