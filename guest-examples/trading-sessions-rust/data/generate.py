#!/usr/bin/env python3
"""Makes trades.ndjson: invented trades of three symbols around the end of summer time and Thanksgiving 2026.

The same on every run: the only source of chance is a generator with a fixed seed. A line is a trade as it is reported,
in the order of the reports; most come within seconds, some minutes, some hours, some a day late, and some come twice.

    python3 data/generate.py > data/trades.ndjson
"""

import datetime
import json
import sys

SYMBOLS = {"ACME": 12_050, "BOLT": 4_210, "CRUX": 31_875}
# Each day, its distance from UTC, and the hours in which it trades; the holiday and the Saturday have a few stray trades.
DAYS = [
    ("2026-10-30", -4, 4.0, 20.0, 80),
    ("2026-11-02", -5, 4.0, 20.0, 80),
    ("2026-11-25", -5, 3.5, 20.5, 140),
    ("2026-11-26", -5, 10.0, 12.0, 3),
    ("2026-11-27", -5, 4.0, 17.5, 120),
    ("2026-11-28", -5, 11.0, 12.0, 2),
    ("2026-11-30", -5, 4.0, 20.0, 80),
]


class Chance:
    """A linear congruential generator: the same numbers from every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, end):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % end


def delay_seconds(chance):
    kind = chance.below(100)
    if kind < 85:
        return chance.below(20)
    if kind < 95:
        return 60 + chance.below(3_000)
    if kind < 98:
        return 3_600 + chance.below(14_400)
    return 43_200 + chance.below(72_000)


def main():
    chance = Chance(2026)
    prices = dict(SYMBOLS)
    reports = []
    for day, offset, begins, ends, count in DAYS:
        zone = datetime.timezone(datetime.timedelta(hours=offset))
        midnight = datetime.datetime.fromisoformat(day).replace(tzinfo=zone)
        for symbol in SYMBOLS:
            seconds = sorted(int(begins * 3_600) + chance.below(int((ends - begins) * 3_600)) for _ in range(count))
            # A crowd in the last half hour before the close.
            close = 13 if day == "2026-11-27" else 16
            if count > 10:
                seconds += [close * 3_600 - 1 - chance.below(1_800) for _ in range(count // 4)]
            for number, second in enumerate(sorted(seconds)):
                prices[symbol] = max(100, prices[symbol] + chance.below(41) - 20)
                trade = {
                    "trade_id": f"{symbol}-{day}-{number}",
                    "symbol": symbol,
                    "executed_at": (midnight + datetime.timedelta(seconds=second)).isoformat(),
                    "price_cents": prices[symbol],
                    "quantity": 1 + chance.below(500),
                }
                if chance.below(400) == 0:
                    trade["price_cents"] = 0
                known = midnight + datetime.timedelta(seconds=second + delay_seconds(chance))
                reports.append((known, trade))
                if chance.below(50) == 0:
                    reports.append((known + datetime.timedelta(seconds=1 + chance.below(600)), trade))
    reports.sort(key=lambda report: (report[0], report[1]["trade_id"]))
    for _, trade in reports:
        sys.stdout.write(json.dumps(trade, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
