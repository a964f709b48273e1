"""The campaign of `idss-soft-capture`: cases a second beside MuJoCo's rollout of a comparable model. One process.

MuJoCo has the same bodies, begun alike, petals of the same capsules, the ring's rims as capsules around a polygon, balls on a
disc for the faces, and six struts. What differs: its contacts are a relaxed constraint with one stiffness and damping for the
mass of the ring, its brakes are dry friction along a tendon without the spring before it, the struts carry no inertia of
motors, nothing drives them, and no latch closes, so no phase begins; its states alone are the result, at steps of one length.
dockdyn locates onset and release of each group, chooses its steps, tells loads and outcomes, and draws and checks each case.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import pairwise

import mujoco
import numpy as np
from mujoco import rollout

from dockdyn.scenario.load import load
from dockdyn.studies.campaign.conduct import compute_in_process, plan_campaign, run_nominal
from dockdyn.studies.cases.sampling import sample

CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 64
STEP = 5e-4  # s, of MuJoCo
REPEATS = 2  # of MuJoCo's rollout, the best counts
SIDES = 36  # of the polygon for a rim
CONTACT = 'solref="-14300 -11" condim="3" friction="0.1 0 0"'  # 500 kN/m and 380 N s/m on 35 kg
STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


def numbers(values) -> str:
    return " ".join(f"{float(value):.12g}" for value in np.ravel(values))


def capsules(points: np.ndarray, radius: float) -> str:
    """A chain of capsules through points (n, 3), m."""
    ends = [np.concatenate(both) for both in pairwise(points)]
    return "".join(f'<geom type="capsule" fromto="{numbers(one)}" size="{radius}" {CONTACT}/>' for one in ends)


def turned(points: np.ndarray, angle: float) -> np.ndarray:
    """Points (n, 3) turned about x."""
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]).T


def petals_and_rim(features: dict) -> str:
    """Guide petals and rim of a body."""
    petals, rim = features["petals"], features["rim"]
    each = [turned(np.array(petals["points"]), 2 * np.pi * k / petals["copies"]) for k in range(petals["copies"])]
    start = np.array([[rim["centre"][0], float(rim["major_radius"].split()[0]), 0.0]])
    circle = np.concatenate([turned(start, 2 * np.pi * k / SIDES) for k in range(SIDES + 1)])
    radius = float(petals["radius"].split()[0]), float(rim["radius"].split()[0])
    return "".join(capsules(points, radius[0]) for points in each) + capsules(circle, radius[1])


def xml(scenario) -> str:
    """The model of MuJoCo for a scenario of the same mechanism."""
    model, bodies = scenario.content.model(), scenario.nominal()["body"]
    features = {name: body.get("feature", {}) for name, body in bodies.items()}
    strut = model.elements[0].element.members
    ends = [np.asarray(strut.anchors.own), np.asarray(strut.anchors.other)]
    sites = {
        name: "".join(f'<site name="{name}{k}" pos="{numbers(place)}"/>' for k, place in enumerate(places))
        for name, places in zip(("ring", "chaser"), ends, strict=True)
    }
    face = features["ring"]["face"]
    places = [turned(np.array(face["position"]), 2 * np.pi * k / face["copies"]) for k in range(face["copies"])]
    balls = "".join(f'<geom type="sphere" pos="{numbers(place)}" size="0.003" {CONTACT}/>' for place in places)
    disc = f'<geom type="cylinder" fromto="{numbers([9.9, 0, 0, 10, 0, 0])}" size="0.65" {CONTACT}/>'
    shapes = {
        "chaser": "",
        "ring": petals_and_rim(features["ring"]) + balls,
        "target": petals_and_rim(features["target"]) + disc,
    }
    world = "".join(
        f'<body name="{name}"><freejoint/><inertial pos="0 0 0" mass="{body["mass"].split()[0]}" '
        f'diaginertia="{numbers(np.diag(body["inertia"]))}"/>{shapes[name]}{sites.get(name, "")}</body>'
        for name, body in bodies.items()
    )
    damping, slip = float(strut.damping[0]), float(strut.brake.limit[0])
    tendons = "".join(
        f'<spatial damping="{damping}" frictionloss="{slip}"><site site="ring{k}"/><site site="chaser{k}"/></spatial>'
        for k in range(len(ends[0]))
    )
    option = f'<option timestep="{STEP}" gravity="0 0 0" integrator="implicitfast"/>'
    return f"<mujoco>{option}<worldbody>{world}</worldbody><tendon>{tendons}</tendon></mujoco>"


def state_of(scenario, engine: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """The state with which a case begins, as MuJoCo counts it."""
    model = scenario.content.model()
    mujoco.mj_resetData(engine, data)
    for k, (pose, twist) in enumerate(zip(model.poses, model.twists, strict=True)):
        data.qpos[7 * k : 7 * k + 7] = [*pose.position.array(), *pose.attitude.array()]
        data.qvel[6 * k : 6 * k + 6] = [*twist.velocity.array(), *twist.rate.array()]
    state = np.zeros(mujoco.mj_stateSize(engine, STATE))
    mujoco.mj_getState(engine, data, state, STATE)
    return state


def mujoco_rollout(scenario, rows: list[dict]) -> tuple[float, float, float]:
    """Seconds a case of MuJoCo on all cores, those of a processor, and the share of cases in which the chaser was pushed."""
    engine = mujoco.MjModel.from_xml_string(xml(scenario))
    cores = os.cpu_count() or 1
    data = [mujoco.MjData(engine) for _ in range(cores)]
    states = np.stack([state_of(scenario.at(row), engine, data[0]) for row in rows])
    best, spent, speed = np.inf, np.inf, slice(1 + engine.nq, 4 + engine.nq)  # of the chaser
    with rollout.Rollout(nthread=cores) as runner:
        for _ in range(REPEATS):
            began, before = time.perf_counter(), time.process_time()
            found, _ = runner.rollout(engine, data, states, nstep=round(float(scenario.content.duration) / STEP))
            best, spent = min(best, time.perf_counter() - began), min(spent, time.process_time() - before)
    pushed = np.abs(found[:, -1, speed] - states[:, speed]).max(1) > 1e-6
    return best / len(rows), spent / len(rows), float(pushed.mean())


def main() -> None:
    scenario = load("idss-soft-capture")
    campaign = plan_campaign(scenario, CASES)
    run_nominal(scenario, campaign)  # compiles
    began, before, steps = time.perf_counter(), time.process_time(), 0.0
    for _, _, cases in compute_in_process(campaign, range(campaign.chunks)):
        steps += float(cases.figures["steps"].sum())
    took, spent = time.perf_counter() - began, time.process_time() - before
    print(f"{CASES} cases of idss-soft-capture on {os.cpu_count()} cores, compiled before")
    words = "{:8.2f} cases/s, {:6.2f} s of a processor and {:6.0f} steps a case"
    print("  campaign", words.format(CASES / took, spent / CASES, steps / CASES))
    drawn = sample(scenario, CASES, 1, "sobol")
    rows = [dict(zip(drawn.keys, row, strict=True)) for row in drawn.values]
    took, spent, pushed = mujoco_rollout(scenario, rows)
    steps = float(scenario.content.duration) / STEP
    print("  MuJoCo  ", words.format(1 / took, spent, steps), f"pushed in {100 * pushed:.0f} %")


if __name__ == "__main__":
    main()
