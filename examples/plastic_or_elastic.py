"""Cyril et al.: what a plastic and an elastic impact leave of the motion of an arm and its payload."""

import matplotlib.pyplot as plt
import numpy as np

from dockdyn import load, simulate, summarise

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for preset, look in (("cyril-plastic", "-"), ("cyril-elastic", "--")):
    run = simulate(load(preset, {"flexible.modes": 1, "duration": "5 s"}))
    told = summarise(run)
    print(
        f"{preset}: {1000 * run.impact_energy_loss.item():.1f} mJ lost, momentum kept to "
        f"{max(told['linear_momentum_error'], told['angular_momentum_error']):.0e}"
    )
    for joint in ("theta2", "theta3", "theta4"):
        ax.plot(run.time, np.degrees(run.joint_angle.sel(joint=joint)), look, label=f"{joint}, {preset[6:]}")
ax.set(xlabel="time since the impact, s", ylabel="joint angle, deg")
ax.legend(frameon=False, ncols=2, fontsize=8)
ax.grid(alpha=0.3)
figure.savefig("plastic_or_elastic.png", dpi=100)
