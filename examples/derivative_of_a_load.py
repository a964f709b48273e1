"""Researcher: the derivative of a peak force, through the impact, beside differences."""

import dockdyn

scenario = dockdyn.load("paraskevas-a")
answer = dockdyn.sensitivity(
    scenario, "peak_force_N", ["body.chaser-front.velocity", "contact.fronts.normal.stiffness"]
)
print(f"peak force {answer['value']:.3f} {answer['unit']}")
for row in answer["to"]:
    low, high = row["differences"]
    print(f"per {row['unit']} of {row['key']}: {row['derivative']:.6g}, by differences {low:.6g} and {high:.6g}")
