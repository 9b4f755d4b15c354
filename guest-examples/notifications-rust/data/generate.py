#!/usr/bin/env python3
"""Makes orders.ndjson: invented orders of a week, event by event.

The same on every run: the only source of chance is a generator with a fixed seed. A line is an event as it is reported, in the
order of the reports; some come late, some twice. Some orders are never paid, some never shipped, some called off.

    python3 data/generate.py > data/orders.ndjson
"""

import datetime
import json
import sys

BEGIN = datetime.datetime(2026, 10, 19, 0, 0, tzinfo=datetime.timezone.utc)


class Chance:
    """A linear congruential generator: the same numbers from every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, end):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % end


def main():
    chance = Chance(11)
    reports = []

    def report(minute, order, customer, kind):
        delay = chance.below(4) if chance.below(100) < 95 else 4 + chance.below(120)
        event = {
            "order_id": order,
            "customer_id": customer,
            "kind": kind,
            "event_time": (BEGIN + datetime.timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        reports.append((minute + delay, len(reports), event))
        if chance.below(100) < 3:
            reports.append((minute + delay + 1, len(reports), event))

    for number in range(60):
        order, customer = f"o-{number:04}", f"c-{1000 + chance.below(20)}"
        minute = chance.below(5 * 1440)
        report(minute, order, customer, "placed")
        fate = chance.below(10)
        if fate == 0:
            continue
        minute += 1 + (chance.below(20) if fate > 2 else 40 + chance.below(500))
        report(minute, order, customer, "paid" if fate != 1 else "cancelled")
        if fate in (1, 2):
            continue
        minute += 60 + (chance.below(2000) if fate > 3 else 3000 + chance.below(1000))
        report(minute, order, customer, "shipped")
        report(minute + 600 + chance.below(2000), order, customer, "delivered")
    report(7 * 1440, "o-9999", "", "placed")
    report(7 * 1440 + 30, "o-9999", "c-1000", "eaten")
    for _, _, event in sorted(reports, key=lambda entry: entry[:2]):
        json.dump(event, sys.stdout, separators=(", ", ": "))
        sys.stdout.write("\n")


main()
