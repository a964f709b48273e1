"""Sazawal et al.: a delayed contact force adds energy. At which delay does the first contact stop taking any?"""

import matplotlib.pyplot as plt
import numpy as np

import dockdyn

delays = np.linspace(0.0, 0.24, 5)  # s
energies = []  # J, of both bodies, after the first contact less before it
for delay in delays:
    scenario = dockdyn.load("sazawal-spring-dashpot", {"loop.delay": float(delay), "duration": "8 s"})
    energies.append(dockdyn.summarise(dockdyn.simulate(scenario))["kinetic_energy_change_J"][0])

turns = np.interp(0.0, energies, delays)
print(f"The contact stops taking energy at {1000 * turns:.0f} ms of delay")
margins = dockdyn.margins(dockdyn.load("sazawal-spring-dashpot"))
print(f"Small motions in contact are stable up to {1000 * margins['critical_delay_s']:.0f} ms")

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(1000 * delays, 1000 * np.array(energies), "o-")
ax.axhline(0, color="grey", linewidth=0.8)
ax.set(xlabel="delay of the loop, ms", ylabel="energy after the first contact, mJ")
figure.savefig("energy_of_a_late_contact.png", dpi=100)
