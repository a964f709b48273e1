// The contacts of a run from its log, as `dockdyn/results/episodes.py` has them.

export interface Contact {
  pair: number;
  row: number; // of the log, with the start as its first row
  onset: number; // s
  release: number; // s; NaN: still touching
  settled: number; // s, when the last of its forces has acted
  approach_speed: number;
  peak_force: number;
  peak_time: number;
  impulse: number;
  friction_loss: number; // J, zero where no friction acts
  energy: number; // J since the start, when its last force has acted
  gain: number; // J since its onset, then
}

/** Return the contacts in their order; `log` gives arrays of the log by name, over its first `rows` and over `pairs`. */
export function contactsOf(log: (name: string) => Float64Array | undefined, rows: number, pairs: number, delay: number): Contact[] {
  const parts = Object.fromEntries(["onset", "release", "approach_speed", "peak_force", "peak_time", "impulse", "friction_loss", "energy", "energy_gain", "ended"].map((name) => [name, log(name)]));
  const onset = parts.onset!;
  const found: Contact[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    for (let row = 0; row < rows; row++) {
      const at = row * pairs + pair;
      if (!Number.isFinite(onset[at]!)) continue;
      const contact: Contact = {
        pair, row, onset: onset[at]!, release: parts.release![at]!, settled: parts.release![at]! + delay, approach_speed: parts.approach_speed![at]!,
        peak_force: 0, peak_time: NaN, impulse: 0, friction_loss: 0, energy: parts.energy![at]!, gain: parts.energy_gain![at]!,
      };
      for (let later = row + 1; later < rows; later++) {
        const there = later * pairs + pair;
        contact.impulse += parts.impulse![there]!;
        contact.friction_loss += parts.friction_loss?.[there] ?? 0;
        if (parts.peak_force![there]! > contact.peak_force) {
          contact.peak_force = parts.peak_force![there]!;
          contact.peak_time = parts.peak_time![there]!;
        }
        if (parts.ended![there]) break;
      }
      found.push(contact);
    }
  }
  return found.sort((a, b) => a.onset - b.onset || a.pair - b.pair);
}
