// Figures as files, as on paper whatever the screen's colours are.
import { drawing, element } from "./dom.ts";

const SHARP = 2; // pixels of a picture for one on the screen
const FONT = "Liberation Sans, Arial, Helvetica, sans-serif";

/** Return colours in which a figure is saved: those of the light page. */
function paperColours(): (name: string) => string {
  const root = document.documentElement, before = root.dataset.theme;
  root.dataset.theme = "light";
  const style = getComputedStyle(root), known = new Map<string, string>();
  for (const name of new Set(document.body.innerHTML.match(/var\(--[a-z0-9]+\)/g) ?? [])) known.set(name, style.getPropertyValue(name.slice(4, -1)).trim());
  if (before === undefined) delete root.dataset.theme;
  else root.dataset.theme = before;
  return (name) => known.get(name) ?? "#000";
}

/** Return a figure as one SVG that stands for itself. */
export function standingDrawing(figure: HTMLElement): SVGSVGElement | null {
  const parts = [...figure.querySelectorAll<SVGSVGElement>(".chart svg")], around = figure.querySelector(".chart")?.getBoundingClientRect();
  const picture = figure.querySelector<SVGSVGElement>(".picture svg");
  if (!parts.length && !picture) return null;
  const colour = paperColours();
  let width: number, height: number;
  const all = drawing("svg", { xmlns: "http://www.w3.org/2000/svg", "font-family": FONT, "font-size": 12 });
  all.append(drawing("rect", { width: "100%", height: "100%", fill: colour("var(--panel)") }));
  if (picture) {
    [width, height] = [picture.viewBox.baseVal.width, picture.viewBox.baseVal.height];
    const copy = picture.cloneNode(true) as SVGSVGElement;
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(height));
    all.append(copy);
  } else {
    [width, height] = [around!.width, around!.height];
    for (const part of parts) {
      const box = part.getBoundingClientRect(), copy = part.cloneNode(true) as SVGSVGElement;
      for (const [name, value] of [["x", box.left - around!.left], ["y", box.top - around!.top], ["width", box.width], ["height", box.height]] as const) copy.setAttribute(name, String(value));
      all.append(copy);
    }
    for (const words of figure.querySelectorAll<HTMLElement>(".curve-name, .series span, .series b")) {
      const box = words.getBoundingClientRect();
      const bold = words.matches(".curve-name, b");
      all.append(drawing("text", { x: box.left - around!.left, y: box.bottom - around!.top - 5, fill: "var(--ink)", "font-weight": bold ? 600 : 400 }, words.textContent));
    }
    for (const mark of figure.querySelectorAll<HTMLElement | SVGSVGElement>(".series .swatch")) {
      const box = mark.getBoundingClientRect();
      if (mark instanceof SVGSVGElement) {
        const copy = mark.cloneNode(true) as SVGSVGElement;
        for (const [name, value] of [["x", box.left - around!.left], ["y", box.top - around!.top]] as const) copy.setAttribute(name, String(value));
        all.append(copy);
        continue;
      }
      const name = /var\(--[a-z0-9]+\)/.exec(mark.getAttribute("style") ?? "")?.[0] ?? "var(--ink)";
      all.append(drawing("rect", { x: box.left - around!.left, y: box.top - around!.top, width: box.width, height: Math.max(box.height, 2), fill: name }));
    }
  }
  for (const [name, value] of [["width", width], ["height", height], ["viewBox", `0 0 ${width} ${height}`]] as const) all.setAttribute(name, String(value));
  const holder = element("div");
  holder.append(all);
  holder.innerHTML = holder.innerHTML.replace(/var\(--[a-z0-9]+\)/g, colour);
  return holder.firstElementChild as SVGSVGElement;
}

function download(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const asText = (drawn: SVGSVGElement) => new XMLSerializer().serializeToString(drawn);

async function asPicture(source: string, width: number, height: number): Promise<Blob> {
  const image = element("img", { src: source, width, height });
  await image.decode();
  const canvas = element("canvas", { width: Math.round(SHARP * width), height: Math.round(SHARP * height) });
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob((blob) => done(blob!), "image/png"));
}

/** Save a figure as a file under its name. */
export async function saveFigure(figure: HTMLElement, kind: "png" | "svg"): Promise<void> {
  const name = `${figure.dataset.name}.${kind}`, drawn = standingDrawing(figure);
  if (!drawn) {
    const image = figure.querySelector("img")!;
    download(await asPicture(image.src, image.naturalWidth / SHARP, image.naturalHeight / SHARP), name);
  } else if (kind === "svg") download(new Blob([asText(drawn)], { type: "image/svg+xml" }), name);
  else download(await asPicture(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(asText(drawn))}`, Number(drawn.getAttribute("width")), Number(drawn.getAttribute("height"))), name);
}

/** Put buttons under every figure that save it. */
export function addSaving(figure: HTMLElement): void {
  const kinds = figure.querySelector("img") ? (["png"] as const) : (["png", "svg"] as const);
  figure.querySelector(".tools")!.append(...kinds.map((kind) =>
    element("button", { type: "button", class: "tool", title: `Save this figure as ${kind.toUpperCase()}`, click: () => void saveFigure(figure, kind) }, `Save ${kind.toUpperCase()}`)));
}
