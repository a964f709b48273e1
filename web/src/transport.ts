// Play, step and scrub: the time of the page along its contacts and phases.
import type { Clock } from "./clock.ts";
import { element } from "./dom.ts";
import { placedNames, type Event } from "./panel.ts";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];
const STEPS = 600; // of the run, one a press of an arrow
const LETTER = 6; // px, of a name

export class Transport {
  private readonly scrub: HTMLElement;
  private readonly play = element("button", { type: "button", class: "icon play", title: "Play or pause (space)", "aria-label": "Play or pause", click: () => this.toggle() });
  private readonly marks = element("div");
  private readonly time = element("output", { class: "time" });

  constructor(host: HTMLElement, private readonly clock: Clock, private events: Event[]) {
    const knob = element("i", { class: "knob" }), fill = element("i", { class: "fill" });
    const { span } = clock;
    this.scrub = element("div", { class: "scrub", role: "slider", tabindex: 0, "aria-label": "Time", "aria-valuemin": span.start, "aria-valuemax": span.end }, element("i", { class: "rail" }), fill, this.marks, knob);
    const speed = element("button", { type: "button", class: "icon speed", title: "Speed of the replay", click: () => this.faster(speed) }, "1×");
    const step = (by: number, words: string, mark: string) => element("button", { type: "button", class: "icon step", title: words, "aria-label": words, click: () => this.jump(by) }, mark);
    host.append(element("div", { class: "buttons" }, this.play, step(-1, "Previous contact (shift ←)", "‹"), step(1, "Next contact (shift →)", "›"), speed), this.scrub, this.time);
    const at = (event: PointerEvent) => {
      const box = this.scrub.getBoundingClientRect();
      clock.seek(span.start + ((event.clientX - box.left) / box.width) * (span.end - span.start));
    };
    this.scrub.addEventListener("pointerdown", (event) => {
      clock.pause();
      this.scrub.setPointerCapture(event.pointerId);
      at(event);
      this.scrub.onpointermove = at;
    });
    this.scrub.addEventListener("pointerup", () => (this.scrub.onpointermove = null));
    new ResizeObserver(() => this.mark()).observe(this.scrub);
    clock.subscribe(({ time, playing }) => {
      knob.style.left = fill.style.width = this.share(time);
      const decimals = span.end - span.start < 5 ? 3 : 2;
      this.time.replaceChildren(element("b", {}, time.toFixed(decimals)), ` / ${Number(span.end.toFixed(6))} s`);
      this.play.textContent = playing ? "❚❚" : "▶";
      this.scrub.setAttribute("aria-valuenow", time.toFixed(3));
      this.scrub.setAttribute("aria-valuetext", `${time.toFixed(decimals)} s`);
    });
    addEventListener("keydown", (event) => this.press(event));
  }

  /** Show other events: those of a run with other numbers. */
  show(events: Event[]): void {
    this.events = events;
    this.mark();
  }

  private share(time: number): string {
    const { start, end } = this.clock.span;
    return `${((time - start) / (end - start)) * 100}%`;
  }

  private mark(): void {
    const width = this.scrub.clientWidth, { start, end } = this.clock.span;
    this.marks.replaceChildren();
    for (const event of this.events) {
      const kind = event.end > event.start ? "segment" : "instant";
      this.marks.append(element("i", { class: kind, title: event.name, style: `left: ${this.share(event.start)}; width: calc(${this.share(event.end)} - ${this.share(event.start)})` }));
    }
    for (const [words, x] of placedNames(this.events, (at) => ((at - start) / (end - start)) * width, LETTER, [-LETTER, width + LETTER])) {
      this.marks.append(element("span", { class: "event-name", style: `left: ${(x / width) * 100}%` }, words));
    }
  }

  private toggle(): void {
    if (this.clock.playing) this.clock.pause();
    else this.clock.play();
  }

  private faster(button: HTMLElement): void {
    this.clock.speed = SPEEDS[(SPEEDS.indexOf(this.clock.speed) + 1) % SPEEDS.length]!;
    button.textContent = `${this.clock.speed}×`;
  }

  /** Go to the next or the previous beginning of a contact or a phase. */
  jump(by: number): void {
    const { time, span } = this.clock, near = (span.end - span.start) * 1e-6;
    const stops = [span.start, ...this.events.map((event) => event.start), span.end].sort((a, b) => a - b);
    const found = by > 0 ? stops.find((stop) => stop > time + near) : stops.reverse().find((stop) => stop < time - near);
    this.clock.pause();
    if (found !== undefined) this.clock.seek(found);
  }

  private press(event: KeyboardEvent): void {
    const on = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(on.tagName)) return;
    if (event.key === " " && /^(BUTTON|SUMMARY|A|TR)$/.test(on.tagName)) return;
    const { clock } = this, step = (clock.span.end - clock.span.start) / STEPS;
    const scrolls = on.matches(".scroll, pre") && event.key.startsWith("Arrow");
    const acts: Record<string, () => void> = {
      " ": () => this.toggle(),
      ArrowRight: () => (event.shiftKey ? this.jump(1) : (clock.pause(), clock.seek(clock.time + step))),
      ArrowLeft: () => (event.shiftKey ? this.jump(-1) : (clock.pause(), clock.seek(clock.time - step))),
      Home: () => clock.seek(clock.span.start),
      End: () => clock.seek(clock.span.end),
    };
    const act = acts[event.key];
    if (!act || scrolls) return;
    event.preventDefault();
    act();
  }
}
