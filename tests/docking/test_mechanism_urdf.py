"""Bodies of a mechanism from URDF files: beside Pinocchio's reading of them, what the scenario adds, and what is refused."""

import jax
import numpy as np
import pytest
import tomlkit
from helpers.refusals import refused
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.results.plan import jit_once

INERTIAL = """<inertial><origin xyz="{centre}" rpy="0.2 -0.1 0.4"/><mass value="{mass}"/>
<inertia ixx="0.5" ixy="0.02" ixz="-0.01" iyy="0.7" iyz="0.03" izz="0.6"/></inertial>"""
ARM = f"""<robot name="arm">
<link name="foot">{{foot}}</link>
<link name="flange"/>
<link name="boom">{INERTIAL.format(centre="1 0.1 0", mass=4)}</link>
<link name="slide">{INERTIAL.format(centre="0.2 0 0.1", mass=2)}</link>
<link name="pad">{INERTIAL.format(centre="0 0.1 0.1", mass=1)}</link>
<link name="tool0"/>
<joint name="rim" type="fixed"><parent link="foot"/><child link="flange"/><origin xyz="0.1 0 0.2" rpy="0.3 0.1 0"/></joint>
<joint name="swing" type="revolute"><parent link="flange"/><child link="boom"/><origin xyz="0 0.2 0" rpy="0 0.4 0.2"/>
<axis xyz="0.1 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.7" friction="0.3"/></joint>
<joint name="reach" type="prismatic"><parent link="boom"/><child link="slide"/><origin xyz="2 0 0" rpy="0.1 0 0.5"/>
<axis xyz="1 0 0.2"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="glue" type="fixed"><parent link="slide"/><child link="pad"/><origin xyz="0.3 0 0" rpy="0 0 1"/></joint>
<joint name="end" type="fixed"><parent link="pad"/><child link="tool0"/><origin xyz="0.3 0 0"/></joint>
</robot>"""
FOOT = INERTIAL.format(centre="0.05 0 0.1", mass=3)
PLACE, TURN = [0.7, 0.2, -0.1], [0.3, -0.2, 0.5]
START = {"swing": (0.4, -0.6), "reach": (0.2, 0.3)}


def scenario(folder, text):
    (folder / "arm.urdf").write_text(text, encoding="utf-8")
    (folder / "tight.urdf").write_text(text.replace('lower="-1" upper="1"', 'upper="0"'), encoding="utf-8")
    (folder / "rough.urdf").write_text(text.replace('friction="0.3"', 'friction="dry"'), encoding="utf-8")
    attitude = Rotation.from_rotvec(TURN).as_quat(scalar_first=True).tolist()
    return {
        "schema": 2,
        "duration": 1.0,
        "body": {"bus": {"mass": 30.0, "inertia": [5.0, 6.0, 7.0], "rate": [0.2, -0.1, 0.3]}},
        "tree": {
            "arm": {
                "on": "bus",
                "position": PLACE,
                "attitude": attitude,
                "urdf": "arm.urdf",
                "body": {
                    "boom": {"joint": {"start": START["swing"][0], "start_rate": START["swing"][1]}},
                    "slide": {
                        "joint": {"start": START["reach"][0], "start_rate": START["reach"][1], "stiffness": 3.0},
                        "feature": {"tip": {"position": [0.1, 0, 0], "radius": 0.02}},
                    },
                },
            }
        },
    }


def read(folder, case):
    file = folder / "case.toml"
    file.write_text(tomlkit.dumps(case), encoding="utf-8")
    return dockdyn.load(file)


@jit_once
def at_start(content):
    model = content.model()
    x = model.initial()
    now = model.acting(x, model.placement(x), ())
    return now.rates.joints, [pose.position.array() for pose in model.poses]


