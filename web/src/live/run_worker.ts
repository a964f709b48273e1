// The worker of a page that runs a scenario again.
import { Unit } from "./unit.ts";
import { serve } from "./worker.ts";

serve(Unit.load);
