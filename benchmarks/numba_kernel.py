"""The probe and cone with a delayed contact force, written by hand for Numba: what a careful engineer gets without dockdyn.

Same model as an `mechanism` of two bodies with a point feature, an unbounded cone, a clamped spring-dashpot, regularised
Coulomb friction and a loop delay; same fixed-step RK4; the delayed force interpolated by the same four-point cubic.
State of one pair (27): chaser position, quaternion, velocity, rate; the target's; work.
"""

import math

import numpy as np
from numba import njit, prange

FAST = dict(fastmath={"contract"}, cache=False, inline="always")


@njit(**FAST)
def rotation(q, i):
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    return (
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip


@njit(**FAST)
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(**FAST)
def turn(r, v):
    return (
        r[0] * v[0] + r[1] * v[1] + r[2] * v[2],
        r[3] * v[0] + r[4] * v[1] + r[5] * v[2],
        r[6] * v[0] + r[7] * v[1] + r[8] * v[2],
    )


@njit(**FAST)
def turn_back(r, v):
    return (
        r[0] * v[0] + r[3] * v[1] + r[6] * v[2],
        r[1] * v[0] + r[4] * v[1] + r[7] * v[2],
        r[2] * v[0] + r[5] * v[1] + r[8] * v[2],
    )


@njit(**FAST)
def relative(s, feature):
    """Rotations, arm of the contact point from the target's centre, and its relative velocity (inertial)."""
    rc, rt = rotation(s, 3), rotation(s, 16)
    lever = turn(rc, feature)
    arm = (s[0] + lever[0] - s[13], s[1] + lever[1] - s[14], s[2] + lever[2] - s[15])
    spin = turn(rc, cross((s[10], s[11], s[12]), feature))
    drag = cross(turn(rt, (s[23], s[24], s[25])), arm)
    u = (
        s[7] + spin[0] - s[20] - drag[0],
        s[8] + spin[1] - s[21] - drag[1],
        s[9] + spin[2] - s[22] - drag[2],
    )
    return rc, rt, arm, u


@njit(**FAST)
def contact_force(s, feature, apex, sine, cosine, stiffness, damping, friction, slip_speed):
    _, rt, arm, u = relative(s, feature)
    p = turn_back(rt, arm)
    x, y, z = p[0] - apex[0], p[1] - apex[1], p[2] - apex[2]
    radius = math.sqrt(y * y + z * z)
    depth = radius * cosine - x * sine
    n = turn(rt, (sine, -cosine * y / radius, -cosine * z / radius))
    along = n[0] * u[0] + n[1] * u[1] + n[2] * u[2]
    normal = 0.0
    if depth > 0:
        normal = max(stiffness * depth - damping * along, 0.0)
    t = (u[0] - n[0] * along, u[1] - n[1] * along, u[2] - n[2] * along)
    grip = friction * normal / math.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2] + slip_speed * slip_speed)
    return n[0] * normal - t[0] * grip, n[1] * normal - t[1] * grip, n[2] * normal - t[2] * grip


@njit(**FAST)
def body(s, i, k, force, torque, mass, inertia, inverse):
    a, b, c, d = s[i + 3], s[i + 4], s[i + 5], s[i + 6]
    w = (s[i + 10], s[i + 11], s[i + 12])
    k[i], k[i + 1], k[i + 2] = s[i + 7], s[i + 8], s[i + 9]
    k[i + 3] = -0.5 * (b * w[0] + c * w[1] + d * w[2])
    k[i + 4] = 0.5 * (a * w[0] + c * w[2] - d * w[1])
    k[i + 5] = 0.5 * (a * w[1] + d * w[0] - b * w[2])
    k[i + 6] = 0.5 * (a * w[2] + b * w[1] - c * w[0])
    k[i + 7], k[i + 8], k[i + 9] = force[0] / mass, force[1] / mass, force[2] / mass
    gyro = cross(w, turn(inertia, w))
    rate = turn(inverse, (torque[0] - gyro[0], torque[1] - gyro[1], torque[2] - gyro[2]))
    k[i + 10], k[i + 11], k[i + 12] = rate


