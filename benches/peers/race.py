#!/usr/bin/env python3
"""Run retrystorm and its peers on the same models, compare their results, and then their CPU seconds.

A race whose results disagree does not count: exit code 1. Needs cargo and Python 3.9 or later; SimPy is installed into a virtual
environment beside this file (`--without-simpy` does without).
"""

import argparse
import csv
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import storm_model as storm  # noqa: E402

PEERS = Path(__file__).resolve().parent
PROJECT = PEERS.parent.parent
BINARY = PROJECT / "target" / "release" / "retrystorm"
REQUIREMENTS = PEERS / "requirements.txt"


def timed(command, output):
    """Run a command with its standard output in a file; the CPU seconds of the process and all its threads."""
    with open(output, "w") as file:
        process = subprocess.Popen([str(word) for word in command], stdout=file, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def retrystorm(scenario, seed, folder, more=()):
    """CPU seconds of retrystorm on a scenario, its files included, and the rows of its summary."""
    command = [BINARY, "run", scenario, "--threads", "1", "--seed", seed, "--quiet", "--no-charts", "--out", folder, *more]
    seconds = timed(command, folder / "retrystorm.txt")
    return seconds, read(folder / "summary.csv")


def python(interpreter, script, seed, folder, more=()):
    output = folder / "peer.csv"
    seconds = timed([interpreter, PEERS / script, "--seed", seed, *more], output)
    return seconds, read(output)


class AwsJitter:
    """The AWS article's sweep: each cell's attempts and completion time within 4 standard errors of their difference."""

    name = "aws_jitter"
    scripts = {"Python": "aws_jitter.py"}

    def __init__(self, arguments):
        self.ours = ("aws_jitter", ("--replications", arguments.runs))
        self.theirs = ("--runs", arguments.runs)

    def compare(self, summary, rows):
        theirs = {(int(row["clients"]), row["algorithm"]): row for row in rows}
        scores = []
        for row in summary:
            peer = theirs.get((int(float(row["clients.writers.count"])), row["clients.writers.policy"]))
            if peer:
                scores.append(self.z(row, "attempts", peer, "calls", 1))
                scores.append(self.z(row, "completion_time", peer, "time_ms", 1000))
        if len(scores) != 2 * len(theirs):
            sys.exit(f"retrystorm's summary has {len(scores) // 2} of the {len(theirs)} cells")
        largest = max(map(abs, scores))
        return largest < 4, f"{len(theirs)} cells, largest |z| {largest:.2f}, sd of z {statistics.pstdev(scores):.2f}"

    @staticmethod
    def z(ours, metric, theirs, name, scale):
        variances = [(scale * float(ours[f"{metric}_sd"])) ** 2 / float(ours["replications"]), float(theirs[f"sd_{name}"]) ** 2 / float(theirs["runs"])]
        return in_standard_errors(scale * float(ours[metric]) - float(theirs[f"mean_{name}"]), variances)


class TextbookQueue:
    """One worker that is 80 % busy: the mean waits within 4 standard errors of each other and of theory; all calls are made, and succeed."""

    name = "mm1"
    scripts = {"Python": "mm1.py", "SimPy": "mm1_simpy.py"}
    # Calls a second, and seconds of work: theory knows the mean wait, and how much the mean of n waits varies. Waits that follow each other
    # are alike: n of them tell no more than n / 82 that are not.
    rate, work = 8.0, 0.1

    def __init__(self, _):
        self.ours = ("mm1", ())
        self.theirs = ()

    def compare(self, summary, rows):
        load = self.rate * self.work
        theory = load / (1 - load) * self.work
        variance = self.work**2 * load * (2 + 5 * load - 4 * load**2 + load**3) / (1 - load) ** 4
        own, peer = float(summary[0]["queue.wait_mean"]), float(rows[0]["mean_wait_seconds"])
        calls, peer_calls = float(summary[0]["calls"]) * float(summary[0]["replications"]), float(rows[0]["calls"])
        own_error, peer_error = variance / calls, variance / peer_calls
        scores = {
            "wait": in_standard_errors(own - peer, [own_error, peer_error]),
            "own wait": in_standard_errors(own - theory, [own_error]),
            "peer's wait": in_standard_errors(peer - theory, [peer_error]),
        }
        # The peers make a given number of calls, each of which is served. Ours come for a given time, less the warm-up.
        success = float(summary[0]["success_rate"])
        agree = all(abs(score) < 4 for score in scores.values()) and abs(calls / peer_calls - 1) < 0.04 and success > 0.999
        text = ", ".join(f"{name} {score:+.1f}" for name, score in scores.items())
        return agree, f"z of {text}; {1000 * own:.0f} and {1000 * peer:.0f} ms, theory {1000 * theory:.0f}; {calls:.0f} and {peer_calls:.0f} calls"


class Storm:
    """The reference storm: calls, success rate and mean latency of 20 runs within 4 standard errors of their difference."""

    scripts = {"Python": "storm.py", "SimPy": "storm_simpy.py"}
    runs = 20

    def __init__(self, clients):
        self.name = f"storm {clients}"
        self.ours = (PROJECT / "benches" / "storm.toml", ("--replications", self.runs, *storm.settings(clients)))
        self.theirs = ("--runs", self.runs, "--clients", clients)

    def compare(self, summary, rows):
        numbers = {
            "calls": lambda row: float(row["calls"]),
            "success_rate": lambda row: float(row["succeeded"]) / float(row["calls"]),
            "latency_mean": lambda row: float(row["latency_sum"]) / float(row["succeeded"]),
        }
        scores = {metric: self.z(summary[0], metric, list(map(number, rows))) for metric, number in numbers.items()}
        text = ", ".join(f"{metric} {score:+.1f}" for metric, score in scores.items())
        return all(abs(score) < 4 for score in scores.values()), f"z of {text}"

    @staticmethod
    def z(ours, metric, theirs):
        variances = [float(ours[f"{metric}_sd"]) ** 2 / float(ours["replications"]), statistics.variance(theirs) / len(theirs)]
        return in_standard_errors(float(ours[metric]) - statistics.mean(theirs), variances)


def in_standard_errors(difference, variances):
    error = math.sqrt(sum(variances))
    return difference / error if error else math.copysign(math.inf, difference) if difference else 0.0


def interpreter_with_simpy():
    """Of a virtual environment that has what requirements.txt says; made again where that has changed."""
    folder = PEERS / ".venv"
    interpreter, installed = folder / "bin" / "python", folder / "installed.txt"
    if not installed.exists() or installed.read_text() != REQUIREMENTS.read_text():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", REQUIREMENTS]
        subprocess.run([interpreter, *install], check=True)
        installed.write_text(REQUIREMENTS.read_text())
    return interpreter


def race(contest, interpreters, arguments):
    """A line for each peer; whether all agree."""
    ours, theirs, verdicts = [], {}, {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for turn in range(arguments.repeats):
            seconds, summary = retrystorm(contest.ours[0], arguments.seed, folder, contest.ours[1])
            ours.append(seconds)
            for peer, script in contest.scripts.items():
                if peer not in interpreters:
                    continue
                seconds, rows = python(interpreters[peer], script, arguments.seed, folder, contest.theirs)
                theirs.setdefault(peer, []).append(seconds)
                # A program gives the same numbers each time.
                if turn == 0:
                    verdicts[peer] = contest.compare(summary, rows)
    own = statistics.median(ours)
    for peer, times in theirs.items():
        agree, verdict = verdicts[peer]
        other = statistics.median(times)
        ratio = f"{other / own:6.1f}x" if agree else "   void"
        state = "agree" if agree else "DISAGREE"
        print(f"{contest.name:13} {peer:7} {other:9.2f} {own:11.3f} {ratio:>8}   {state}: {verdict}", flush=True)
    return all(agree for agree, _ in verdicts.values())


def main():
    contests = {
        "aws_jitter": AwsJitter,
        "mm1": TextbookQueue,
        "storm": lambda _: Storm(1000),
        "big_storm": lambda _: Storm(10_000),
    }
    parser = argparse.ArgumentParser(description="Compare retrystorm with its peers: results first, then CPU time.")
    parser.add_argument("races", nargs="*", help=f"default: all of {' '.join(contests)}")
    parser.add_argument("--runs", type=int, default=100, help="replications a cell of aws_jitter (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="how often each program runs; medians are compared (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without-simpy", action="store_true")
    parser.add_argument("--no-build", action="store_true", help="take target/release/retrystorm as it is")
    arguments = parser.parse_args()
    for name in arguments.races:
        if name not in contests:
            parser.error(f"there is no race {name}; there are {', '.join(contests)}")

    interpreters = {"Python": sys.executable}
    if not arguments.without_simpy:
        interpreters["SimPy"] = interpreter_with_simpy()
    if not arguments.no_build:
        subprocess.run(["cargo", "build", "--release"], cwd=PROJECT, check=True)
    print(f"{'':13} {'':7} {'peer':>9} {'retrystorm':>11} {'':>8}", flush=True)
    print(f"{'race':13} {'peer':7} {'CPU s':>9} {'CPU s':>11} {'ratio':>8}   results", flush=True)
    agree = [race(contests[name](arguments), interpreters, arguments) for name in arguments.races or contests]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
