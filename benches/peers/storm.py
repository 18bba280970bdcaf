#!/usr/bin/env python3
"""The reference storm (`benches/storm.toml`) in plain Python: one heap of (time, number, kind, what it is about).

Nothing is taken out of the heap: a timeout whose attempt has ended is ignored when its time comes. Needs nothing but
Python 3.9 or later.
"""

import heapq
import random
from collections import deque
from itertools import count

import storm_model as model

CALL, WORK_ENDS, TIMEOUT, RETRY, DOWN, UP = range(6)


class Call:
    """A call under way. `waits_for` is the number of the attempt it waits for, 0 for none."""

    __slots__ = ("started", "attempts", "waits_for")

    def __init__(self, started):
        self.started = started
        self.attempts = 0
        self.waits_for = 0


def simulate(clients, seed):
    rng = random.Random(seed)
    exponential, uniform = rng.expovariate, rng.uniform
    number = count()
    workers = model.workers(clients)
    places = model.PLACES * workers
    pending = [(exponential(model.RATE), next(number), CALL, client, 0) for client in range(clients)]
    pending += [(model.DOWN_FROM, next(number), DOWN, None, 0), (model.DOWN_UNTIL, next(number), UP, None, 0)]
    heapq.heapify(pending)
    queue, working, down = deque(), set(), False
    total = dict.fromkeys(model.FIELDS, 0)

    def after(delay, kind, about, attempt=0):
        heapq.heappush(pending, (now + delay, next(number), kind, about, attempt))

    def begin_work(call, attempt):
        ticket = (call, attempt)
        working.add(ticket)
        after(exponential(1 / model.WORK), WORK_ENDS, ticket)

    def send(call):
        call.attempts += 1
        call.waits_for = call.attempts
        total["attempts"] += 1
        if not down and len(working) >= workers and len(queue) >= places:
            return give_up(call)
        after(model.TIMEOUT, TIMEOUT, call, call.attempts)
        if down:
            return
        if len(working) < workers:
            begin_work(call, call.attempts)
        else:
            queue.append((call, call.attempts))

    def give_up(call):
        """The attempt has failed: another, or none."""
        call.waits_for = 0
        if call.attempts == model.ATTEMPTS:
            total["failed"] += 1
        else:
            after(uniform(0, model.longest_wait(call.attempts)), RETRY, call)

    while pending:
        now, _, kind, about, attempt = heapq.heappop(pending)
        if now >= model.END:
            break
        if kind == CALL:
            if now < model.CALLS_STOP:
                total["calls"] += 1
                after(exponential(model.RATE), CALL, about)
                send(Call(now))
        elif kind == TIMEOUT:
            if about.waits_for == attempt:
                total["timeouts"] += 1
                give_up(about)
        elif kind == RETRY:
            total["retries"] += 1
            send(about)
        elif kind == WORK_ENDS:
            if about not in working:
                continue
            working.remove(about)
            total["served"] += 1
            call, attempt = about
            if call.waits_for == attempt:
                call.waits_for = 0
                total["succeeded"] += 1
                total["latency_sum"] += now - call.started
            if queue:
                begin_work(*queue.popleft())
        else:
            down = kind == DOWN
            queue.clear()
            working.clear()
    return total


if __name__ == "__main__":
    model.main(simulate, "The reference storm in plain Python.")
