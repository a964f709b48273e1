// Requirements over the cases of a campaign, as `dockdyn/studies/campaign/first_failure.py` judges them.
import { judge, type RequirementToMeet } from "./judge.ts";
import { wilsonInterval } from "./statistics.ts";
import type { Share } from "./shares.ts";

export interface RequirementOfCases extends RequirementToMeet {
  grows: boolean; // what follows the end of a run only enlarges its figure
  moment: boolean; // its figure is one
}

/** Figures over all cases by name; those of a case that failed are NaN. */
export type CaseFigures = ReadonlyMap<string, Float64Array>;

export interface JudgedCases {
  met: boolean[][]; // by requirement and case, whatever may follow
  open: boolean[][]; // not decided
  margin: Float64Array[]; // NaN: yes or no, did not happen, not decided
  value: Float64Array[]; // that counts
  allMet: boolean[];
  allOpen: boolean[];
  captured: boolean[];
  undecided: boolean[];
}

/** Return every requirement in every case. */
export function judgeCases(requirements: RequirementOfCases[], figures: CaseFigures, count: number): JudgedCases {
  const over = <T>(of: (row: number) => T): T[] => Array.from({ length: count }, (_, row) => of(row));
  const rows = over((row) => new Map([...figures].map(([name, values]) => [name, values[row]!])));
  const undecided = rows.map((row) => row.get("outcome_open") === 1), captured = rows.map((row) => row.get("captured") === 1);
  const found = requirements.map((one) => rows.map((row) => judge(one, row)));
  const open = requirements.map((one, place) => over((row) => {
    const { met, value } = found[place]![row]!, upper = one.relation.startsWith("<");
    if (met === null) return true;
    if (!undecided[row]) return false;
    if (one.grows && one.relation !== "==") return upper ? met : !met;
    if (one.moment) return Number.isNaN(value) && !(upper && rows[row]!.get("end_time_s")! >= Number(one.limit));
    return true;
  }));
  const met = found.map((cases, place) => cases.map((one, row) => one.met === true && !open[place]![row]));
  const margin = found.map((cases, place) => Float64Array.from(cases, (one, row) => (open[place]![row] ? NaN : one.margin)));
  const allMet = over((row) => met.every((one) => one[row]));
  const allOpen = over((row) => !allMet[row] && met.every((one, place) => one[row] || open[place]![row]));
  return { met, open, margin, value: found.map((cases) => Float64Array.from(cases, ({ value }) => value)), allMet, allOpen, captured, undecided };
}

export interface Estimated extends Share {
  held: number;
}

/** Return the share of cases in which something holds; its interval has undecided ones as if it did not, and as if it did. */
export function estimated(holds: boolean[], undecided: boolean[]): Estimated {
  const held = holds.filter(Boolean).length, most = holds.filter((one, row) => one || undecided[row]).length;
  return { held, share: held / holds.length, interval: [wilsonInterval(held, holds.length)[0], wilsonInterval(most, holds.length)[1]] };
}
