"""SITS: a gain tuned at 20 kN/m meets 100 kN/m and the bounce gains energy; a lead of the command hardly minds."""

import matplotlib.pyplot as plt

import dockdyn

BOUNCE = {"contact.spring.bilateral": False, "contact.spring.normal.stiffness": "100 kN/m", "duration": "1 s"}
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for law in ("fixed-gain", "command-lead"):
    run = dockdyn.simulate(dockdyn.load("unknown-stiffness", BOUNCE | {"loop.compensator.law": law}))
    summary = dockdyn.summarise(run)
    print(f"{law}: restitution {summary['apparent_restitution']:.4f}, without rig {summary['ideal_restitution']:.4f}")
    ax.plot(run.time, 1000 * run.velocity.values.squeeze(), label=law)
ax.plot(run.time, 1000 * run.ideal_velocity.values.squeeze(), "--", color="grey", label="without rig")
ax.set(xlabel="time, s", ylabel="velocity of the model, mm/s")
ax.legend(frameon=False)
ax.grid(alpha=0.3)
figure.savefig("rebound_on_a_rig.png", dpi=100)
