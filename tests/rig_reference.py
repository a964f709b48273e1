"""A rig of one axis in plain NumPy, for tests: an implementation that shares no code with the package.

S2: digital dynamics, X += V T + F T²/(2 m), V += F T/m, with the force held; the robot by its modes, exactly; the force that
is felt at t is the contact's at t − τ, read from the history of the modes. At an instant: the sensor measures, the
compensator answers, the hold takes the model's position with its lead, the dynamics step. All numbers may be arrays of
one shape: so many rigs run side by side. S1: continuous dynamics by the series of the matrix exponential.

A compensator here is a function `law(seen) -> dict` made by one of the makers below; `seen` is a dict of arrays. It may
answer `force` (N), `gain` (N s/m) with `velocity` (m/s), and has `lead`, `second_lead` as keys of its own answer.
"""

import numpy as np

POLE, ZERO, GAIN = -181.7836 + 185.4564j, -206.5679, 326.4756
RIG = {"mass": 500.0, "damping": 50.0, "period": 2e-3, "hold": 4e-3, "delay": 2e-3, "bilateral": True}
LEADS = {"lead": 5.659e-3, "second_lead": 2.725e-5}  # s, s²

POLES = np.array([POLE, POLE.conjugate()])
RESIDUES = GAIN * (POLES - ZERO) / (POLES - POLES[::-1])
SETTLED = -RESIDUES / POLES  # of a command of 1
FED = RESIDUES.sum().real


def moved(modes, command, time):
    """Modes (..., 2) after `time` (s) under a held command."""
    return relaxed(modes, command, decay_over(time))


def decay_over(time):
    """What is left (..., 2) of the modes' distance from where they settle after `time` (s)."""
    return np.exp(POLES * np.asarray(time)[..., None])


def relaxed(modes, command, decay):
    """Modes (..., 2) under a held command when their distance from where they settle has fallen by `decay`."""
    settled = SETTLED * np.asarray(command)[..., None]
    return settled + decay * (modes - settled)


def mean_modes(modes, command, time):
    """Their mean over `time` (s) under a held command."""
    settled = -RESIDUES / POLES * np.asarray(command)[..., None]
    return settled + np.expm1(POLES * time) / (POLES * time) * (modes - settled)


def place(modes):
    return modes.sum(-1).real


def speed(modes, command):
    return (modes * POLES).sum(-1).real + FED * command


