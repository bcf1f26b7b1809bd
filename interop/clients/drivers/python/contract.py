"""The contract of ../../doc.go for clients in Python: run calls a client's functions."""

import os
import sys
import threading


class Unable(Exception):
    """What a client cannot do."""


def key(n):
    return b"%d" % n


def value(n):
    return b"%0100d" % n


def say(*words):
    print(*words, flush=True)


def got(partition, offset, value):
    say(partition, offset, value.decode())


def ended():
    """An event that is set when standard input ends."""
    event = threading.Event()

    def wait():
        while os.read(0, 1 << 10):
            pass
        event.set()

    threading.Thread(target=wait, daemon=True).start()
    return event


def chunks(numbers, size=100):
    for first in range(numbers.start, numbers.stop, size):
        yield range(first, min(first + size, numbers.stop))


def run(client):
    addr, verb, topic, *rest = sys.argv[1:]
    try:
        if verb == "produce":
            acks, codec, first, end = rest
            client.produce(addr, topic, acks, codec, range(int(first), int(end)))
        elif verb == "consume":
            client.consume(addr, topic, int(rest[0]), int(rest[1]))
        elif verb == "member":
            client.member(addr, topic, rest[0], ended())
        elif verb == "create":
            client.create(addr, topic, int(rest[0]), dict([rest[1].split("=", 1)]))
        elif verb == "describe":
            say(client.describe(addr, topic))
        elif verb == "configs":
            for name, setting in client.configs(addr, topic).items():
                say(f"{name}={setting}")
        elif verb == "alter":
            client.alter(addr, topic, *rest[0].split("=", 1))
        elif verb == "delete":
            client.delete(addr, topic)
        else:
            sys.exit(f"unknown: {verb}")
    except Unable:
        sys.exit(3)
