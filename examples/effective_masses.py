"""Paraskevas et al.: which masses reverse the motion after an impact docking, and what speed latches."""

import matplotlib.pyplot as plt
import numpy as np

from dockdyn import impact

ratios = np.geomspace(0.05, 20, 300)  # of the masses that meet
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for chaser in (0.2, 1.0, 5.0):  # of the chaser's two masses
    left = [1 - 2 * float(impact.chain_mass_ratio((chaser * r, r), (1.0, 1.0))) for r in ratios]
    ax.semilogx(ratios, left, label=f"{chaser:g}")
ax.axhline(0, color="grey", linewidth=0.8)
ax.set(xlabel="mass ratio at the contact, m₂/m₃", ylabel="relative velocity after / before")
ax.legend(title="m₁/m₂", frameon=False)
ax.grid(alpha=0.3)
figure.savefig("effective_masses.png", dpi=100)

speed = impact.minimum_latching_velocity(15, 17, 100, angle=np.pi / 4, axial_length=0.02)
print(f"15 kg and 17 kg, 100 N/m over 20 mm at 45 degrees: latches from {1000 * float(speed):.1f} mm/s on")
