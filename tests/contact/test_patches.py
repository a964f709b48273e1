"""Faces that press over an area, by clouds of points: beside closed forms, each of which is derived twice."""

import numpy as np
import pytest
import trimesh
from contact_patches import (
    ASIDE,
    BLOCK,
    CLEARANCE,
    DEEP,
    LONG,
    PRESSURE,
    RADIUS,
    block,
    block_closed_form,
    block_force,
    body_of,
    punch_closed_form,
    punch_force,
    shaft_closed_form,
    shaft_force,
)
from helpers.refusals import refused
from patch_places import PLACES
from scipy.integrate import quad, solve_ivp

import dockdyn
from dockdyn.scenario.meshes.kept import cloud_of
from dockdyn.scenario.meshes.mesh_file import MeshFile

TILTS = 0.0, np.radians(0.2), np.radians(1.0)


@pytest.mark.full
def test_closed_forms_are_derived_again():
    """By quadrature: of the punch, of the shaft exactly, whose form is of first order in e/R, of blocks over strips."""
    for tilt in TILTS:
        sine = np.sin(tilt)
        reach = min(DEEP / sine, RADIUS) if tilt else RADIUS
        end = quad(lambda x, s=sine: (DEEP - x * s) * 2 * np.sqrt(RADIUS**2 - x**2), -RADIUS, reach, epsabs=0)[0]

        def strip(angle, sine=sine, tilt=tilt):
            depth = max(DEEP + RADIUS * sine * np.cos(angle), 0)
            return quad(lambda up: depth - up * np.cos(tilt), 0, depth / np.cos(tilt), epsabs=0)[0]

        edge = [np.pi - np.arccos(reach / RADIUS)] if tilt else None
        side = 2 * RADIUS * quad(strip, 0, np.pi, points=edge, epsabs=0)[0]
        assert punch_closed_form(tilt) == pytest.approx(PRESSURE * (end + side), rel=1e-8)

    def along(angle):
        far = np.hypot(RADIUS * np.cos(angle) + ASIDE, RADIUS * np.sin(angle))
        deep = max(far - RADIUS - CLEARANCE, 0)
        return (LONG * deep + deep**2) * (RADIUS * np.cos(angle) + ASIDE) / far

    edge = np.arccos(CLEARANCE / ASIDE)
    exact = PRESSURE * RADIUS * 2 * quad(along, 0, np.pi, points=[edge], epsabs=0)[0]
    assert shaft_closed_form() == pytest.approx(exact, rel=ASIDE / RADIUS)
    for turn, shift in PLACES:

        def shared(x, turn=turn, shift=shift):
            """How long the line at x is within both rectangles."""
            low, high = -BLOCK[1] / 2, BLOCK[1] / 2
            for axis, size in zip(((np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))), BLOCK, strict=False):
                away = (x - shift[0]) * axis[0] - shift[1] * axis[1]
                if abs(axis[1]) < 1e-12:
                    high = high if abs(away) <= size / 2 else low
                    continue
                ends = sorted((side * size / 2 - away) / axis[1] for side in (-1, 1))
                low, high = max(low, ends[0]), min(high, ends[1])
            return max(high - low, 0)

        strips = np.linspace(-BLOCK[0] / 2, BLOCK[0] / 2, 200_001)
        area = np.mean([shared(x) for x in (strips[1:] + strips[:-1]) / 2]) * BLOCK[0]
        assert block_closed_form(turn, shift) == pytest.approx(PRESSURE * DEEP * area, rel=1e-5)


@pytest.mark.full
@pytest.mark.parametrize("tilt", TILTS)
def test_a_flat_punch_bears_its_area(load, tmp_path, tilt):
    assert punch_force(load, tmp_path, 8_000, tilt) == pytest.approx(punch_closed_form(tilt), rel=5e-3)


@pytest.mark.full
def test_a_shaft_in_a_wider_hole_bears_along_its_arc(load, tmp_path):
    assert shaft_force(load, tmp_path, 8_000) == pytest.approx(shaft_closed_form(), rel=5e-3)


@pytest.mark.full
@pytest.mark.parametrize(("turn", "shift"), PLACES)
def test_blocks_that_overlap_in_part_bear_what_they_share(load, tmp_path, turn, shift):
    assert block_force(load, tmp_path, 20_000, turn, shift) == pytest.approx(block_closed_form(turn, shift), rel=0.01)


