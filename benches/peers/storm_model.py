"""The reference storm (`benches/storm.toml`) in numbers, for whatever runs it: retrystorm or a peer. Times are in seconds."""

import argparse
import csv
import math
import sys
import time

RATE = 0.1  # calls a second of each client
CALLS_STOP = 40.0
END = 60.0
WORK = 0.010  # mean, exponential
LOAD = 0.7
PLACES = 100  # in the queue, for each worker
DOWN_FROM, DOWN_UNTIL = 15.0, 25.0  # what arrives, is queued or in progress vanishes
ATTEMPTS = 8
TIMEOUT = 1.0
BASE, CAP = 0.1, 20.0

FIELDS = ["calls", "succeeded", "failed", "attempts", "retries", "served", "timeouts", "latency_sum"]


def workers(clients):
    return math.ceil(clients * RATE * WORK / LOAD)


def longest_wait(retry):
    """Full jitter is uniform from 0 to this; retries are counted from 1."""
    return min(CAP, BASE * 2**retry)


def settings(clients):
    """What `--set` needs for so many clients."""
    values = {
        "clients.crowd.count": clients,
        "clients.crowd.load.open.rate": f'[["0s", "{clients * RATE}/s"], ["{CALLS_STOP:.0f}s", "0/s"]]',
        "service.shop.workers": workers(clients),
        "service.shop.queue.limit": PLACES * workers(clients),
    }
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def events(counts):
    """A call arrives, a retry is sent, work ends, a timeout fires."""
    return counts["calls"] + counts["retries"] + counts["served"] + counts["timeouts"]


def main(simulate, description):
    """The command line of a peer: `simulate(clients, seed)` gives a table of FIELDS; a CSV row of each run goes to stdout."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    started = time.process_time()
    runs = [simulate(arguments.clients, arguments.seed + run) for run in range(arguments.runs)]
    seconds = time.process_time() - started
    table = csv.DictWriter(sys.stdout, FIELDS)
    table.writeheader()
    table.writerows(runs)
    total = sum(map(events, runs))
    print(f"{total} events, {seconds:.2f} CPU seconds, {total / seconds / 1e6:.3f} million a second", file=sys.stderr)
