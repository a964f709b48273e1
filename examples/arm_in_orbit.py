"""Gibson and Murphey: an arm in orbit brings a payload into its bay; two impacts on the way."""

from dockdyn import load, simulate, summarise
from dockdyn.kinds.orbital_arm.snapshots import snapshots
from dockdyn.report.charts.print_chart import print_chart

run = simulate(load("gibson-2d"))
for impact in summarise(run)["impacts"]:
    print(f"{impact['time_s']:.3f} s")
print_chart(snapshots(run)).savefig("arm_in_orbit.png", dpi=100, facecolor="white")
