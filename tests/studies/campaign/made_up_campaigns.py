"""Campaigns of every sort, made up: what reports are written of."""

import json

import numpy as np
from campaign_data import campaign_dataset

import dockdyn

NAN = float("nan")
TITLE = 'Case <b>"1"</b> & {{ 7 * 7 }}'
DISPERSED = {
    "approach.closing_speed": {"distribution": "uniform", "low": "5 cm/s", "high": "0.10 m/s"},
    "approach.lateral_offset": {"distribution": "disc", "radius": "0.10 m"},
    "approach.pitch": {"distribution": "truncated-normal", "mean": 0, "std": "2 deg", "low": "-4 deg", "high": "4 deg"},
    "latch.capture.ramp.friction": {"distribution": "choice", "values": [0.1, 0.2], "weights": [3, 1]},
}
REQUIRED = {"captured": True, "peak_force": "< 1.5 kN", "capture_time": "<= 50 s"}


def campaign(runs: int, failed: bool = True, capture: bool = True, keys: int = 5, tail: float = 0.25, **attributes):
    """A probe caught where offset and pitch are small and speed enough."""
    draw = np.random.default_rng(runs)
    speed, pitch = draw.uniform(0.05, 0.10, runs), np.clip(draw.normal(0, 0.035, runs), -0.07, 0.07)
    angle, radius = draw.uniform(0, 2 * np.pi, runs), 0.1 * np.sqrt(draw.random(runs))
    varied = {
        "approach.closing_speed": (speed, "m/s"),
        "approach.lateral_offset.0": (radius * np.cos(angle), "m"),
        "approach.lateral_offset.1": (radius * np.sin(angle), "m"),
        "approach.pitch": (pitch, "rad"),
        "latch.capture.ramp.friction": (draw.choice([0.1, 0.2], runs), ""),
    }
    caught = (radius + np.abs(pitch) / 4 < 0.09) & (speed > 0.057)
    figures = {
        "contact.count": np.where(radius < 0.097, draw.integers(1, 8, runs), 0),
        "peak_force_N": np.where(radius < 0.097, 9000 * speed * np.exp(draw.normal(0, tail, runs)), 0),
        "peak_time_s": 1 / speed,
        "contact.impulse_N_s": 500 * speed,
        "captured": caught if capture else np.full(runs, NAN),
        "capture_time_s": np.where(caught & capture, 3 / speed, NAN),
        "latch.speed_margin_m_s": np.where((radius < 0.085) & capture, speed - 0.06, NAN),
        "end_time_s": np.full(runs, 90.0),
    }
    reasons = ["stopped at t = 3 s: <i>chatter</i>" if failed and case % 40 == 7 else "" for case in range(runs)]
    chosen = dict(list(varied.items())[:keys])
    scenario = dockdyn.load("probe-cone-latch", DISPERSED).text()
    return campaign_dataset(chosen, figures, reasons, **{"title": TITLE, "scenario": scenario} | attributes)


def unfinished(runs: int, **attributes):
    """The same with cases that end before their outcome: every fourth of those that were not captured."""
    found = campaign(runs, failed=False, **attributes)
    early = (found.captured.values == 0) & (np.arange(runs) % 4 == 0)
    more = {"outcome_open": early.astype(float), "approach_left_s": np.where(early, 8.0, NAN)}
    names = json.dumps([*json.loads(found.attrs["figures"]), *more])
    return found.assign({name: ("case", values) for name, values in more.items()}).assign_attrs(figures=names)


CAMPAIGNS = {
    "not decided": lambda: unfinished(300, requirements=REQUIRED),
    "not decided, many": lambda: unfinished(900),
    "full": lambda: campaign(1500, requirements=REQUIRED),
    "few": lambda: campaign(60),
    "one key": lambda: campaign(800, keys=1, requirements=REQUIRED),
    "one key, force": lambda: campaign(800, keys=1, capture=False),
    "no capture": lambda: campaign(800, capture=False, failed=False),
    "no capture, few": lambda: campaign(50, capture=False, failed=False),
    "no capture, required": lambda: campaign(800, capture=False, requirements={"peak_force": "< 600 N"}),
    "one case": lambda: campaign(1, requirements=REQUIRED),
    "two cases": lambda: campaign(2),
    "all failed": lambda: campaign_dataset({"a": [0.0, 1.0]}, {}, ["no", "no"]),
    "nothing measured": lambda: campaign_dataset({"a": np.arange(9.0)}, {"captured": [NAN] * 9}),
    "no variance": lambda: campaign_dataset(
        {"a": np.ones(50), "b": np.ones(50)}, {"captured": np.ones(50), "peak_force_N": np.full(50, 3.0)}
    ),
    "far out": lambda: campaign(3000, tail=2.0),
    "never": lambda: campaign_dataset(
        {"a": np.arange(500.0), "b": np.arange(500.0)},
        {"captured": np.zeros(500), "peak_force_N": np.zeros(500)},
    ),
}