@pytest.mark.full_cases("heavy root")
@pytest.mark.parametrize("foot", [FOOT, ""], ids=["heavy root", "massless root"])
def test_the_arm_is_that_of_pinocchio(tmp_path, foot):
    """Places of the links and accelerations of the joints, the URDF welded to a bus."""
    pin = pytest.importorskip("pinocchio", reason="cross-check with Pinocchio (tests only)")
    content = read(tmp_path, scenario(tmp_path, ARM.format(foot=foot))).content
    names = [body.name for body in content.body]
    heavy = ["arm.foot"] if foot else []
    assert names == ["bus", *heavy, "arm.boom", "arm.slide", "arm.pad"]
    joints, places = jax.tree.map(np.asarray, at_start(content))

    arm = pin.buildModelFromUrdf(str(tmp_path / "arm.urdf"))
    model = pin.Model()
    bus = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "bus")
    model.appendBodyToJoint(bus, pin.Inertia(30.0, np.zeros(3), np.diag([5.0, 6.0, 7.0])), pin.SE3.Identity())
    frame = model.addFrame(pin.Frame("bus", bus, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    whole = pin.appendModel(model, arm, frame, pin.SE3(Rotation.from_rotvec(TURN).as_matrix(), np.array(PLACE)))
    whole.gravity = pin.Motion.Zero()
    data, q, v = whole.createData(), pin.neutral(whole), np.zeros(whole.nv)
    v[3:6] = [0.2, -0.1, 0.3]
    tau = np.zeros(whole.nv)
    for name, (place, speed) in START.items():
        joint = whole.joints[whole.getJointId(name)]
        q[joint.idx_q], v[joint.idx_v] = place, speed
    swing, reach = (whole.joints[whole.getJointId(name)].idx_v for name in START)
    rate = START["swing"][1]
    tau[swing], tau[reach] = -0.7 * rate - 0.3 * rate / np.hypot(rate, 1e-3), -3.0 * START["reach"][0]
    a = pin.aba(whole, data, q, v, tau)
    np.testing.assert_allclose(joints, a[[swing, reach]], rtol=0, atol=1e-10 * np.abs(a).max())
    pin.framesForwardKinematics(whole, data, q)
    for name, centre in (("boom", [1, 0.1, 0]), ("slide", [0.2, 0, 0.1]), ("pad", [0, 0.1, 0.1])):
        there = data.oMf[whole.getFrameId(name)].act(np.array(centre, float))
        np.testing.assert_allclose(places[names.index(f"arm.{name}")], there, rtol=0, atol=1e-12)


def test_what_is_stored_needs_no_file(tmp_path):
    """The scenario written out and read elsewhere is the same, with what it added to links."""
    case = read(tmp_path, scenario(tmp_path, ARM.format(foot=FOOT)))
    assert case.content.find("arm.slide.tip", ("feature",))[0] == "arm.slide"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "written.toml").write_text(case.text(), encoding="utf-8")
    assert dockdyn.load(elsewhere / "written.toml").content == case.content


def test_limits_are_end_stops_where_their_stiffness_is_stated(tmp_path):
    """The file does not say how stiff they are; a stroke of the scenario comes before the file's."""
    case = scenario(tmp_path, ARM.format(foot=FOOT))
    boom, slide = (case["tree"]["arm"]["body"][name]["joint"] for name in ("boom", "slide"))
    boom["stop_stiffness"] = 200.0
    joints = {body.name: body.joint for body in read(tmp_path, case).content.body if body.joint is not None}
    assert joints["arm.boom"].stroke == [-1.0, 1.0] and joints["arm.slide"].stroke is None
    assert (joints["arm.boom"].friction, joints["arm.slide"].friction) == (0.3, None)
    boom |= {"stroke": [-0.5, 0.7], "friction": 0.0}
    slide["stroke"] = [-0.1, 0.5]
    with pytest.raises(dockdyn.ScenarioError, match="stroke and stop_stiffness belong together"):
        read(tmp_path, case)
    slide["stop_stiffness"] = 300.0
    joints = {body.name: body.joint for body in read(tmp_path, case).content.body if body.joint is not None}
    assert joints["arm.boom"].stroke == [-0.5, 0.7] and joints["arm.slide"].stroke == [-0.1, 0.5]
    assert joints["arm.boom"].friction == 0.0


@pytest.mark.full
def test_limits_without_stops_are_told_where_a_run_leaves_them(tmp_path):
    """The slide flies out of its limits; before that, and where it has stops, nothing is said."""
    case = scenario(tmp_path, ARM.format(foot=FOOT)) | {"duration": 2.0}
    case["tree"]["arm"]["body"]["slide"]["joint"]["start_rate"] = 2.0
    joints = {body.name: body.joint for body in read(tmp_path, case).content.body if body.joint is not None}
    assert joints["arm.boom"].range == joints["arm.slide"].range == [-1.0, 1.0]
    assert joints["arm.boom"].stroke is None

    def told():
        run = dockdyn.simulate(read(tmp_path, case))
        return run, [line for line in dockdyn.summarise(run)["warnings"] if "range" in line]

    run, lines = told()
    travel = run.joint_angle.sel(joint="arm.slide")
    left = float(run.time[np.flatnonzero(np.abs(travel.values) > 1.0)[0]])
    words = f"joint 'arm.slide' leaves its range of -1 to 1 m at t = {left:.6g} s"
    assert any(line.startswith(words) and "stop_stiffness" in line for line in lines)
    case["duration"] = 0.9 * left
    assert not [line for line in told()[1] if "slide" in line]
    case |= {"duration": 2.0}
    case["tree"]["arm"]["body"]["slide"]["joint"]["stop_stiffness"] = 1e5
    assert not [line for line in told()[1] if "slide" in line]


def changed(case, link=None, **keys):
    tree = case["tree"]["arm"]
    (tree["body"][link] if link else tree).update(keys)
    return case


WRONG = {
    "no file": (lambda case: changed(case, urdf="other.urdf"), "no such file"),
    "a key of a link": (lambda case: changed(case, mass=3.0), "tree.arm.mass: is of a link"),
    "a place of a link": (
        lambda case: changed(case, "boom", position=[0, 0, 0]),
        "tree.arm.body.boom.position: is in the URDF",
    ),
    "an axis": (
        lambda case: changed(case, "boom", joint={"axis": [0, 0, 1]}),
        "tree.arm.body.boom.joint.axis: is in the URDF",
    ),
    "where a fixed joint begins": (
        lambda case: changed(case, body={"pad": {"joint": {"start": 0.1}}}),
        "tree.arm.body.pad.joint.start = 0.1: its joint is fixed in the URDF",
    ),
    "a limit without room": (
        lambda case: changed(case, urdf="tight.urdf") | changed(case, "boom", joint={"stop_stiffness": 1.0}),
        "stroke must be two numbers, the smallest first",
    ),
    "friction that is no number": (lambda case: changed(case, urdf="rough.urdf"), "joint swing: friction = 'dry'"),
    "no body": (lambda case: changed(case, on="buss"), "no such body"),
}


@pytest.mark.parametrize(("change", "words"), WRONG.values(), ids=WRONG)
def test_bad_input_gives_one_line(check_file_refused, tmp_path, change, words):
    check_file_refused(change(scenario(tmp_path, ARM.format(foot=FOOT))), words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"on": "buss"}, "tree.arm.on = 'buss': no such body; did you mean 'bus'?"),
        ({"boom": {"joint": {"start": "5 kg"}}}, "tree.arm.body.boom.joint.start = '5 kg': must be"),
        ({"slide": {"mas": 3.0}}, "tree.arm.body.slide.mas: unknown key; did you mean 'mass'?"),
        ({"slide": {"feature": {"tip": {"position": [0, 0, 0], "radius": -1}}}}, "body.slide.feature.tip.radius = -1: must be"),
    ],
)  # fmt: skip
def test_a_key_of_a_tree_is_told_as_the_file_has_it(tmp_path, change, words):
    case = scenario(tmp_path, ARM.format(foot=FOOT))
    tree = case["tree"]["arm"]
    for key, value in change.items():
        (tree["body"] if key in tree["body"] else tree)[key] = value
    with refused("case.toml: tree.arm.", words):
        read(tmp_path, case)


def test_a_key_of_a_link_that_was_set_is_told_as_it_was_set(tmp_path):
    (tmp_path / "case.toml").write_text(tomlkit.dumps(scenario(tmp_path, ARM.format(foot=FOOT))), encoding="utf-8")
    with refused("case.toml: body.arm.boom.joint.start = '5 kg': must be"):
        dockdyn.load(tmp_path / "case.toml", {"body.arm.boom.joint.start": "5 kg"})
