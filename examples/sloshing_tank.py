"""A servicer with a half-full tank docks: by how much its propellant sloshes and loads it, over the slosh frequency."""

import matplotlib.pyplot as plt
import numpy as np

from dockdyn import load, simulate, summarise

TANK = {
    "on": "chaser",
    "position": [0, 0, -0.25],
    "axis": [0, 0, 1],  # across the way on which it docks
    "radius": "0.5 m",
    "fill": "0.5 m",
    "density": "1010 kg/m**3",  # hydrazine
    "damping_ratio": 0.01,
    "frequency": "0.1 Hz",
}
docking = load("probe-cone").nominal() | {"tank": {"fuel": TANK}}
frequencies = np.geomspace(0.05, 1.0, 14)  # Hz
told = [summarise(simulate(load(docking, {"tank.fuel.frequency": float(one)}))) for one in frequencies]
waves = [1000 * one["tank.fuel.peak_wave_m"] for one in told]
forces = [one["tank.fuel.peak_force_N"] for one in told]
print(f"{told[0]['tank.fuel.slosh_mass_kg']:.1f} kg slosh, by {waves[0]:.0f} mm at {frequencies[0]:.2f} Hz")

figure, (above, below) = plt.subplots(2, 1, figsize=(6, 4), layout="constrained", sharex=True)
above.semilogx(frequencies, waves, "o-")
above.set(ylabel="wave at the wall, mm")
below.semilogx(frequencies, forces, "o-")
below.set(xlabel="slosh frequency, Hz", ylabel="force on the liquid, N")
for ax in (above, below):
    ax.grid(alpha=0.3, which="both")
figure.savefig("sloshing_tank.png", dpi=100)