@pytest.mark.full
def test_errors_fall_faster_than_one_over_the_root_of_the_points(tmp_path):
    """Of blocks in 40 places, the points of one of them, beside the depth in the other one written out here."""
    file, half, rng = block(tmp_path), BLOCK / 2, np.random.default_rng(57)
    places = [(rng.uniform(0, 2 * np.pi), tuple(rng.uniform(-0.08, 0.08, 2))) for _ in range(40)]
    counts, off = (2_000, 8_000, 32_000), []
    for count in counts:
        spread, errors = cloud_of(MeshFile(file, 0, None), count, 0.0), []
        for turn, shift in places:
            c, s = np.cos(turn), np.sin(turn)
            at = spread.points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + [*shift, BLOCK[2] - DEEP]
            from_sides = half - np.abs(at)
            upwards = (from_sides.min(axis=1) > 0) & (from_sides.argmin(axis=1) == 2)
            force = PRESSURE * 0.22 * spread.shares @ np.where(upwards, from_sides[:, 2], 0)
            errors.append(force / block_closed_form(turn, shift) - 1)
        off.append(np.sqrt(np.mean(np.square(errors))))
    assert np.polyfit(np.log(counts), np.log(off), 1)[0] < -0.6  # −3/4, where only pieces that are cut are off
    assert off[-1] < 4e-3


def pushed_block(folder, friction, push, duration, count=96):
    """Tables of a block that a force presses on the ground and another one pushes along it, both in the plane that touches."""
    pressing, stiffness = 200.0, 1e8  # N, N/m
    file, height = block(folder), BLOCK[2] / 2
    deep = pressing / (stiffness * BLOCK[0] * BLOCK[1] / trimesh.load_mesh(file).area)

    def thruster(direction, force):
        return {"body": "block", "position": [0.0, 0.0, -height], "direction": direction, "force": force}

    plane = {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}
    heavy = [1e6, 1e6, 1e6]
    upper = body_of(file, count, None, mass=2.0, inertia=heavy, position=[0.0, 0.0, height - deep])
    normal = {"law": "hertz", "exponent": 1, "stiffness": stiffness}
    return pressing, {
        "schema": 2,
        "duration": duration,
        "body": {"block": upper, "ground": {"fixed": True, "position": [0.0, 0.0, 0.0], "surface": {"top": plane}}},
        "contact": {"skin": {"between": ["block.skin", "ground.top"], "normal": normal, "friction": friction}},
        "thruster": {"press": thruster([0.0, 0.0, -1.0], pressing), "push": thruster([0.6, 0.8, 0.0], push)},
        "integrator": {"tolerance": 1e-12},
    }


@pytest.mark.full
def test_a_cloud_that_sticks_swings_as_the_springs_of_its_face(load, tmp_path):
    """By x = F/K (1 − cos ω t), K the share of the face in the stiffness along the surface, where nothing slips."""
    along, push, mass = 4e6, 30.0, 2.0
    pressing, tables = pushed_block(tmp_path, {"law": "stick-slip", "coefficient": 0.5, "stiffness": along}, push, 0.02)
    run = dockdyn.simulate(load(tables))
    spring = along * 0.06 / 0.22
    assert 2 * push < 0.5 * pressing
    expected = push / spring * (1 - np.cos(np.sqrt(spring / mass) * run["time"].values))
    places = run["position"].sel(body="block").values
    assert places[:, :2] @ [0.6, 0.8] == pytest.approx(expected, abs=1e-7 * expected.max())
    assert places[:, :2] @ [0.8, -0.6] == pytest.approx(0, abs=1e-9 * expected.max())


@pytest.mark.full
def test_bristles_of_a_cloud_bend_as_those_of_its_face(load, tmp_path):
    """Beside SciPy's LSODA: a block that is pushed by more than friction holds, over its presliding into sliding."""
    coefficient, static, slow, presliding, tau, push = 0.3, 0.4, 5e-3, 5e-5, 1e-3, 90.0
    friction = {
        "law": "lugre",
        "coefficient": coefficient,
        "static_coefficient": static,
        "stribeck_speed": slow,
        "presliding": presliding,
        "retardation_time": tau,
    }
    pressing, tables = pushed_block(tmp_path, friction, push, 0.03)
    run = dockdyn.simulate(load(tables))

    def rates(_, state):
        _, speed, bent = state
        most = coefficient + (static - coefficient) * np.exp(-((speed / slow) ** 2))
        bending = speed - coefficient / presliding * abs(speed) / most * bent
        force = push - pressing * coefficient / presliding * (bent + tau * bending)
        return speed, force / 2.0, bending

    time = run["time"].values
    known = solve_ivp(rates, (0, time[-1]), [0, 0, 0], method="LSODA", rtol=1e-12, atol=1e-15, t_eval=time)
    places = run["position"].sel(body="block").values[:, :2] @ [0.6, 0.8]
    assert known.y[0, -1] > 10 * presliding
    assert places == pytest.approx(known.y[0], abs=1e-6 * known.y[0, -1])


def test_a_cloud_of_too_many_points_remembers_nothing(load, tmp_path):
    friction = {"law": "lugre", "coefficient": 0.3, "presliding": 1e-5}
    with refused("contact.skin.friction.law = 'lugre'", "1002 pairs, more than 500", "or its count at most 500"):
        load(pushed_block(tmp_path, friction, 1.0, 0.01, count=1002)[1])
