// The script of the page of a run that computes.
import { Live } from "./live/live.ts";
import { start } from "./main.ts";

void start(Live);
