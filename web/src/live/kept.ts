// What the report said in a place, which comes back where nothing has moved.

const kept = new WeakMap<Element, [className: string, inside: Node[]]>();

/** Put back what the report had in a place; the first call keeps it. */
export function asReported(node: Element): void {
  if (!kept.has(node)) kept.set(node, [node.className, [...node.childNodes].map((child) => child.cloneNode(true))]);
  const [className, inside] = kept.get(node)!;
  node.className = className;
  node.replaceChildren(...inside.map((child) => child.cloneNode(true)));
}
