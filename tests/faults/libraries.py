#!/usr/bin/env python3
"""Nodes of RMI, contexts of Nexus and processes of Zipcode that die: the calls of the others that need them fail, at each place and over each wire, where the launcher
ends no process; and under `margay run` the job ends with the cause, with nodes that are processes and with threads."""
import itertools
from concurrent.futures import ThreadPoolExecutor

from support import Job, case, main, run_one_death

WORLDS = ("3:1", "4:2")  # processes, machines
FENCES = ("exchange", "flat", "binary", "hypercube")
# Where a process dies, by the program.
PLACES = {
    "rmi_deaths": ("stream", "nested", "living", "object", "collect", "sync", "before_fence", "in_fence", "broadcast", "wait"),
    "nexus_deaths": ("stream", "long", "handler", "wait", "exchange", "finish"),
    "zipcode_deaths": ("receive", "long", "open", "server", "fanout", "combine", "shared", "close", "exit"),
}
# They mostly wait: half a second may pass before a process looks for the others.
AT_ONCE = 6


def path_of(build, program):
    return build / "tests" / "libraries" / program


def one_death_fails_the_calls_of_the_others(build, program):
    def wrong(run):
        number, (world, place) = run
        fence = {"MARGAY_RMI_FENCE": FENCES[number % len(FENCES)]} if program == "rmi_deaths" else {}
        return run_one_death(path_of(build, program), world, [place], {"MARGAY_IFACE": "lo", **fence}, r"node \d+: lost: ")[0]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = "".join(pool.map(wrong, enumerate(itertools.product(WORLDS, PLACES[program]))))
    assert not failures, failures


def one_death_ends_the_job(build, program, *worlds):
    for place, options in itertools.product(PLACES[program], worlds):
        job = Job(build, options, [path_of(build, program), place])
        job.expect(137, 5, "SIGKILL", finding="rank-died")


@case
def a_dead_node_fails_the_calls_of_the_others(build, scratch):
    one_death_fails_the_calls_of_the_others(build, "rmi_deaths")


@case
def the_death_of_a_node_ends_the_job(build, scratch):
    one_death_ends_the_job(build, "rmi_deaths", ["-n", 3], ["-n", 2, "--threads", 2])


@case
def a_dead_context_fails_the_calls_of_the_others(build, scratch):
    one_death_fails_the_calls_of_the_others(build, "nexus_deaths")


@case
def the_death_of_a_context_ends_the_job(build, scratch):
    one_death_ends_the_job(build, "nexus_deaths", ["-n", 3])


@case
def a_dead_process_fails_the_calls_of_the_others(build, scratch):
    one_death_fails_the_calls_of_the_others(build, "zipcode_deaths")


@case
def the_death_of_a_process_ends_the_job(build, scratch):
    one_death_ends_the_job(build, "zipcode_deaths", ["-n", 3])


main()
