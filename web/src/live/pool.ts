// Runs many cases, each in the first worker that is free; the newest wish wins.
import { Runner } from "./runner.ts";
import type { PackedUnit } from "./unit.ts";
import type { Answer } from "./worker.ts";

const MOST = 8; // workers

export class Pool {
  private readonly runners: Runner[];
  private wish = 0;

  constructor(script: string, unit: PackedUnit, cases: number) {
    this.runners = Array.from({ length: Math.min(navigator.hardwareConcurrency || 2, MOST, cases) }, () => new Runner(script, unit));
  }

  get workers(): number {
    return this.runners.length;
  }

  /** Run so many cases, each with the values of its row, and tell the answer of each; false where that was stopped, or another wish came. */
  async run(count: number, valuesOf: (row: number) => number[], names: string[], most: number, tell: (row: number, answer: Answer) => void): Promise<boolean> {
    const wish = (this.wish += 1);
    let next = 0;
    await Promise.all(this.runners.map(async (runner) => {
      while (wish === this.wish && next < count) {
        const row = next++, answer = await runner.ask(valuesOf(row), names, most);
        if (answer && wish === this.wish) tell(row, answer);
      }
    }));
    return wish === this.wish;
  }

  /** Begin no further case. */
  stop(): void {
    this.wish += 1;
  }
}
