"""Gibson and Murphey: an arm in orbit brings a payload into its bay; two impacts on the way."""

from dockdyn import load, simulate, summarise
from dockdyn.papers.gibson.snapshots import snapshots
from dockdyn.report.charts.print_chart import print_chart

scenario = load("gibson-2d")
run = simulate(scenario)
struck = [contact["onset_s"] for contact in summarise(run)["contacts"]]
for time in struck:
    print(f"{time:.3f} s")
shown = [(0.0, "start"), *((time, "impact") for time in struck)]
print_chart(snapshots(run, scenario.content, shown)).savefig("arm_in_orbit.png", dpi=100, facecolor="white")