@njit(**FAST)
def flow(s, k, f, feature, masses, jc, jci, jt, jti):
    rc, rt, arm, u = relative(s, feature)
    on_chaser = cross(feature, turn_back(rc, f))
    on_target = turn_back(rt, cross(arm, f))
    body(s, 0, k, f, on_chaser, masses[0], jc, jci)
    opposite = (-f[0], -f[1], -f[2])
    body(s, 13, k, opposite, (-on_target[0], -on_target[1], -on_target[2]), masses[1], jt, jti)
    k[26] = f[0] * u[0] + f[1] * u[1] + f[2] * u[2]


@njit(cache=False)
def weights(stage, delay_steps):
    position = stage - delay_steps
    base = min(math.floor(position) - 1, -3)
    w = np.ones(4)
    for i in range(4):
        for j in range(4):
            if i != j:
                w[i] *= (position - base - j) / (i - j)
    return base, w


@njit(**FAST)
def read(ring, i, base, w):
    mask = ring.shape[0] - 1
    x = y = z = 0.0
    for j in range(4):
        row = (i + base + j) & mask
        x += w[j] * ring[row, 0]
        y += w[j] * ring[row, 1]
        z += w[j] * ring[row, 2]
    return x, y, z


@njit(cache=False, fastmath={"contract"})
def simulate(s, steps, dt, delay, pair, spring, jc, jci, jt, jti, capacity=32):
    """Advance the state `s` (27) in place by `steps` of `dt` seconds."""
    feature = (pair[0], pair[1], pair[2])
    apex = (pair[3], pair[4], pair[5])
    sine, cosine = math.sin(pair[6]), math.cos(pair[6])
    masses = (pair[7], pair[8])
    ring = np.zeros((capacity, 3))
    base_half, w_half = weights(0.5, delay / dt)
    base_full, w_full = weights(1.0, delay / dt)
    k1, k2, k3, k4, y = np.zeros(27), np.zeros(27), np.zeros(27), np.zeros(27), np.zeros(27)
    first = (0.0, 0.0, 0.0)
    for i in range(steps):
        now = contact_force(s, feature, apex, sine, cosine, spring[0], spring[1], spring[2], spring[3])
        row = i & (capacity - 1)
        ring[row, 0], ring[row, 1], ring[row, 2] = now
        half, full = read(ring, i, base_half, w_half), read(ring, i, base_full, w_full)
        flow(s, k1, first, feature, masses, jc, jci, jt, jti)
        for n in range(27):
            y[n] = s[n] + 0.5 * dt * k1[n]
        flow(y, k2, half, feature, masses, jc, jci, jt, jti)
        for n in range(27):
            y[n] = s[n] + 0.5 * dt * k2[n]
        flow(y, k3, half, feature, masses, jc, jci, jt, jti)
        for n in range(27):
            y[n] = s[n] + dt * k3[n]
        flow(y, k4, full, feature, masses, jc, jci, jt, jti)
        for n in range(27):
            s[n] += dt / 6 * (k1[n] + 2 * k2[n] + 2 * k3[n] + k4[n])
        for j in (3, 16):
            size = 1 / math.sqrt(s[j] * s[j] + s[j + 1] * s[j + 1] + s[j + 2] * s[j + 2] + s[j + 3] * s[j + 3])
            for n in range(j, j + 4):
                s[n] *= size
        first = full


@njit(parallel=True, cache=False, fastmath={"contract"})
def simulate_batch(states, steps, dt, delay, pair, spring, jc, jci, jt, jti):
    for lane in prange(states.shape[0]):
        simulate(states[lane], steps, dt, delay, pair, spring, jc, jci, jt, jti)
