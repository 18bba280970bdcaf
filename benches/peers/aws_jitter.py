#!/usr/bin/env python3
"""The AWS article's model of retries on one versioned row, in plain Python.

N clients start at the same instant. Each reads the row and then writes it; a write fails where another write came in
between, and then the client waits as its backoff says and reads again. Nothing else is limited. Times are in
milliseconds. What the article calls a call is one write, which is one attempt in retrystorm's words.

The script is a peer to compare retrystorm with, in results and in CPU time, and needs nothing but Python 3.9 or later.
"""

import argparse
import csv
import heapq
import math
import random
import statistics
import sys
import time


class Agenda:
    """What happens next. Events of one instant happen in the order they were scheduled."""

    def __init__(self):
        self.now = 0.0
        self.scheduled = 0
        self._pending = []

    def after(self, delay, action, argument):
        heapq.heappush(self._pending, (self.now + delay, self.scheduled, action, argument))
        self.scheduled += 1

    def run(self):
        while self._pending:
            self.now, _, action, argument = heapq.heappop(self._pending)
            action(argument)


class Network:
    """One-way delays: normal, with a negative draw reflected."""

    def __init__(self, rng, mean, sd):
        self._gauss = rng.gauss
        self._mean = mean
        self._sd = sd

    def delay(self):
        return abs(self._gauss(self._mean, self._sd))


class Backoff:
    """How long one client waits before its n-th retry, n counted from 1."""

    def __init__(self, rng, base, cap):
        self.uniform = rng.uniform
        self.base = base
        self.cap = cap

    def exponential(self, retry):
        return min(self.cap, self.base * 2**retry)


class NoBackoff(Backoff):
    def wait(self, retry):
        return 0


class Exponential(Backoff):
    def wait(self, retry):
        return self.exponential(retry)


class EqualJitter(Backoff):
    def wait(self, retry):
        half = self.exponential(retry) / 2
        return half + self.uniform(0, half)


class FullJitter(Backoff):
    def wait(self, retry):
        return self.uniform(0, self.exponential(retry))


class DecorrelatedJitter(Backoff):
    def __init__(self, rng, base, cap):
        super().__init__(rng, base, cap)
        self._last = base

    def wait(self, retry):
        self._last = min(self.cap, self.uniform(self.base, 3 * self._last))
        return self._last


BACKOFFS = {
    "none": NoBackoff,
    "exponential": Exponential,
    "equal_jitter": EqualJitter,
    "full_jitter": FullJitter,
    "decorrelated_jitter": DecorrelatedJitter,
}

# The names in the reference file.
REFERENCE_NAMES = {
    "None": "none",
    "Exponential": "exponential",
    "EqualJitter": "equal_jitter",
    "FullJitter": "full_jitter",
    "Decorr": "decorrelated_jitter",
}


class Row:
    """The server: one row with a version, and no limit on how many use it at once."""

    def __init__(self, agenda, network):
        self._agenda = agenda
        self._network = network
        self._version = 0
        self.writes = 0

    def read(self, client):
        client.version = self._version
        self._agenda.after(self._network.delay(), client.on_read, None)

    def write(self, client):
        self.writes += 1
        done = client.version == self._version
        if done:
            self._version += 1
        self._agenda.after(self._network.delay(), client.on_written, done)


class Client:
    """Writes the row once, however often that has to be tried."""

    def __init__(self, agenda, network, row, backoff):
        self._agenda = agenda
        self._network = network
        self._row = row
        self._backoff = backoff
        self._retries = 0
        self.version = None

    def start(self):
        self._send_read(0)

    def on_read(self, _):
        self._agenda.after(self._network.delay(), self._row.write, self)

    def on_written(self, done):
        if not done:
            self._retries += 1
            self._send_read(self._backoff.wait(self._retries))

    def _send_read(self, wait):
        self._agenda.after(wait + self._network.delay(), self._row.read, self)


