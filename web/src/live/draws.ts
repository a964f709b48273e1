// The numbers of all cases from what was drawn for them, as `inverse` of `dockdyn/scenario/distributions` scales it.

export interface Law {
  law: string; // its name; empty where none of its numbers can be set
  keys: string[];
  places: number[]; // of the keys among the numbers of the unit
  table: string; // below which its own numbers are set
  fields: Record<string, number>; // those
  centre: number[];
  unit: string;
  draws: number[]; // columns of the page
}

type Fields = Readonly<Record<string, number>>;

/** Return the values of a law's keys over all cases; as many columns as it is of. */
export function scaled({ law, centre }: Pick<Law, "law" | "centre">, fields: Fields, draws: Float64Array[]): Float64Array[] {
  const [first] = draws as [Float64Array];
  const { low, high, mean, std, median, radius } = fields as Record<"low" | "high" | "mean" | "std" | "median" | "radius", number>;
  if (law === "uniform") return [first.map((share) => low + (high - low) * share)];
  if (law === "normal") return [first.map((deviate) => mean + std * deviate)];
  if (law === "log-normal") return [first.map((factor) => median * factor)];
  if (law === "disc") {
    const away = first.map((share) => radius * share);
    return draws.slice(1).map((direction, axis) => direction.map((part, row) => centre[axis]! + away[row]! * part));
  }
  return draws;
}

/** Return why a law cannot have these numbers; empty where it can. */
export function refusalOf({ table }: Pick<Law, "table">, { low, high }: Fields): string {
  return low !== undefined && high !== undefined && !(low < high) ? `${table}.low must be below ${table}.high` : "";
}
