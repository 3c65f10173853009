"""The common part of differential.py and histories.py: a program that draws from a seed, run in worlds that are drawn
too, on the virtual wire, on real ones, and on Debian's MPICH.

A world has `seed`, `ranks`, `nodes`, `tcp`, `arguments` of the program, and `algorithms`, which are asked for ("": none).
"""
import os
import time
from concurrent.futures import ThreadPoolExecutor

import support
import virtual
from algorithms import as_option

WIRES = ("virtual", "real", "mpich")
# More ranks than processors spin for seconds.
MPICH_RANKS_MAX = 4
LIMIT_SECONDS = 240


def command(build, wire, program, world):
    if wire == "virtual":
        words = ["--set", f"collective={world.algorithms}"] if world.algorithms else []
        return [*virtual.simulator(build, world.ranks, world.nodes, world.seed), *words, program, *world.arguments]
    if wire == "mpich":
        return ["mpiexec.mpich", "-n", world.ranks, program, *world.arguments]
    words = as_option(world.algorithms) if world.algorithms else []
    if world.nodes > 1:
        words += ["--nodes", str(world.nodes), "--wire-tcp", world.tcp]
    return [*build.margay_run(world.ranks, timeout=LIMIT_SECONDS - 10, extra=words), program, *world.arguments]


def run(build, source, wire, worlds, quiet=False):
    """Returns the number of worlds that failed. `quiet`: only these are printed one by one."""
    program = (support.compile_program(build, "mpicc.mpich", source, ".mpich") if wire == "mpich" else
               support.compile_program(build, build.tool("mpicc"), source, ".margay"))
    good = f"{support.program_name(source)}: no errors\n"

    def one(world):
        done = support.execute(command(build, wire, program, world), LIMIT_SECONDS)
        problems = done.problems(0)
        if not problems and done.stdout.removeprefix("[0] ") != good:
            problems.append("it does not say that there were no errors")
        return world, done, problems

    failures = 0
    started = time.monotonic()
    # A virtual world has one thread at work.
    with ThreadPoolExecutor(os.cpu_count() if wire == "virtual" else 1) as pool:
        for number, (world, done, problems) in enumerate(pool.map(one, worlds), 1):
            if quiet and number % 500 == 0:
                print(f"{wire}: {number} worlds, {failures} failed, {time.monotonic() - started:.1f} s", flush=True)
            if problems or not quiet:
                print(f"{wire} seed {world.seed}: {world.ranks} ranks, {world.nodes} nodes{world.algorithms and ', '}{world.algorithms}: "
                      f"{'FAILED' if problems else 'ok'} {done.seconds:.2f} s", flush=True)
            if problems:
                print(done.transcript(problems), flush=True)
                failures += 1
    print(f"{wire}: {len(worlds)} worlds, {failures} failed, {time.monotonic() - started:.1f} s", flush=True)
    return failures
