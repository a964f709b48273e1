// Says what the page of a campaign makes of cases: run_cases.mjs ASKED ANSWERS, both JSON; NaN and infinities are words.
import { readFileSync, writeFileSync } from "node:fs";
import { judgeCases, type RequirementOfCases } from "../src/live/cases.ts";
import { scaled, type Law } from "../src/live/draws.ts";
import { inOrder, percentile, percentileInterval, wilsonInterval } from "../src/live/statistics.ts";

interface Asked {
  shares: [successes: number, runs: number][];
  values: { of: number[]; places: number[] }[];
  laws: (Pick<Law, "law" | "centre" | "fields"> & { draws: number[][] })[];
  cases: { requirements: RequirementOfCases[]; figures: Record<string, number[]>; count: number }[];
}

const [file, answers] = process.argv.slice(2) as [string, string];
const asked: Asked = JSON.parse(readFileSync(file, "utf8"), (_, value) => (value === "nan" ? NaN : value));
const found = {
  shares: asked.shares.map((one) => wilsonInterval(...one)),
  values: asked.values.map(({ of, places }) => {
    const known = inOrder(Float64Array.from(of));
    return places.map((place) => [percentile(known, place), ...percentileInterval(known, place / 100)]);
  }),
  laws: asked.laws.map((one) => scaled(one, one.fields, one.draws.map((column) => Float64Array.from(column))).map((column) => [...column])),
  cases: asked.cases.map(({ requirements, figures, count }) => {
    const { met, open, margin, allMet, allOpen } = judgeCases(requirements, new Map(Object.entries(figures).map(([name, values]) => [name, Float64Array.from(values)])), count);
    return { met, open, margin: margin.map((one) => [...one]), allMet, allOpen };
  }),
};
writeFileSync(answers, JSON.stringify(found, (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value)));