def simulate(
    stiffness,
    law=None,
    *,
    mass=500.0,
    damping=50.0,
    period=2e-3,
    hold=4e-3,
    delay=2e-3,
    bilateral=True,
    start=(0.0, 0.05),
    duration=40.0,
    noise=0.0,
    position_noise=0.0,
    jitter=0.0,
    drop_rate=0.0,
    threshold=None,
    averaged=False,
    means=False,
    tool=0.0,
    believed=0.0,
    applies_after=0,
    seed=0,
    rigs=1,
):
    """Runs of many rigs: arrays (time, rigs) of time, X, V, X_R, measured force, compensation force, gain.

    The contact's damping acts on the robot's velocity at the instant of the sample, which aliases the staircase of the
    commands; `averaged`: on its mean over the period before, as behind an anti-aliasing filter.
    `means`: the whole contact force is that mean, from t = 0 on, where the delay is a whole number of periods.

    A `tool` (kg) behind the sensor is felt by the mean acceleration since the last sample, and what is `believed` of it taken
    away by second differences of the robot's positions about the instant that was measured, straight lines between them.
    Commands apply so many holds after they are taken.
    """
    rng = np.random.default_rng(seed)
    stiffness, mass, damping, delay = (
        np.broadcast_to(np.asarray(number, float), (rigs,)) for number in (stiffness, mass, damping, delay)
    )
    before = 200  # steps of approach
    steps, every = round(duration / period), round(hold / period)
    threshold = 5 * noise if threshold is None else threshold
    x, v = (np.full(rigs, float(number)) for number in start)
    x = x - before * period * v
    rows = np.arange(rigs)
    modes = np.zeros((before + steps + 2, rigs, 2), complex)
    commands = np.zeros((before + steps + 2, rigs))
    modes[0] = -RESIDUES / POLES * x[:, None]
    names = ("x", "v", "robot", "force", "compensation", "gain")
    kept = {name: np.zeros((steps + 1, rigs)) for name in names}
    force, reached, last_felt, last_speed = np.zeros(rigs), x, x, np.full(rigs, float(start[1]))
    given = [commands[0]] * (applies_after + 1)
    encoders = [x] * 60
    answer = dict(getattr(law, "leads", {}))  # also while approaching
    total = np.zeros(rigs)
    jitters, noisy, carries = np.any(jitter), np.any(noise), np.any(believed)
    misread, drops = np.any(position_noise), np.any(drop_rate)
    decay, late = decay_over(np.full(rigs, period)), delay
    for k in range(before + steps + 1):
        now = k - before
        if k:
            modes[k] = relaxed(modes[k - 1], commands[k - 1], decay)
        if jitters or not k:
            late = delay + (jitter * rng.random(rigs) if jitters else 0.0)
            whole = np.floor(late / period + 1e-9).astype(int)
            older = decay_over((whole + 1) * period - late)
        at = np.maximum(k - 1 - whole, 0)
        old_modes, old_commands = modes[at, rows], commands[at, rows]
        felt_modes = relaxed(old_modes, old_commands, older)
        felt = place(felt_modes)
        moving = speed(felt_modes, old_commands)
        jolt, last_speed = (moving - last_speed) / period, moving
        robot = place(modes[k])
        encoders = [robot, *encoders[:-1]]
        rate = (felt - last_felt) / period if averaged else moving
        last_felt = felt
        pressed = place(mean_modes(old_modes, old_commands, period)) if means else felt
        pushed = -stiffness * pressed - damping * rate
        touching = (now * period - late - means * period >= -1e-9) if bilateral else (felt > 0)
        pushed = np.where(touching, pushed if bilateral else np.minimum(pushed, 0), 0.0)
        pushed = pushed - tool * jolt
        if carries:
            pushed = pushed + believed * second_difference(encoders, late + means * period / 2, period)
        measured = pushed + (noise * rng.standard_normal(rigs) if noisy else 0.0)
        encoder = position_noise * rng.standard_normal((2, rigs)) if misread else np.zeros((2, rigs))
        kept_back = rng.random(rigs) < drop_rate if drops else np.zeros(rigs, bool)
        force = np.where(kept_back, force, measured)
        reached = np.where(kept_back, reached, felt + encoder[0])
        compensation, gain = np.zeros(rigs), np.zeros(rigs)
        if now >= 0 and law is not None:
            seen = {
                "time": now * period,
                "period": period,
                "mass": mass,
                "force": force,
                "position": x,
                "velocity": v,
                "robot_position": robot + encoder[1],
                "robot_velocity": speed(modes[k], commands[k - 1]),
                "touched_position": reached,
                "touching": np.ones(rigs, bool) if bilateral else np.abs(force) > threshold,
            }
            answer = law(seen)
            gain = np.broadcast_to(answer.get("gain", 0.0), (rigs,))
            compensation = answer.get("force", 0.0) - gain * answer.get("velocity", v)
        total = (force if now >= 0 else np.zeros(rigs)) + compensation
        if k % every == before % every:
            lead, second = answer.get("lead", 0.0), answer.get("second_lead", 0.0)
            given = [x + lead * v + second * total / mass, *given[:-1]]
            commands[k] = given[-1]
        else:
            commands[k] = commands[k - 1]
        if now >= 0:
            row = (x, v, robot, force, compensation, gain)
            for name, value in zip(names, row, strict=True):
                kept[name][now] = value
        x = x + v * period + total * period**2 / (2 * mass) if now >= 0 else x + v * period
        v = v + total * period / mass if now >= 0 else v
    return kept | {"time": period * np.arange(steps + 1)}


def second_difference(positions, late, period):
    """Acceleration of positions a `period` apart, the newest first, about what is `late` or one period old."""
    middle = np.maximum(late, period)
    ages = period * np.arange(len(positions))
    columns = np.stack(positions, axis=1)
    there = [
        np.array([np.interp(age, ages, row) for age, row in zip(middle + shift, columns, strict=True)])
        for shift in (-period, 0.0, period)
    ]
    return (there[0] - 2 * there[1] + there[2]) / period**2


def amplitude_ratio(run, stiffness, mass=500.0, damping=50.0, start=0.05):
    """Largest speed in the last oscillation over that of the contact alone."""
    frequency = np.sqrt(np.asarray(stiffness, float) / mass - (damping / (2 * mass)) ** 2)
    time = run["time"]
    found = []
    for i, omega in enumerate(np.broadcast_to(frequency, run["x"].shape[1:])):
        last = time > time[-1] - 2 * np.pi / omega
        decay = damping / (2 * mass)
        ideal = start * np.exp(-decay * time) * (np.cos(omega * time) - decay / omega * np.sin(omega * time))
        found.append(np.abs(run["v"][last, i]).max() / np.abs(ideal[last]).max())
    return np.array(found)


