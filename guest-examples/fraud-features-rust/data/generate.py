#!/usr/bin/env python3
"""Makes money.ndjson: invented payments and refunds of some customers over four hours.

The same on every run: the only source of chance is a generator with a fixed seed. A line is an event as it is reported, in the
order of the reports: most come within a minute, some late, some twice, a few are wrong. One customer is robbed: many
payments from several countries within minutes.

    python3 data/generate.py > data/money.ndjson
"""

import datetime
import json
import sys

BEGIN = datetime.datetime(2026, 10, 22, 8, 0, tzinfo=datetime.timezone.utc)
CUSTOMERS = ["c-1001", "c-1002", "c-1003", "c-1004", "c-1005", "c-1006"]
ROBBED = "c-1004"


class Chance:
    """A linear congruential generator: the same numbers from every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, end):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % end


def main():
    chance = Chance(7)
    reports = []

    def report(second, customer, kind, cents, country):
        delay = chance.below(60) if chance.below(100) < 93 else 60 + chance.below(900)
        event = {
            "event_id": f"m-{len(reports):05}",
            "customer_id": customer,
            "kind": kind,
            "amount_cents": cents,
            "country": country,
            "event_time": (BEGIN + datetime.timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        reports.append((second + delay, len(reports), event))
        if chance.below(100) < 4:
            reports.append((second + delay + 30, len(reports), event))

    for number, customer in enumerate(CUSTOMERS):
        second = chance.below(600)
        # Some stop early: they fall silent.
        end = 14_400 if number % 2 == 0 else 7_200
        while second < end:
            refund = chance.below(12) == 0
            cents = 500 + chance.below(9_500)
            report(second, customer, "refund" if refund else "payment", cents // 2 if refund else cents, "VN")
            second += 60 + chance.below(900)
    for number in range(14):
        country = ["VN", "RO", "BR", "NG"][number % 4]
        report(6_000 + 20 * number, ROBBED, "payment", 40_000 + chance.below(20_000), country)
    report(9_000, "c-1002", "payment", -300, "VN")
    report(9_060, "c-1002", "gift", 300, "VN")
    for _, _, event in sorted(reports, key=lambda entry: entry[:2]):
        json.dump(event, sys.stdout, separators=(", ", ": "))
        sys.stdout.write("\n")


main()
