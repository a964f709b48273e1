// Light or dark: as the system has it, or as the reader chose.
import { element } from "./dom.ts";

const KEPT = "dockdyn-theme";

function kept(): string | null {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // a page without storage
  }
}

function apply(theme: string): void {
  if (document.documentElement.dataset.theme === theme) return;
  document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new CustomEvent("themechange"));
}

/** Follow the system's theme until the reader chooses one; print on light paper. Tells of changes by `themechange`. */
export function startTheme(tools: Element | null): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = kept();
  const show = () => apply(chosen ?? (dark.matches ? "dark" : "light"));
  show();
  dark.addEventListener("change", show);
  addEventListener("beforeprint", () => apply("light"));
  addEventListener("afterprint", show);
  matchMedia("print").addEventListener("change", ({ matches }) => (matches ? apply("light") : show()));
  const button = element("button", { type: "button", class: "icon", title: "Light or dark", "aria-label": "Light or dark", click: () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEPT, chosen);
    } catch {
      // as above
    }
    show();
  } }, "◐");
  tools?.append(button, element("button", { type: "button", class: "icon", click: () => print() }, "Print"));
}
