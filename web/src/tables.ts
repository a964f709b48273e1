// Tables: signs that they scroll, rows that go to their contact, commands that are copied.
import { element } from "./dom.ts";

/** Mark on which sides of a scrolling place there is more. */
export function signScrolling(place: HTMLElement): void {
  const look = () => {
    place.parentElement!.classList.toggle("more-right", place.scrollLeft + place.clientWidth < place.scrollWidth - 2);
    place.parentElement!.classList.toggle("more-left", place.scrollLeft > 2);
    place.parentElement!.classList.toggle("more-below", place.scrollTop + place.clientHeight < place.scrollHeight - 2);
  };
  place.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(place);
  new MutationObserver(look).observe(place, { childList: true, subtree: true });
  look();
}

/** Let rows that begin with the name of an event go there. */
export function linkRows(table: HTMLTableElement, events: Map<string, () => void>): void {
  for (const row of table.tBodies[0]?.rows ?? []) {
    const go = events.get(row.cells[0]?.textContent?.trim() ?? "");
    if (!go) continue;
    const act = () => {
      for (const other of table.tBodies[0]!.rows) other.classList.toggle("shown", other === row);
      go();
    };
    row.tabIndex = 0;
    row.classList.add("goes");
    row.title = "Show this contact in curves and scene";
    row.addEventListener("click", act);
    row.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      act();
    });
  }
}

/** Put a button beside a command that copies it. */
export function addCopying(command: HTMLElement): void {
  command.after(element("button", { type: "button", class: "copy", title: "Copy this command" }, element("i", {}, "copy")));
}

/** Let such buttons copy what the command beside them is by then: those that are made later, too. */
export function startCopying(): void {
  document.addEventListener("click", async ({ target }) => {
    const button = (target as Element).closest(".copy"), place = button?.previousElementSibling;
    if (!button || !place) return;
    const said = button.firstElementChild!;
    try {
      await navigator.clipboard.writeText(place.textContent!);
      said.textContent = "copied";
    } catch {
      getSelection()?.selectAllChildren(place);
      said.textContent = "selected";
    }
    setTimeout(() => (said.textContent = "copy"), 1500);
  });
}
