#!/usr/bin/env python3
"""The textbook queue in plain Python: calls arrive at random, one worker, exponential work, 80 % busy.

A peer to compare retrystorm's speed with on its cheapest events (`scenarios/mm1.toml`). Theory knows the answer: a call
waits load / (1 - load) times the mean work, 400 ms here. Needs nothing but Python 3.9 or later.
"""

import argparse
import heapq
import random
import sys
import time
from collections import deque

ARRIVAL, DONE = range(2)


def simulate(calls, seed, rate=8.0, mean_work=0.1):
    """The mean wait of `calls` calls before their work starts, in seconds."""
    exponential = random.Random(seed).expovariate
    pending = [(exponential(rate), 0, ARRIVAL)]
    scheduled = 1
    queue = deque()
    busy = False
    arrived, waited = 0, 0.0

    def after(now, delay, event):
        nonlocal scheduled
        heapq.heappush(pending, (now + delay, scheduled, event))
        scheduled += 1

    while pending:
        now, _, event = heapq.heappop(pending)
        if event == ARRIVAL:
            arrived += 1
            if arrived < calls:
                after(now, exponential(rate), ARRIVAL)
            if busy:
                queue.append(now)
            else:
                busy = True
                after(now, exponential(1 / mean_work), DONE)
        elif queue:
            waited += now - queue.popleft()
            after(now, exponential(1 / mean_work), DONE)
        else:
            busy = False
    return waited / calls


def main():
    parser = argparse.ArgumentParser(description="The textbook queue with one worker, 80 % busy.")
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
