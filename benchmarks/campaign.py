"""A campaign of `idss-probe-cone`: cases and steps a second, beside cases one at a time and MuJoCo's rollout. One process.

Steps are those of Runge-Kutta of fourth order, in dockdyn the accepted ones; reading and checking each case's numbers,
finding its events and its figures is in dockdyn's times. MuJoCo is given less to do: two free bodies of the same masses, a
sphere on a plate without friction for the wall of the cone, no latch, its own state alone as the result. (Its stiffness and
damping are those of the preset by the reduced mass of both bodies, as MuJoCo counts them.)
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import mujoco
import numpy as np
from mujoco import rollout

from dockdyn import simulate, summarise
from dockdyn.scenario.load import load
from dockdyn.studies.campaign.conduct import compute_in_process, plan_campaign, run_nominal
from dockdyn.studies.cases.sampling import sample

CASES = 4096
ALONE = 12  # cases one at a time
REPEATS = 3
LANES, STEPS = 512, 400  # of MuJoCo

MUJOCO = """
<mujoco>
  <option timestep="0.005" gravity="0 0 0" integrator="RK4"/>
  <worldbody>
    <body name="chaser" pos="0 0 0.0299">
      <freejoint/>
      <inertial pos="0 0 5" mass="25000" diaginertia="180000 180000 60000"/>
      <geom type="sphere" size="0.03" solref="-0.857 -0.171" friction="0 0 0" condim="1"/>
    </body>
    <body name="target">
      <freejoint/>
      <inertial pos="0 0 -10" mass="350000" diaginertia="1.2e8 1.5e8 4e7"/>
      <geom type="box" size="2 2 0.1" pos="0 0 -0.1" solref="-0.857 -0.171" friction="0 0 0" condim="1"/>
    </body>
  </worldbody>
</mujoco>
"""


def batch() -> tuple[float, float]:
    """Cases and steps a second of a campaign, everything but its files."""
    scenario = load("idss-probe-cone")
    campaign = plan_campaign(scenario, CASES)
    run_nominal(scenario, campaign)  # compiles
    best, steps = np.inf, 0.0
    for _ in range(REPEATS):
        began = time.perf_counter()
        steps = sum(
            float(cases.figures["steps"].sum()) for _, _, cases in compute_in_process(campaign, range(campaign.chunks))
        )
        best = min(best, time.perf_counter() - began)
    return CASES / best, steps / best


def one_at_a_time() -> tuple[float, float]:
    """Cases and steps a second of `simulate` and `summarise`, case after case, compiled before."""
    scenario = load("idss-probe-cone")
    drawn = sample(scenario, CASES, 1, "sobol")
    rows = [dict(zip(drawn.keys, row, strict=True)) for row in drawn.values[: ALONE + 1]]
    summarise(simulate(scenario.at(rows[0])))
    began, steps = time.perf_counter(), 0
    for row in rows[1:]:
        steps += summarise(simulate(scenario.at(row)))["steps"]
    took = time.perf_counter() - began
    return ALONE / took, steps / took


def mujoco_rollout() -> float:
    """Steps a second of MuJoCo on all cores, the bodies touching all the time."""
    model = mujoco.MjModel.from_xml_string(MUJOCO)
    cores = os.cpu_count() or 1
    data = [mujoco.MjData(model) for _ in range(cores)]
    data[0].qvel[2] = -0.05  # m/s
    mujoco.mj_forward(model, data[0])
    state = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data[0], state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    lanes = np.tile(state, (LANES, 1))
    mujoco.mj_step(model, data[0], nstep=STEPS)
    assert data[0].ncon > 0, "the bodies must still touch at the end"
    with rollout.Rollout(nthread=cores) as runner:
        runner.rollout(model, data, lanes, nstep=STEPS)
        best = np.inf
        for _ in range(REPEATS):
            began = time.perf_counter()
            runner.rollout(model, data, lanes, nstep=STEPS)
            best = min(best, time.perf_counter() - began)
    return LANES * STEPS / best


def memory(runs: int) -> float:
    """Peak memory (MiB) of a process that runs a whole campaign of so many cases."""
    import tempfile

    code = (
        "import resource; from pathlib import Path; from dockdyn.scenario.load import load\n"
        "from dockdyn.studies.campaign.conduct import compute_in_process, plan_campaign, run_campaign\n"
        "from dockdyn.studies.campaign.store import Store\n"
        "import sys\n"
        f"campaign = plan_campaign(load('idss-probe-cone'), {runs}); store = Store(Path(sys.argv[1]) / 'c')\n"
        "store.create(campaign); run_campaign(campaign, store, compute_in_process, lambda done: None)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    print(f"idss-probe-cone on {os.cpu_count()} cores; best of {REPEATS}, compiled before")
    cases, steps = batch()
    alone, alone_steps = one_at_a_time()
    engine = mujoco_rollout()
    print(f"  campaign          {cases:8.1f} cases/s {steps:12.0f} steps/s")
    ratio = cases / alone
    print(
        f"  one at a time     {alone:8.1f} cases/s {alone_steps:12.0f} steps/s   a campaign is {ratio:.1f} times as fast"
    )
    print(
        f"  MuJoCo's rollout           {engine:17.0f} steps/s   a campaign takes {steps / engine:.1f} times as many steps"
    )
    for runs in (1_000, *((100_000,) if "--memory" in sys.argv else (4_000,))):
        print(f"  peak memory of {runs} cases: {memory(runs):.0f} MiB")


if __name__ == "__main__":
    main()
