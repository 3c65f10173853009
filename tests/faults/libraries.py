#!/usr/bin/env python3
"""Nodes of RMI, contexts of Nexus and processes of Zipcode that die: the calls of the others that need them fail, at each place and over each wire, where the launcher
ends no process; and under `margay run` the job ends with the cause, with nodes that are processes and with threads."""
import itertools
from concurrent.futures import ThreadPoolExecutor

from support import Job, case, main, run_one_death

PLACES = ("stream", "nested", "living", "object", "collect", "sync", "before_fence", "in_fence", "broadcast", "wait")
WORLDS = ("3:1", "4:2")  # nodes of RMI, machines
FENCES = ("exchange", "flat", "binary", "hypercube")
# They mostly wait: half a second may pass before a node looks for the others.
AT_ONCE = 6


def program(build):
    return build / "tests" / "libraries" / "rmi_deaths"


@case
def a_dead_node_fails_the_calls_of_the_others(build, scratch):
    runs = [(world, place, FENCES[number % len(FENCES)])
            for number, (world, place) in enumerate(itertools.product(WORLDS, PLACES))]

    def wrong(run):
        world, place, fence = run
        words, _ = run_one_death(program(build), world, [place], {"MARGAY_IFACE": "lo", "MARGAY_RMI_FENCE": fence},
                                 r"node \d+: lost: ")
        return words
    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = "".join(pool.map(wrong, runs))
    assert not failures, failures


@case
def the_death_of_a_node_ends_the_job(build, scratch):
    for place, options in itertools.product(PLACES, (["-n", 3], ["-n", 2, "--threads", 2])):
        job = Job(build, options, [program(build), place])
        job.expect(137, 5, "SIGKILL", finding="rank-died")


# Of Nexus (tests/libraries/nexus/deaths.cpp).
CONTEXT_PLACES = ("stream", "long", "handler", "wait", "exchange", "finish")


def contexts(build):
    return build / "tests" / "libraries" / "nexus_deaths"


@case
def a_dead_context_fails_the_calls_of_the_others(build, scratch):
    def wrong(run):
        world, place = run
        return run_one_death(contexts(build), world, [place], {"MARGAY_IFACE": "lo"}, r"node \d+: lost: ")[0]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = "".join(pool.map(wrong, itertools.product(WORLDS, CONTEXT_PLACES)))
    assert not failures, failures


@case
def the_death_of_a_context_ends_the_job(build, scratch):
    for place in CONTEXT_PLACES:
        job = Job(build, ["-n", 3], [contexts(build), place])
        job.expect(137, 5, "SIGKILL", finding="rank-died")


# Of Zipcode (tests/libraries/zipcode/deaths.c).
PROCESS_PLACES = ("receive", "long", "open", "server", "fanout", "combine", "shared", "close", "exit")


def processes(build):
    return build / "tests" / "libraries" / "zipcode_deaths"


@case
def a_dead_process_fails_the_calls_of_the_others(build, scratch):
    def wrong(run):
        world, place = run
        return run_one_death(processes(build), world, [place], {"MARGAY_IFACE": "lo"}, r"node \d+: lost: ")[0]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = "".join(pool.map(wrong, itertools.product(WORLDS, PROCESS_PLACES)))
    assert not failures, failures


@case
def the_death_of_a_process_ends_the_job(build, scratch):
    for place in PROCESS_PLACES:
        job = Job(build, ["-n", 3], [processes(build), place])
        job.expect(137, 5, "SIGKILL", finding="rank-died")


main()
