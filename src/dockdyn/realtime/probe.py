"""The program that measures: a process of its own with nothing else loaded, scheduled as the cycle of a rig would be.

`python -m dockdyn.realtime.probe PERIOD COUNT CPU EXCHANGES` writes one line about how it ran, the times of the exchanges as
64-bit floats (s), then the delays of the wake-ups as 64-bit integers (ns).
"""

from __future__ import annotations

import json
import sys

from dockdyn.realtime.round_trip import measure_round_trips
from dockdyn.realtime.wakeups import become_real_time, measure_wakeups


def main() -> None:
    period, count, cpu, exchanges = (int(word) for word in sys.argv[1:])
    scheduling = become_real_time(None if cpu < 0 else cpu)
    print(json.dumps(scheduling._asdict()), flush=True)
    trips = measure_round_trips(exchanges)
    late = measure_wakeups(period, count)
    sys.stdout.buffer.write(trips.tobytes() + late.tobytes())


if __name__ == "__main__":
    main()
