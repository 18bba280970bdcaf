#!/usr/bin/env python3
"""The reference storm (`benches/storm.toml`) in SimPy: a process for each client, each call and each piece of work."""

import random

import simpy

import storm_model as model


class Shop:
    """Workers with a queue of limited length. While it is down nothing is answered, and what it had is lost."""

    def __init__(self, env, workers, rng):
        self.env = env
        self.rng = rng
        self.workers = simpy.Resource(env, workers)
        self.places = model.PLACES * workers
        self.down = False
        self.served = 0
        self._work = {}

    def is_full(self):
        return self.workers.count >= self.workers.capacity and len(self.workers.queue) >= self.places

    def take(self):
        """An attempt arrives; what it gives happens when the work is done."""
        done = self.env.event()
        if not self.down:
            self._work[self.env.process(self._serve(done))] = None
        return done

    def _serve(self, done):
        try:
            with self.workers.request() as turn:
                yield turn
                yield self.env.timeout(self.rng.expovariate(1 / model.WORK))
                self.served += 1
                done.succeed()
        except simpy.Interrupt:
            return
        del self._work[self.env.active_process]

    def fail(self):
        yield self.env.timeout(model.DOWN_FROM)
        self.down = True
        for process in self._work:
            process.interrupt()
        self._work.clear()
        yield self.env.timeout(model.DOWN_UNTIL - model.DOWN_FROM)
        self.down = False


def call(env, shop, rng, total):
    started = env.now
    for attempt in range(1, model.ATTEMPTS + 1):
        total["attempts"] += 1
        total["retries"] += attempt > 1
        if shop.down or not shop.is_full():
            done = shop.take()
            yield done | env.timeout(model.TIMEOUT)
            if done.triggered:
                total["succeeded"] += 1
                total["latency_sum"] += env.now - started
                return
            total["timeouts"] += 1
        if attempt < model.ATTEMPTS:
            yield env.timeout(rng.uniform(0, model.longest_wait(attempt)))
    total["failed"] += 1


def client(env, shop, rng, total):
    while True:
        yield env.timeout(rng.expovariate(model.RATE))
        if env.now >= model.CALLS_STOP:
            return
        total["calls"] += 1
        env.process(call(env, shop, rng, total))


def simulate(clients, seed):
    rng = random.Random(seed)
    env = simpy.Environment()
    shop = Shop(env, model.workers(clients), rng)
    total = dict.fromkeys(model.FIELDS, 0)
    env.process(shop.fail())
    for _ in range(clients):
        env.process(client(env, shop, rng, total))
    env.run(until=model.END)
    total["served"] = shop.served
    return total


if __name__ == "__main__":
    model.main(simulate, "The reference storm in SimPy.")
