#!/usr/bin/env python3
"""Makes impressions.ndjson and clicks.ndjson: invented ads over eight minutes, in the order in which they were reported.

The same on every run: the only source of chance is a generator with a fixed seed. Most reports come within five seconds,
some clicks before their impressions; a few come minutes late. Some clicks name no impression, one that nobody reported, or
one of another campaign; some come sooner than anybody clicks.

    python3 data/generate.py
"""

import json
import pathlib

START = 1_792_659_600_000  # 2026-10-22T09:00:00Z
IMPRESSIONS = 240
PLACEMENTS = ["banner", "sidebar", "feed"]


class Chance:
    """A linear congruential generator: the same numbers from every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, end):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % end


def reported(chance, time):
    delay = 180_000 + chance.below(60_000) if chance.below(40) == 0 else chance.below(5_000)
    return time + delay


def click(chance, number, impression):
    kind = chance.below(20)
    shown_at = impression["shown_at"]
    took = 20 if kind == 0 else 660_000 if kind == 1 else 400 + chance.below(90_000)
    campaign = "c-0009" if kind == 2 else impression["campaign_id"]
    on = f"i-x{number:03}" if kind == 3 else impression["impression_id"]
    event = {"click_id": f"k-{number:03}", "campaign_id": campaign, "clicked_at": shown_at + took}
    if kind != 4:
        event["impression_id"] = on
    event["arrival"] = reported(chance, event["clicked_at"])
    return event


def main():
    chance = Chance(20261022)
    impressions, clicks = [], []
    for number in range(IMPRESSIONS):
        shown_at = START + number * 2_000 + chance.below(2_000)
        impression = {
            "impression_id": f"i-{number:03}",
            "campaign_id": f"c-{chance.below(4):04}",
            "placement": PLACEMENTS[chance.below(3)],
            "shown_at": shown_at,
            "arrival": reported(chance, shown_at),
        }
        impressions.append(impression)
        for _ in range((chance.below(3) == 0) + (chance.below(12) == 0)):
            clicks.append(click(chance, len(clicks), impression))
    folder = pathlib.Path(__file__).parent
    for name, events in (("impressions", impressions), ("clicks", clicks)):
        events.sort(key=lambda event: event["arrival"])
        lines = "".join(json.dumps(event) + "\n" for event in events)
        (folder / f"{name}.ndjson").write_text(lines)


if __name__ == "__main__":
    main()
