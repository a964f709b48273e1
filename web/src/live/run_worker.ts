// The worker of a page that runs a scenario again.
import type { PackedPrograms } from "./programs.ts";
import { RigUnit, type PackedRig } from "./rig_unit.ts";
import { Unit, type PackedUnit } from "./unit.ts";
import { serve } from "./worker.ts";

serve<PackedPrograms>((packed) => ("ideal" in packed.calls ? RigUnit.load(packed as PackedRig) : Unit.load(packed as PackedUnit)));