def simulate(clients, algorithm, seed, base=5, cap=2000, delay_mean=10, delay_sd=2):
    """One run: the number of writes, the time at which the last client is done, and the number of events."""
    rng = random.Random(seed)
    agenda = Agenda()
    network = Network(rng, delay_mean, delay_sd)
    row = Row(agenda, network)
    for _ in range(clients):
        Client(agenda, network, row, BACKOFFS[algorithm](rng, base, cap)).start()
    agenda.run()
    return row.writes, agenda.now, agenda.scheduled


def cell(clients, algorithm, arguments):
    """All runs of one number of clients and one algorithm: a row of the output, and the number of events."""
    runs = [
        simulate(clients, algorithm, f"{arguments.seed}/{clients}/{algorithm}/{run}", delay_sd=arguments.delay_sd)
        for run in range(arguments.runs)
    ]
    writes, times, events = zip(*runs)
    row = {"clients": clients, "algorithm": algorithm, "runs": arguments.runs}
    for name, values in (("calls", writes), ("time_ms", times)):
        row[f"mean_{name}"] = statistics.fmean(values)
        row[f"sd_{name}"] = statistics.stdev(values) if len(values) > 1 else 0.0
    return row, sum(events)


def z_scores(rows, path):
    """Compare with a reference file: (clients, algorithm, z of the calls, z of the time), a tuple a common cell."""
    ours = {(row["clients"], row["algorithm"]): row for row in rows}
    scores = []
    with open(path, newline="") as file:
        for reference in csv.DictReader(file):
            key = int(reference["clients"]), REFERENCE_NAMES[reference["algorithm"]]
            if key in ours:
                scores.append((*key, z(ours[key], reference, "calls"), z(ours[key], reference, "time_ms")))
    return scores


def z(row, reference, name):
    sd, ci95 = float(reference[f"sd_{name}"]), float(reference[f"ci95_{name}"])
    error = math.sqrt(sd**2 / row["runs"] + (ci95 / 1.96) ** 2)
    return (row[f"mean_{name}"] - float(reference[f"mean_{name}"])) / error


def parse_arguments():
    parser = argparse.ArgumentParser(description="The AWS article's model of retries on one versioned row.")
    parser.add_argument("--clients", type=int, nargs="+", default=range(10, 191, 10), help="default: 10 20 .. 190")
    parser.add_argument("--runs", type=int, default=100, help="runs a cell (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--delay-sd", type=float, default=2, help="of a one-way delay, in ms (default: %(default)s)")
    parser.add_argument("--check", metavar="FILE", help="compare with a reference CSV; exit 1 where |z| >= 4")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    started = time.process_time()
    rows, events, writer = [], 0, None
    for clients in arguments.clients:
        for algorithm in BACKOFFS:
            row, row_events = cell(clients, algorithm, arguments)
            rows.append(row)
            events += row_events
            if writer is None:
                writer = csv.DictWriter(sys.stdout, row.keys(), lineterminator="\n")
                writer.writeheader()
            writer.writerow({name: f"{value:.6f}" if isinstance(value, float) else value for name, value in row.items()})
            sys.stdout.flush()
    seconds = time.process_time() - started
    print(f"{events} events, {seconds:.2f} CPU seconds", file=sys.stderr)
    return check(rows, arguments.check) if arguments.check else 0


def check(rows, path):
    scores = z_scores(rows, path)
    for clients, algorithm, calls, duration in scores:
        print(f"{clients:4} {algorithm:20} z of calls {calls:6.2f}   z of time {duration:6.2f}", file=sys.stderr)
    if not scores:
        print(f"no cell of this sweep is in {path}", file=sys.stderr)
        return 1
    every = [score for row in scores for score in row[2:]]
    largest = max(map(abs, every))
    print(f"largest |z| of {len(every)}: {largest:.2f}, sd {statistics.pstdev(every):.2f}", file=sys.stderr)
    return 0 if largest < 4 else 1


if __name__ == "__main__":
    sys.exit(main())
