"""Rig engineer: how much delay does a spring and dashpot tolerate? The closed form over both of them."""

import matplotlib.pyplot as plt
import numpy as np

from dockdyn.stability import critical_delay

MASS = 375.0  # kg, effective at the contact
stiffness = np.geomspace(100, 10_000, 200)  # N/m

figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for damping in (50, 100, 200, 400):  # N s/m
    delay = np.asarray(critical_delay(damping, stiffness, MASS))
    ax.loglog(stiffness, 1000 * delay, label=f"{damping} N s/m")
ax.set(xlabel="stiffness, N/m", ylabel="critical delay, ms")
ax.legend(title="damping", frameon=False)
ax.grid(alpha=0.3, which="both")
figure.savefig("stability_of_a_compliance.png", dpi=100)

print(f"k = 1000 N/m, b = 200 N s/m: {1000 * float(critical_delay(200, 1000, MASS)):.1f} ms")
