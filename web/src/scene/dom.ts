// Elements of the scene's page: made, never parsed, so that no name or title is code.
export function element<K extends keyof HTMLElementTagNameMap>(tag: K, facts: Record<string, string | boolean | ((event: Event) => void)> = {}, ...inside: (Node | string)[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(facts)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (typeof value === "boolean") { if (value) made.setAttribute(name, ""); }
    else made.setAttribute(name, value);
  }
  made.append(...inside);
  return made;
}

export function drawn(tag: string, facts: Record<string, string | number>, words = ""): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(facts)) made.setAttribute(name, String(value));
  if (words) made.textContent = words;
  return made;
}

export function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const PREFIXES: [number, string][] = [[1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];

/** Return a number with so many digits and its unit, with a prefix; from 10 thousand on in thousands. */
export function quantity(value: number, unit: string, digits = 3): string {
  const size = Math.abs(value), [factor, prefix] = size >= 1 && size < 1e4 ? [1, ""] : PREFIXES.find(([one]) => size >= one) ?? [1, ""];
  return `${Number((value / factor).toPrecision(digits)).toString().replace("-", "−")}\u202f${prefix}${unit}`;
}

/** Return the largest of 1, 2 and 5 times a power of ten up to a number. */
export function roundBelow(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return power * ([5, 2].find((step) => step * power <= most) ?? 1);
}