def restitution(run, mass=500.0):
    """Speed at the end over speed at the start: a bounce that is over."""
    return -run["v"][-1] / run["v"][0]


# --- compensators ----------------------------------------------------------------------------------------------------


def leading(lead=LEADS["lead"], second_lead=LEADS["second_lead"]):
    def law(seen):
        return law.leads

    law.leads = {"lead": lead, "second_lead": second_lead}
    return law


def fixed_gain(gain, source="robot_velocity", gated=True):
    return lambda seen: {
        "gain": np.where(seen["touching"] | (not gated), gain, 0.0),
        "velocity": seen["velocity"] if source == "velocity" else seen[source],
    }


def force_lead(lead, constant):
    """Force + lead · its derivative, filtered with a time constant (s); zero-order equivalent of s/(1 + s·constant)."""
    memory = {}

    def law(seen):
        smooth = memory.get("smooth", seen["force"] * 0)
        rate = (seen["force"] - smooth) / constant if constant else (seen["force"] - smooth) / seen["period"]
        share = 1 - np.exp(-seen["period"] / constant) if constant else 1.0
        memory["smooth"] = smooth + share * (seen["force"] - smooth)
        return {"force": lead * rate}

    return law


def online_stiffness(lead, forgetting=0.998, source="velocity", start=1e-12):
    """Gain K̂ · lead; `start` (m²) is the weight of a first guess of zero."""
    memory = {}

    def law(seen):
        q, y = seen["touched_position"], -seen["force"]
        top, bottom = memory.get("sums", (0 * q, 0 * q + start))
        on = seen["touching"]
        top = np.where(on, forgetting * top + q * y, top)
        bottom = np.where(on, forgetting * bottom + q * q, bottom)
        memory["sums"] = top, bottom
        return {"gain": np.where(on, np.maximum(top / bottom, 0) * lead, 0.0), "velocity": seen[source]}

    return law


def passivity(limit=2000.0, dead_zone=0.0):
    """Excess of the work on the model over that of the contact, taken back at once by damping."""
    memory = {}

    def law(seen):
        f, v, t = seen["force"], seen["velocity"], seen["period"]
        if not memory:
            memory.update(given=0 * f, port=0 * f, force=0 * f, touched=seen["touched_position"])
        memory["port"] = memory["port"] + (f + memory["force"]) / 2 * (seen["touched_position"] - memory["touched"])
        memory["force"], memory["touched"] = f, seen["touched_position"]
        step = f * (v * t + f * t**2 / (2 * seen["mass"]))
        excess = memory["given"] + step - memory["port"] - dead_zone
        gain = np.clip(excess / np.maximum(v**2 * t, 1e-12), 0, limit)
        gain = np.where(seen["touching"], gain, 0.0)
        total = f - gain * v
        memory["given"] = memory["given"] + total * (v * t + total * t**2 / (2 * seen["mass"]))
        return {"gain": gain, "velocity": v}

    return law


def half_cycles(lead=0.0, second_lead=0.0, ledger=False):
    """F = −c V, c = (W_virtual − W_port)/∫V² dt of the half-cycle just past."""
    memory = {}

    def law(seen):
        f, v, t, x = seen["force"], seen["velocity"], seen["period"], seen["touched_position"]
        if not memory:
            memory.update(c=0 * f, excess=0 * f, square=0 * f, sign=np.sign(v), force=f, touched=x, step=0 * f)
        memory["excess"] = memory["excess"] + memory["step"] - (f + memory["force"]) / 2 * (x - memory["touched"])
        turned = v * memory["sign"] < 0
        c = np.where(turned, memory["excess"] / np.maximum(memory["square"], 1e-12), memory["c"])
        memory.update(c=c, sign=np.where(turned, np.sign(v), memory["sign"]), force=f, touched=x)
        total = f - c * v
        memory["square"] = np.where(turned, 0, memory["square"]) + v**2 * t
        memory["excess"] = np.where(turned, 0, memory["excess"])
        memory["step"] = f * (v * t + total * t**2 / (2 * seen["mass"]))
        return {"gain": c, "velocity": v, "lead": lead, "second_lead": second_lead}

    law.leads = {"lead": lead, "second_lead": second_lead}
    return law


# --- S1: continuous dynamics -----------------------------------------------------------------------------------------


