"""Sazawal et al.: a delayed contact force adds energy. At which delay does the first contact stop taking any?"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import dockdyn


def energy(delay: float) -> float:
    """Return the energy (J) that both bodies have gained by the first contact, at a delay (s)."""
    scenario = dockdyn.load("sazawal-spring-dashpot", {"loop.delay": float(delay), "duration": "8 s"})
    return dockdyn.summarise(dockdyn.simulate(scenario))["contact.energy_change_J"][0]


delays = np.linspace(0.0, 0.24, 5)  # s
energies = [energy(delay) for delay in delays]
turns = brentq(energy, 0.0, 0.24, xtol=1e-6)  # s
print(f"The contact stops taking energy at {1000 * turns:.1f} ms of delay")
margins = dockdyn.margins(dockdyn.load("sazawal-spring-dashpot"))
print(f"Small motions in contact are stable up to {1000 * margins['critical_delay_s']:.1f} ms")

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(1000 * delays, 1000 * np.array(energies), "o-")
ax.axhline(0, color="grey", linewidth=0.8)
ax.set(xlabel="delay of the loop, ms", ylabel="energy after the first contact, mJ")
figure.savefig("energy_of_a_late_contact.png", dpi=100)
