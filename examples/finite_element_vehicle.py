"""A vehicle's finite elements, written as Nastran does, dock: the bending moment in its boom, over a campaign of approaches."""

import numpy as np
from pyyeti.nastran import op4

import dockdyn

COUNT, LENGTH, BENDING, MASS = 12, 3.0, 2e5, 8.0  # elements of a boom, m, N m², kg/m
BUS, TURNING = 1800.0, 900.0  # kg, kg m², on the boom's root
n = LENGTH / COUNT

element = np.zeros((12, 12))  # stiffness of a beam along x, six displacements at each end
for at, stiff in ((0, 1e7 / n), (3, 1e5 / n)):
    element[np.ix_([at, at + 6], [at, at + 6])] = stiff * np.array([[1, -1], [-1, 1]])
line = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]])
for rows, sign in (([1, 5, 7, 11], n), ([2, 4, 8, 10], -n)):
    scale = np.array([1, sign, 1, sign])
    element[np.ix_(rows, rows)] = BENDING / n**3 * line * np.outer(scale, scale)

size = 6 * (COUNT + 1)
stiffness, mass, moment = np.zeros((size, size)), np.zeros(size), np.zeros((1, size))
for one in range(COUNT):
    stiffness[6 * one : 6 * one + 12, 6 * one : 6 * one + 12] += element
    mass[6 * one : 6 * one + 12] += MASS * n / 2 * np.array([1, 1, 1, 1e-3, n**2 / 12, n**2 / 12] * 2)
mass[:6] += [BUS] * 3 + [TURNING] * 3
moment[:, :12] = element[5]  # about z at the root
op4.write("vehicle.op4", {"mgg": np.diag(mass), "kgg": stiffness, "root": moment})

along = np.linspace(0, LENGTH, COUNT + 1)
masses, turning = mass[::6], mass[5::6]
centre = masses @ along / masses.sum()
across = masses @ (along - centre) ** 2 + turning.sum()
tip = [LENGTH - centre, 0, 0]  # m, from the centre of mass
files = {f"{name}_matrix": {"file": "vehicle.op4"} for name in ("mass", "stiffness")}
docking = dockdyn.load("probe-cone").nominal()
docking["body"]["chaser"] = {
    "mass": masses.sum(),
    "inertia": [mass[3::6].sum(), across, across],
    "feature": {"probe": {"position": tip, "radius": "15 mm"}},
    "flexible": files
    | {
        "kind": "finite-elements",
        "length_unit": "m",
        "mass_unit": "kg",
        "damping_ratio": 0.01,
        "up_to": "100 Hz",
        "point": {"tip": {"position": tip, "row": 6 * COUNT}},
        "recovery": {"root": {"file": "vehicle.op4", "matrix": "root", "unit": "N m"}},
    },
}
del docking["loop"]  # in flight nothing delays a force
docking["approach"]["closing_speed"] = {"distribution": "uniform", "low": "20 mm/s", "high": "60 mm/s"}
docking["approach"]["lateral_offset"] = {"distribution": "disc", "radius": "0.1 m"}
docking |= {"duration": "12 s", "integrator": {"tolerance": 1e-7}, "output": {"interval": "10 ms"}}
docking["requirements"] = {"recovery.chaser.root.peak": "< 200"}  # N m
peaks = dockdyn.campaign(dockdyn.load(docking), "vehicle", runs=32)["recovery.chaser.root.peak"].values
print(
    f"moment at the boom's root: median {np.median(peaks):.1f} N m, of 1 in 20 over {np.percentile(peaks, 95):.1f} N m"
)
