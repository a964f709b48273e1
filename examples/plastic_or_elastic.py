"""Cyril et al.: what a plastic and an elastic impact leave of the motion of an arm and its payload."""

import matplotlib.pyplot as plt
import numpy as np

from dockdyn import load, simulate, summarise

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for preset, look in (("cyril-plastic", "-"), ("cyril-elastic", "--")):
    run = simulate(load(preset, {"body.link1.flexible.bending_modes": [1, 0], "duration": "5 s"}))
    told = summarise(run)
    error = max(told["linear_momentum_error"], told["angular_momentum_error"])
    print(f"{preset}: {1000 * abs(run.work[-1].item()):.1f} mJ lost, momentum kept to {error:.0e}")
    for joint in ("link1", "link2", "hand"):
        ax.plot(run.time, np.degrees(run.joint_angle.sel(joint=joint)), look, label=f"{joint}, {preset[6:]}")
ax.set(xlabel="time since the impact, s", ylabel="joint angle, deg")
ax.legend(frameon=False, ncols=2, fontsize=8)
ax.grid(alpha=0.3)
figure.savefig("plastic_or_elastic.png", dpi=100)
