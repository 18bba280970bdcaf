#!/usr/bin/env python3
"""The textbook queue in SimPy: a process for each call, and one worker that they request. See `mm1.py`."""

import argparse
import random
import sys
import time

import simpy


def simulate(calls, seed, rate=8.0, mean_work=0.1):
    """The mean wait of `calls` calls before their work starts, in seconds."""
    exponential = random.Random(seed).expovariate
    env = simpy.Environment()
    worker = simpy.Resource(env, capacity=1)
    waited = 0.0

    def call():
        nonlocal waited
        arrived = env.now
        with worker.request() as turn:
            yield turn
            waited += env.now - arrived
            yield env.timeout(exponential(1 / mean_work))

    def arrivals():
        for _ in range(calls):
            yield env.timeout(exponential(rate))
            env.process(call())

    env.process(arrivals())
    env.run()
    return waited / calls


def main():
    parser = argparse.ArgumentParser(description="The textbook queue with one worker, 80 % busy, in SimPy.")
    parser.add_argument("--calls", type=int, default=1_600_000, help="default: as many as scenarios/mm1.toml makes")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    started = time.process_time()
    wait = simulate(arguments.calls, arguments.seed)
    seconds = time.process_time() - started
    print("calls,events,mean_wait_seconds,theory_seconds")
    print(f"{arguments.calls},{2 * arguments.calls},{wait:.4f},0.4000")
    print(f"{2 * arguments.calls} events, {seconds:.2f} CPU seconds", file=sys.stderr)


if __name__ == "__main__":
    main()
