"""Mechanisms engineer: 64 approaches within a standard's limits; how many are captured, and which loads come with it?"""

import matplotlib.pyplot as plt
import numpy as np

import dockdyn

cases = dockdyn.campaign(dockdyn.load("idss-probe-cone"), "idss", runs=64)
answers = dockdyn.campaign_answers(cases)
print(f"captured: {answers['capture_probability']:.2f} of {answers['runs']} approaches")

speed, force, caught = (cases[name].values for name in ("approach.closing_speed", "peak_force_N", "captured"))
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for outcome, mark, words in ((1, "o", "captured"), (0, "x", "not captured")):
    some = np.asarray(caught) == outcome
    ax.plot(100 * speed[some], force[some], mark, label=words)
ax.set(xlabel="closing speed, cm/s", ylabel="peak force, N")
ax.legend(frameon=False)
ax.grid(alpha=0.3)
figure.savefig("capture_campaign.png", dpi=100)
