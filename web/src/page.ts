// The script of a page that shows and does not compute.
import { start } from "./main.ts";

void start(null);
