#!/usr/bin/env python3
"""Tests of a real run's trace in each format of `margay trace export`, read by the tool of the format.

    tests/mpi/exports.py --build build/release

Chrome's JSON, the events' JSON, CSV, charts, Perfetto's protobuf (protoc), packets (tshark, with margay.lua; also a
live capture of the same run), SimGrid's replay, OTF2 (otf2-print): each must have the messages, calls and numbers of
the trace. If a tool is not installed, or may not capture, the test reports that and skips its part.
"""
import argparse
import collections
import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import support

TIMEOUT = 60
RANKS = 3
FOLDER = pathlib.Path(__file__).resolve().parent
DISSECTOR = FOLDER.parent.parent / "command" / "trace" / "export" / "margay.lua"
KINDS = {"put": 0, "get": 1, "reply": 2, "acknowledgment": 3}
SENDS = {"kernel_send", "kernel_ack_sent", "kernel_reply_sent"}
ARRIVALS = {"kernel_arrive", "kernel_ack_arrived", "kernel_get_arrived"}


class Problem(Exception):
    """The contents of a format lack, or contradict, those of the trace."""


def expect(condition, words):
    if not condition:
        raise Problem(words)


def tool(name):
    if shutil.which(name) is None:
        expect(not os.environ.get("MARGAY_EXPECT_TOOLS"), f"{name} is not there, and scripts/setup installs it")
        print(f"    left out: {name} is not installed (scripts/setup)")
        return None
    return name


def left_out(why):
    expect(not os.environ.get("MARGAY_EXPECT_TOOLS"), why)
    print(f"    left out: {why}")


def mermaid_folder(build):
    return build.folder / "tests" / "mpi" / "mermaid"


def install_mermaid(build):
    """Mermaid's own parser, if npm can install it: once for a build folder."""
    folder = mermaid_folder(build)
    shutil.copytree(FOLDER / "exports" / "mermaid", folder, dirs_exist_ok=True)
    installed = folder / "node_modules" / ".package-lock.json"
    if shutil.which("npm") is None or (installed.exists() and installed.stat().st_mtime >= (folder / "package-lock.json").stat().st_mtime):
        return
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        print(f"    npm cannot install Mermaid: {done.stderr}")


def mermaid_kind(build, lines):
    """The report of Mermaid's own parser on the diagram; None: it is not installed."""
    folder = mermaid_folder(build)
    if not (folder / "node_modules").exists():
        return left_out("Mermaid's parser, which npm installs")
    done = subprocess.run(["node", folder / "parse.js"], input="\n".join(lines), capture_output=True, text=True, timeout=TIMEOUT, check=False)
    return done.stdout.strip() or done.stderr


class Exported:
    """A trace and its exports."""

    def __init__(self, build, trace, scratch):
        self.build, self.trace, self.scratch = build, trace, pathlib.Path(scratch)
        self.events = self.table("events")
        self.messages = self.table("messages", "--all")
        self.calls = self.table("calls")

    def export(self, name, *options, status=0):
        run = support.execute([self.build.tool("margay"), "trace", "export", self.trace, "--format", name, *options], TIMEOUT)
        if problems := run.problems(status):
            raise Problem(run.transcript(problems))
        return run

    def table(self, name, *options):
        return list(csv.DictReader(io.StringIO(self.export("csv", "--table", name, *options).stdout)))

    def users(self):
        return [row for row in self.messages if row["tag"]]

    def hops(self):
        """By identity: the header of each hop, and its wire."""
        hops = {}
        for row in self.events:
            if row["kind"] in SENDS | ARRIVALS and row["sequence"]:
                identity = (int(row["source"]), int(row["destination"]), int(row["sequence"]))
                length = 0 if row["header"] in ("get", "acknowledgment") else int(row["bytes"])
                hops[identity] = (KINDS[row["header"]], int(row["portal"]), length, int(row["match_bits"], 16), row["wire"])
        return hops


