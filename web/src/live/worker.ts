// Computes in a thread of its own: the page stays quick, and one that takes too long can be ended.
import type { PackedPrograms } from "./programs.ts";
import type { Found } from "./unit.ts";

export interface Asked {
  id: number;
  values: number[];
  names: string[]; // of what is to come back
  most: number; // ms
}

export interface Answer {
  id: number;
  status: number;
  took: number; // ms
  found: Record<string, Float64Array>;
  error?: string;
}

interface Computing {
  run(values: ArrayLike<number>, most?: number): Found;
}

const host = self as unknown as { postMessage(message: Answer, transfer: Transferable[]): void; onmessage: ((event: MessageEvent<PackedPrograms | Asked>) => void) | null };

/** Answer what the page asks by the programs that it sends first, as `load` makes them ready. */
export function serve<Packed extends PackedPrograms>(load: (packed: Packed) => Promise<Computing>): void {
  let unit: Promise<Computing> | null = null;
  host.onmessage = async ({ data }) => {
    if ("module" in data) {
      unit = load(data as Packed);
      unit.catch(() => undefined); // told to who asks it
      return;
    }
    const began = performance.now();
    try {
      const run = (await unit!).run(data.values, data.most);
      const found = Object.fromEntries(data.names.map((name) => [name, run.numbers(name)]));
      host.postMessage({ id: data.id, status: run.status, took: performance.now() - began, found }, Object.values(found).map(({ buffer }) => buffer as ArrayBuffer));
    } catch (error) {
      host.postMessage({ id: data.id, status: -1, took: performance.now() - began, found: {}, error: error instanceof Error ? error.message : String(error) }, []);
    }
  };
}
