#!/usr/bin/env python3
"""Run retrystorm and a plain Python program on the same model, and compare their results and then their CPU seconds.

A race whose results disagree does not count: exit code 1. Needs cargo, and nothing but Python 3.9 or later.
"""

import argparse
import csv
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PEERS = Path(__file__).resolve().parent
PROJECT = PEERS.parent.parent
BINARY = PROJECT / "target" / "release" / "retrystorm"


def timed(command, output):
    """Run a command with its standard output in a file; the CPU seconds of the process and all its threads."""
    with open(output, "w") as file:
        process = subprocess.Popen([str(word) for word in command], stdout=file, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def retrystorm(scenario, arguments, folder, more=()):
    """CPU seconds of retrystorm on a scenario, its files included, and the rows of its summary."""
    command = [BINARY, "run", scenario, "--threads", "1", "--seed", arguments.seed, "--quiet", "--no-charts", "--out", folder, *more]
    seconds = timed(command, folder / "retrystorm.txt")
    summaries = sorted(folder.rglob("summary.csv"))
    if not summaries:
        sys.exit("retrystorm wrote no summary.csv")
    return seconds, read(summaries[0])


def python(script, arguments, folder, more=()):
    output = folder / "python.csv"
    seconds = timed([sys.executable, PEERS / script, "--seed", arguments.seed, *more], output)
    return seconds, read(output)


def aws_jitter(arguments, folder):
    rust_seconds, summary = retrystorm("aws_jitter", arguments, folder, ("--replications", arguments.runs))
    python_seconds, rows = python("aws_jitter.py", arguments, folder, ("--runs", arguments.runs))
    theirs = {(int(row["clients"]), row["algorithm"]): row for row in rows}
    scores = []
    for row in summary:
        peer = theirs.get((int(float(row["clients.writers.count"])), row["clients.writers.policy"]))
        if peer:
            scores.append(z(row, "attempts", peer, "calls", 1))
            scores.append(z(row, "completion_time", peer, "time_ms", 1000))
    if len(scores) != 2 * len(theirs):
        sys.exit(f"retrystorm's summary has {len(scores) // 2} of the {len(theirs)} cells")
    largest = max(map(abs, scores))
    verdict = f"{len(theirs)} cells, attempts and completion time: largest |z| {largest:.2f}, sd of z {statistics.pstdev(scores):.2f}"
    return python_seconds, rust_seconds, largest < 4, verdict


def z(ours, metric, theirs, name, scale):
    """The difference of two means in units of its own standard error."""
    square = scale**2 * float(ours[f"{metric}_sd"]) ** 2 / float(ours["replications"])
    square += float(theirs[f"sd_{name}"]) ** 2 / float(theirs["runs"])
    difference = scale * float(ours[metric]) - float(theirs[f"mean_{name}"])
    return difference / math.sqrt(square) if square else math.copysign(math.inf, difference) if difference else 0.0


def mm1(arguments, folder):
    rust_seconds, summary = retrystorm("mm1", arguments, folder)
    python_seconds, rows = python("mm1.py", arguments, folder)
    latency, wait = float(summary[0]["latency_mean"]), float(rows[0]["mean_wait_seconds"])
    # 1.6 million calls of this queue leave a standard error of about 1 %.
    agree = all(abs(value / 0.5 - 1) < 0.04 for value in (latency, wait + 0.1))
    verdict = f"mean latency {1000 * latency:.0f} ms and {1000 * wait + 100:.0f} ms, theory 500 ms"
    return python_seconds, rust_seconds, agree, verdict


RACES = {"aws_jitter": aws_jitter, "mm1": mm1}


def main():
    parser = argparse.ArgumentParser(description="Compare retrystorm with plain Python: results first, then CPU time.")
    parser.add_argument("races", nargs="*", default=list(RACES), help="default: aws_jitter mm1")
    parser.add_argument("--runs", type=int, default=100, help="replications a cell of aws_jitter (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-build", action="store_true", help="take target/release/retrystorm as it is")
    arguments = parser.parse_args()
    unknown = [race for race in arguments.races if race not in RACES]
    if unknown:
        parser.error(f"there is no race {unknown[0]}; there are {', '.join(RACES)}")

    if not arguments.no_build:
        subprocess.run(["cargo", "build", "--release"], cwd=PROJECT, check=True)
    print(f"{'':12} {'Python':>10} {'retrystorm':>11} {'ratio':>7}   results", flush=True)
    print(f"{'':12} {'CPU s':>10} {'CPU s':>11}", flush=True)
    all_agree = True
    for race in arguments.races:
        with tempfile.TemporaryDirectory() as folder:
            python_seconds, rust_seconds, agree, verdict = RACES[race](arguments, Path(folder))
        ratio = f"{python_seconds / rust_seconds:6.1f}x" if agree else "   void"
        state = "agree" if agree else "DISAGREE"
        print(f"{race:12} {python_seconds:10.2f} {rust_seconds:11.2f} {ratio:>7}   {state}: {verdict}", flush=True)
        all_agree = all_agree and agree
    return 0 if all_agree else 1


if __name__ == "__main__":
    sys.exit(main())