def check_csv(exported):
    """The tables agree with the output of other commands."""
    run = support.execute([exported.build.tool("margay"), "trace", "messages", exported.trace, "--all", "--csv"], TIMEOUT)
    listed = list(csv.DictReader(io.StringIO(run.stdout)))
    columns = ("source", "destination", "sequence", "begin_us", "took_us", "protocol", "how", "bytes", "what")
    expect([[row[name] for name in columns] for row in listed] == [[row[name] for name in columns] for row in exported.messages],
           "messages are not those of `margay trace messages`")
    raw = support.execute([exported.build.tool("margay"), "trace", "print", exported.trace, "--raw", "--all"], TIMEOUT)
    lines = [line.split() for line in raw.stdout.splitlines() if re.match(r" *\d+\.\d{3} ", line)]
    expect([line[:3] for line in lines] == [[row["time_us"], row["rank"], row["kind"]] for row in exported.events],
           "events are not those of `margay trace print --raw`")
    enters = sum(row["kind"] == "mpi_enter" for row in exported.events)
    expect(len(exported.calls) == enters, f"{len(exported.calls)} calls, and {enters} are entered")
    # Each rank sends 120 short messages and 5 long ones, and one to itself; rank 0 sends one to each other.
    expect(len(exported.users()) == RANKS * 126 + RANKS - 1, f"{len(exported.users())} messages of the program")
    expect(any("unexpected" in row["how"] for row in exported.users()), "no message was unexpected")


def check_json(exported):
    """Each event of the table has the same numbers, and only fields of its kind."""
    document = json.loads(exported.export("json").stdout)
    expect([rank["rank"] for rank in document["ranks"]] == list(range(RANKS)), "a rank is missing")
    expect(len(document["events"]) == len(exported.events), "an event is missing")
    for event, row in zip(document["events"], exported.events):
        shown = (f"{event['time_ns'] / 1000:.3f}", str(event["rank"]), event["kind"], str(event.get("sequence", "")), event.get("wire", ""))
        expect(shown == tuple(row[name] for name in ("time_us", "rank", "kind", "sequence", "wire")), f"{event} is not {row}")
        unknown = set(event) - {"time_ns", "rank", "kind"} - set(document["kinds"][event["kind"]]["fields"])
        expect(not unknown, f"{unknown} of {event['kind']} are not explained")
    exported.export("json", "--tag", "7", status=1)


