// The script of the page of margins that computes.
import { LiveMargins } from "./live/margins.ts";
import { start } from "./main.ts";

void start(LiveMargins);
