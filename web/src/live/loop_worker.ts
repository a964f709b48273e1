// The worker of a page that judges a loop again.
import { LoopUnit } from "./loop_unit.ts";
import { serve } from "./worker.ts";

serve(LoopUnit.load);