def simulate_continuous(
    gain, *, stiffness=2e4, mass=500.0, damping=50.0, inertia=0.0, velocity="model", start=0.05, duration=60.0
):
    """X, V and force on the model at multiples of 2 ms, with hold 4 ms and delay 2 ms; `gain(k, x, v, force)`, N s/m.

    The robot and the model start at the origin, the robot at rest; the force is not sampled. `velocity` that the gain
    multiplies: that of the "model" or the "robot", continuously, or the model's "held" for 2 ms. Each stretch of 2 ms by
    the series of the matrix exponential, which converges to rounding in 20 terms.
    """
    step, steps = 2e-3, round(duration / 2e-3)
    a = np.array([[2 * POLE.real, -(abs(POLE) ** 2)], [1.0, 0.0]])
    b, c = np.array([1.0, 0.0]), GAIN * np.array([1.0, -ZERO])
    flow = np.zeros((9, 9))  # X, V, robot (2), delayed robot (2), command, delayed command, velocity held
    flow[0, 1] = 1
    for at, command in ((2, 6), (4, 7)):
        flow[at : at + 2, at : at + 2], flow[at : at + 2, command] = a, b
    rate = np.zeros(9)
    rate[4:6], rate[7] = c @ a, c @ b
    push = -damping * rate
    push[4:6] -= stiffness * c
    own = np.zeros(9)
    if velocity != "robot":
        own[1 if velocity == "model" else 8] = 1
    else:
        own[2:4], own[6] = c @ a, c @ b
    state = np.zeros(9)
    state[1] = start
    kept = np.zeros((steps + 1, 4))
    for k in range(steps + 1):
        state[7 if k % 2 else 6] = state[6 if k % 2 else 0]  # released half a hold late; renewed
        state[8] = state[1]
        g = gain(k, state[0], state[1], push @ state)
        row = (push - g * own) / (mass + inertia)
        kept[k] = state[0], state[1], mass * row @ state, g
        flow[1] = row
        term = state
        for n in range(1, 21):
            term = flow @ term * (step / n)
            state = state + term
    x, v, force, gains = kept.T
    return {"time": step * np.arange(steps + 1), "x": x, "v": v, "force": force, "gain": gains}


def contact_alone(time, stiffness=2e4, mass=500.0, damping=50.0, start=0.05):
    """X, V and force of the contact alone."""
    decay = damping / (2 * mass)
    omega = np.sqrt(stiffness / mass - decay**2)
    x = start / omega * np.exp(-decay * time) * np.sin(omega * time)
    v = start * np.exp(-decay * time) * (np.cos(omega * time) - decay / omega * np.sin(omega * time))
    return x, v, -stiffness * x - damping * v


def end_errors(run, stiffness=2e4, mass=500.0, damping=50.0):
    """Largest errors of force (N) and velocity (m/s) in the last oscillation."""
    last = run["time"] > run["time"][-1] - 2 * np.pi / np.sqrt(stiffness / mass)
    _, v, force = contact_alone(run["time"][last], stiffness, mass, damping)
    return np.abs(run["force"][last] - force).max(), np.abs(run["v"][last] - v).max()


# --- the package's compensators in this rig --------------------------------------------------------------------------


def packaged(compensator, rigs=1):
    """A law from a compensator of the package, whose numbers may carry a leading axis over rigs."""
    import jax
    import jax.numpy as jnp

    from dockdyn.hil.compensators.compensator import CompensatorInput

    every = jax.tree.map(lambda number: jnp.broadcast_to(jnp.asarray(number, float), (rigs,)), compensator)
    step = jax.jit(jax.vmap(lambda one, memory, seen: one.step(memory, seen)))
    memory = []
    vectors = ("force", "position", "velocity", "robot_position", "robot_velocity", "touched_position")

    def law(seen):
        values = {name: np.asarray(seen[name])[:, None] for name in vectors}
        values |= {name: np.broadcast_to(seen[name], (rigs,)).astype(float) for name in ("time", "period", "mass")}
        nothing = np.zeros((rigs, 1))
        now = CompensatorInput(**values, touching=seen["touching"], ideal_position=nothing, ideal_force=nothing)
        if not memory:
            memory.append(jax.vmap(lambda one, x, v: one.init(x, v))(every, now.position, now.velocity))
        memory[0], action = step(every, memory[0], now)
        return {
            "force": np.asarray(action.force)[:, 0],
            "gain": np.asarray(action.gain),
            "velocity": np.asarray(action.velocity)[:, 0],
            "lead": np.asarray(action.lead),
            "second_lead": np.asarray(action.second_lead),
        }

    law.memory = memory
    leading = hasattr(every, "second_lead")  # a lead of the command, not of the force
    law.leads = {name: np.asarray(getattr(every, name)) for name in LEADS} if leading else {}
    return law
