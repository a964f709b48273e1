// What the report said in a place, which comes back where nothing has moved.
import { element } from "../dom.ts";

const kept = new WeakMap<Element, [className: string, inside: Node[]]>();

/** Put back what the report had in a place; the first call keeps it. */
export function asReported(node: Element): void {
  if (!kept.has(node)) kept.set(node, [node.className, [...node.childNodes].map((child) => child.cloneNode(true))]);
  const [className, inside] = kept.get(node)!;
  node.className = className;
  node.replaceChildren(...inside.map((child) => child.cloneNode(true)));
}

/** Say of a place in words, too, that it is still the report's own. */
export function tellOwn(node: Element): void {
  asReported(node);
  node.classList.add("reported");
  const said = element("span", { class: "was" }, "of the report’s own numbers"), command = node.querySelector(".line-of-command");
  if (command) command.before(" ", said);
  else node.append(" ", said);
}