def check_chrome(exported):
    events = json.loads(exported.export("chrome", "--all").stdout)["traceEvents"]
    by_phase = collections.defaultdict(list)
    for event in events:
        by_phase[event["ph"]].append(event)
    calls = [event for event in by_phase["X"] if event["cat"] == "call"]
    slices = collections.Counter((str(event["pid"]), event["name"], f"{event['ts']:.3f}", f"{event['dur']:.3f}") for event in calls)
    wanted = collections.Counter((row["rank"], row["call"], row["begin_us"], row["took_us"]) for row in exported.calls)
    expect(slices == wanted, "calls differ")
    bars = {event["id"]: event["args"] for event in by_phase["b"]}
    for row in exported.messages:
        bar = bars[f"{row['source']}:{row['destination']}:{row['sequence']}"]
        expect((bar["bytes"], bar.get("tag", ""), bar["how"]) == (int(row["bytes"]), row["tag"], row["how"]), f"bar {bar}")
    expect(len(bars) == len(exported.messages) == len(by_phase["e"]), "a message has no bar, or one without an end")
    starts = {event["id"]: event for event in by_phase["s"]}
    expect({event["id"] for event in by_phase["f"]} == set(starts), "an arrow has one end")
    slices = collections.defaultdict(list)
    for event in calls:
        slices[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for row in exported.users():
        at = starts[f"{row['source']}:{row['destination']}:{row['sequence']}"]
        expect(any(begin <= at["ts"] <= end for begin, end in slices[at["pid"], at["tid"]]), "an arrow begins in no call")


def check_perfetto(exported):
    path = exported.scratch / "run.perfetto"
    exported.export("perfetto", "--all", "-o", path)
    if not tool("protoc"):
        return
    with open(path, "rb") as trace:
        done = subprocess.run(["protoc", f"--proto_path={FOLDER / 'exports'}", "--decode=margay.perfetto.Trace", "perfetto.proto"],
                              stdin=trace, capture_output=True, text=True, timeout=TIMEOUT)
    expect(done.returncode == 0, f"protoc: {done.stderr}")
    expect(not re.search(r"^\s*\d+[:\s]", done.stdout, re.M), "a field is not in the schema")
    packets = re.split(r"^packet \{$", done.stdout, flags=re.M)[1:]
    opened, lasts, flows = collections.Counter(), 0, [[], []]
    for packet in packets:
        kind = re.search(r"type: TYPE_(\w+)", packet)
        if not kind:
            continue
        at = int(re.search(r"timestamp: (\d+)", packet).group(1))
        expect(at >= lasts, "packets are not by time")
        lasts = at
        track = re.search(r"track_uuid: (\d+)", packet).group(1)
        opened[track] += {"SLICE_BEGIN": 1, "SLICE_END": -1, "INSTANT": 0}[kind.group(1)]
        expect(opened[track] >= 0, "a slice ends that did not begin")
        for i, field in enumerate(("flow_ids", "terminating_flow_ids")):
            flows[i] += re.findall(rf"^\s*{field}: (\d+)", packet, re.M)
    expect(not any(opened.values()), "a slice does not end")
    expect(sorted(flows[0]) == sorted(flows[1]) and len(flows[0]) == len(exported.messages), "flows do not lead from a send to a receive")
    described = set(re.findall(r"^ +uuid: (\d+)", done.stdout, re.M))
    expect(set(opened) <= described, "a track has no description")
    expect(done.stdout.count("process_name: ") == RANKS, "a rank has no process")


def check_charts(exported):
    arrow = re.compile(r"    r(\d)(->>|-->>|-x|--x)r(\d): \d+\.\d{3} us: [^;#<>%]*(#\d+;[^;#<>%]*)*")
    note = re.compile(r"    Note over r\d: \d+\.\d{3} us: [^;#<>%]*(#\d+;[^;#<>%]*)*")
    options = ("--from", "0", "--to", "1", "--tag", "8")
    lines = exported.export("mermaid", *options).stdout.splitlines()
    expect(lines[0] == "sequenceDiagram", "Mermaid's first line")
    expect(lines[1:3] == ["    participant r0 as rank 0", "    participant r1 as rank 1"], "Mermaid's participants")
    arrows = [match.group(1, 3) for line in lines[3:] if (match := arrow.fullmatch(line))]
    expect(all(arrow.fullmatch(line) or note.fullmatch(line) for line in lines[3:]), "a line is none of Mermaid's")
    long_ones = [row for row in exported.users() if (row["source"], row["destination"], row["tag"]) == ("0", "1", "8")]
    expect(len(arrows) >= 2 * len(long_ones) and set(arrows) == {("0", "1"), ("1", "0")}, f"Mermaid's arrows {arrows}")
    kind = mermaid_kind(exported.build, lines)
    expect(kind in (None, "sequence"), f"Mermaid's parser: {kind}")
    if kind:
        wrong = mermaid_kind(exported.build, [*lines, "    r0=>>r1: 1.000 us"])
        expect("Parse error" in wrong, f"Mermaid's parser takes anything: {wrong}")
    msc = exported.scratch / "run.msc"
    exported.export("msc", *options, "-o", msc)
    text = msc.read_text(encoding="utf-8")
    expect(len(re.findall(r"^  r\d (?:=>|>>|-x) r\d \[label=", text, re.M)) == len(arrows), "Mscgen's arrows")
    if tool("mscgen"):
        done = subprocess.run(["mscgen", "-T", "svg", "-i", msc, "-o", exported.scratch / "run.svg"], capture_output=True, text=True,
                              timeout=TIMEOUT)
        expect(done.returncode == 0, f"mscgen: {done.stderr}")
        expect("rank 1" in (exported.scratch / "run.svg").read_text(encoding="utf-8"), "Mscgen drew no rank")


def tshark_frames(path, *options):
    """Each frame or packet of margay's, as field: value (the last of a name)."""
    done = subprocess.run(["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", path, "-Y", "margay", "-T", "json", *options],
                          capture_output=True, text=True, timeout=TIMEOUT)
    expect(done.returncode == 0, f"tshark: {done.stderr}")
    expect("Lua" not in done.stderr and "margay.malformed" not in done.stdout, f"tshark: {done.stderr}")
    frames = []

    def flatten(pairs, into):
        for name, value in pairs:
            if isinstance(value, list) and all(isinstance(item, tuple) for item in value):
                flatten(value, into)
            else:
                into[name] = value

    for packet in json.loads(done.stdout, object_pairs_hook=list):
        layers = dict(dict(packet)["_source"])["layers"]
        for name, fields in layers:
            if name == "margay" and not isinstance(fields, str):
                frames.append({"length": dict(layers).get("frame", [])})
                flatten(fields, frames[-1])
    return frames


def header_of(frame):
    """The header of a frame that tshark has read, in the form of Exported.hops()."""
    identity = tuple(int(frame[f"margay.{name}"]) for name in ("source", "destination", "sequence"))
    return identity, (*(int(frame[f"margay.{name}"]) for name in ("kind", "portal", "length")), int(frame["margay.match_bits"], 16))


def check_packets(exported):
    path = exported.scratch / "run.pcapng"
    exported.export("pcapng", "-o", path)
    if not tool("tshark"):
        return
    frames = tshark_frames(path)
    hops = exported.hops()
    wanted = {identity: header[:4] for identity, header in hops.items()}
    expect(dict(header_of(frame) for frame in frames) == wanted and len(frames) == len(hops), "packets are not the trace's hops")
    tags = {header_of(frame)[0]: frame.get("margay.tag", "") for frame in frames}
    for row in exported.users():
        identity = tuple(int(row[name]) for name in ("source", "destination", "sequence"))
        expect(tags[identity] == row["tag"], f"{identity} has tag {tags[identity]}, not {row['tag']}")
    for frame in frames:
        seen = dict(frame["length"])
        body = int(seen["frame.len"]) - int(seen["frame.cap_len"])
        expect(body == int(frame["margay.length"]), "a packet's length does not count its body")


class Capture:
    """tshark on the loopback interface, if capturing is allowed."""

    MARK = b"margay's capture ends here"

    def __init__(self, path):
        self.path, self.process = path, None
        if not tool("tshark"):
            return
        if not os.environ.get("EXPORTS_IN_NAMESPACE"):
            print("    left out: no live capture, as no network namespace may be made here and others' jobs would be in it")
            return
        self.errors = open(f"{path}.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(["tshark", "-i", "lo", "-B", "64", "-q", "-w", path], stdout=subprocess.DEVNULL, stderr=self.errors)
        if not self.wait_for(lambda: self.marked("begins") or self.process.poll() is not None) or self.process.poll() is not None:
            print(f"    left out: tshark cannot capture on lo here: {self.said()}")
            self.stop()
            self.process = None

    def said(self):
        with open(f"{self.path}.log", encoding="utf-8") as log:
            return " ".join(log.read().split())

    def marked(self, word):
        """Sends a mark; returns whether one has arrived."""
        mark = self.MARK + word.encode()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(mark, ("127.0.0.1", 9))
        return pathlib.Path(self.path).exists() and mark in pathlib.Path(self.path).read_bytes()

    @staticmethod
    def wait_for(condition, seconds=30):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if condition():
                return True
            time.sleep(0.05)
        return False

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=TIMEOUT)
        self.errors.close()

    def finish(self):
        """Whether the file is complete."""
        if self.process is None:
            return False
        came = self.wait_for(lambda: self.marked("ends"))
        self.stop()
        expect(came, f"the end of the capture did not come: {self.said()}")
        if re.search(r"[1-9]\d* packets? dropped", self.said()):
            print(f"    left out: the live capture lost packets: {self.said()}")
            return False
        return True


def check_live(exported, path):
    """The same messages, captured live."""
    wanted = {identity: header[:4] for identity, header in exported.hops().items() if header[4] == "tcp"}
    expect(len(wanted) > 10, "hardly a message went over TCP")
    for options in ((), ("-2",)):
        seen = dict(header_of(frame) for frame in tshark_frames(path, *options) if "margay.sequence" in frame)
        expect(seen == wanted, f"live {options}: {len(seen)} messages, the trace has {len(wanted)}; "
                               f"{sorted(set(seen.items()) ^ set(wanted.items()))[:6]}")


def check_live_late(exported, path):
    """A capture that began in the middle of the connections."""
    late = exported.scratch / "late.pcapng"
    read = ["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", path]
    verdicts = subprocess.run([*read, "-Y", "margay.hello.verdict", "-T", "fields", "-e", "frame.number"], capture_output=True, text=True,
                              timeout=TIMEOUT, check=False).stdout.split()
    expect(verdicts, "no handshake passed by")
    subprocess.run([*read, "-Y", f"frame.number > {max(map(int, verdicts)) + 5}", "-w", late], capture_output=True, timeout=TIMEOUT, check=False)
    frames = [frame for frame in tshark_frames(late) if "margay.kind" in frame]
    seen = collections.Counter((*(int(frame[f"margay.{name}"]) for name in ("kind", "portal", "length")), int(frame["margay.match_bits"], 16))
                               for frame in frames)
    wanted = collections.Counter(header[:4] for header in exported.hops().values() if header[4] == "tcp")
    expect(len(frames) > 10 and not seen - wanted, f"late: {len(frames)} messages, not the trace's: {seen - wanted}")
    expect(not any("margay.sequence" in frame for frame in frames), "late: a sequence is printed that cannot be known")


def check_replay(exported):
    folder = exported.scratch / "replay"
    exported.export("smpi-ti", "-o", folder)
    files = (folder / "actions").read_text(encoding="utf-8").split()
    expect(len(files) == RANKS, "a rank has no actions")
    sends, receives, opened = collections.Counter(), collections.Counter(), collections.Counter()
    for rank, name in enumerate(files):
        lines = [line.split() for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        expect(lines[0] == [str(rank), "init"] and lines[-1] == [str(rank), "finalize"], f"the ends of {name}")
        for who, what, *rest in lines:
            expect(who == str(rank), f"rank {who} in {name}")
            if what in ("send", "isend"):
                sends[who, rest[0], rest[1], rest[2]] += 1
                opened[who, "send", who, rest[0], rest[1]] += what == "isend"
            elif what in ("recv", "irecv"):
                receives[rest[0], who, rest[1], rest[2]] += 1
                opened[who, "receive", rest[0], who, rest[1]] += what == "irecv"
            elif what == "wait":
                side = next((side for side in ("receive", "send") if opened[who, side, *rest]), None)
                expect(side, f"nothing is waited for by {' '.join((who, what, *rest))}")
                opened[who, side, *rest] -= 1
    expect(sends == receives and max(sends.values()) == 1, "sends are not the receives")
    expect(not any(count for key, count in opened.items() if key[1] == "receive"), "a receive is not waited for")
    replayed = collections.Counter(int(key[3]) for key in sends)
    program = collections.Counter(int(row["bytes"]) for row in exported.users())
    expect(not program - replayed, f"messages of the program are not replayed: {program - replayed}")
    if not tool("smpirun"):
        return
    (exported.scratch / "platform.xml").write_text(
        '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
        f'<cluster id="c" prefix="h" suffix="" radical="0-{RANKS - 1}" speed="1Gf" bw="1GBps" lat="10us"/></platform>', encoding="utf-8")
    (exported.scratch / "hosts").write_text("".join(f"h{rank}\n" for rank in range(RANKS)), encoding="utf-8")
    done = subprocess.run(["smpirun", "-np", str(RANKS), "-platform", exported.scratch / "platform.xml", "-hostfile",
                           exported.scratch / "hosts", "-replay", "actions"], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
    expect(done.returncode == 0 and "Simulation time" in done.stderr + done.stdout, f"smpirun: {done.stdout}{done.stderr}")


def check_otf2(exported):
    folder = exported.scratch / "otf2"
    run = support.execute([exported.build.tool("margay"), "trace", "export", exported.trace, "--format", "otf2", "-o", folder], TIMEOUT)
    if run.status != 0 and "libopen-trace-format2" in run.stderr:
        print(f"    left out: {run.stderr.strip()}")
        return
    expect(run.status == 0, run.stderr)
    if not tool("otf2-print"):
        return
    done = subprocess.run(["otf2-print", folder / "traces.otf2"], capture_output=True, text=True, timeout=TIMEOUT)
    expect(done.returncode == 0 and not done.stderr, f"otf2-print: {done.stderr}")
    records = re.compile(r"^MPI_(SEND|RECV)\s+(\d+)\s+\d+\s+(?:Receiver|Sender): (\d+) .*Tag: (\d+), Length: (\d+)$", re.M)
    recorded = collections.Counter(record for record in records.findall(done.stdout))
    wanted = collections.Counter()
    for row in exported.users():
        wanted["SEND", row["source"], row["destination"], row["tag"], row["bytes"]] += 1
        wanted["RECV", row["destination"], row["source"], row["tag"], row["bytes"]] += 1
    expect(recorded == wanted, "sends and receives differ")
    entered = collections.Counter(re.findall(r'^ENTER .*Region: "(MPI_\w+)"', done.stdout, re.M))
    expect(entered == collections.Counter(row["call"] for row in exported.calls), "calls differ")
    expect(done.stdout.count("\nENTER ") == done.stdout.count("\nLEAVE "), "a region does not end")


def check_bad_input(exported):
    """A bad argument ends with status 1 and a message that names it; no partial output remains."""
    margay, trace, scratch = exported.build.tool("margay"), exported.trace, exported.scratch
    full = scratch / "replay"
    cases = [
        ([trace, "--format", "pdf"], "pdf"),
        ([scratch / "nowhere", "--format", "csv"], scratch / "nowhere"),
        ([scratch, "--format", "csv"], scratch),
        ([trace, "--format", "csv", "--table", "ranks"], "--table ranks"),
        ([trace, "--format", "chrome", "-o", "/dev/full"], "/dev/full"),
        ([trace, "--format", "csv", "-o", scratch / "no" / "file"], scratch / "no" / "file"),
        ([trace, "--format", "otf2"], "-o"),
        ([trace, "--format", "smpi-ti", "-o", full], full),
        ([trace, "--format", "mermaid", "--all", "-o", scratch / "big.mmd"], "--count"),
    ]
    for words, named in cases:
        run = support.execute([margay, "trace", "export", *words], TIMEOUT)
        expect(run.status == 1 and str(named) in run.stderr and run.stderr.startswith("margay trace: "),
               run.transcript([f"expected status 1 and a message that names {named}"]))
    expect(not (exported.scratch / "big.mmd").exists(), "half a file is left")
    part = exported.scratch / "one_rank"
    part.mkdir()
    shutil.copy(next(iter(sorted(pathlib.Path(trace).glob("rank_*.trace")))), part)
    run = support.execute([margay, "trace", "export", part, "--format", "smpi-ti", "-o", exported.scratch / "gone" / "replay"], TIMEOUT)
    expect(run.status == 1 and run.stderr.startswith("margay trace: "), run.transcript(["a replay without a rank's file"]))
    expect(not list((exported.scratch / "gone").iterdir()), "a part of a folder is left")


def enter_own_network():
    """Re-executes the test in a network namespace if possible, so that it does not capture other jobs' packets on
    loopback."""
    inside = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if os.environ.get("EXPORTS_IN_NAMESPACE") or not shutil.which("unshare") or not shutil.which("ip"):
        return
    if subprocess.run(["unshare", "--net", *inside, "true"], capture_output=True, check=False).returncode == 0:
        os.environ["EXPORTS_IN_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--net", *inside, sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="build folder, as build/release")
    build = support.Build(parser.parse_args().build)
    if not os.environ.get("EXPORTS_IN_NAMESPACE"):
        install_mermaid(build)  # over the machine's network
    enter_own_network()
    program = support.compile_program(build, build.tool("mpicc"), FOLDER / "exports" / "exported.c", ".margay")
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        trace = pathlib.Path(scratch) / "trace"
        live = pathlib.Path(scratch) / "live.pcapng"
        capture = Capture(live)
        run = support.execute([*build.margay_run(RANKS, wire="epoll", timeout=TIMEOUT), "--trace", trace, program], TIMEOUT + 15)
        captured = capture.finish()
        if problems := run.problems(0):
            sys.exit(run.transcript(problems))
        exported = Exported(build, trace, scratch)
        checks = [check_csv, check_json, check_chrome, check_perfetto, check_charts, check_packets, check_replay, check_otf2, check_bad_input]
        if captured:
            checks += [check_live, check_live_late]
        for check in checks:
            name = check.__name__
            try:
                check(exported, live) if "live" in name else check(exported)
                print(f"{name}: holds")
            except (Problem, LookupError, ValueError) as problem:  # the last two: an invalid file
                failed += 1
                print(f"{name}: {problem!r}" if not isinstance(problem, Problem) else f"{name}: {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
