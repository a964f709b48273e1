// The one time of a page: scene, curves and tables show it, and any of them may set it.

export interface Span {
  start: number; // s
  end: number; // s
}

export class Clock {
  speed = 1; // seconds of the run in a second of the reader's
  private now: number;
  private running = false;
  private readonly heard = new Set<(clock: Clock) => void>();

  constructor(readonly span: Span) {
    this.now = span.start;
  }

  get time(): number {
    return this.now;
  }

  get playing(): boolean {
    return this.running;
  }

  /** Go to a time of the run (s), to its start or end where it lies outside. */
  seek(time: number): void {
    this.now = Math.min(Math.max(time, this.span.start), this.span.end);
    this.tell();
  }

  /** Let the run end at another time (s). */
  reach(end: number): void {
    this.span.end = end;
    this.seek(this.now);
  }

  /** Play from here, from the start where the run is over. */
  play(): void {
    if (this.running) return;
    this.running = true;
    if (this.now >= this.span.end) this.now = this.span.start;
    let last: number | null = null;
    const step = (at: number) => {
      if (!this.running) return;
      const passed = last === null ? 0 : (at - last) / 1000;
      last = at;
      this.running = this.now + passed * this.speed < this.span.end;
      this.seek(this.now + passed * this.speed);
      if (this.running) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
    this.tell();
  }

  pause(): void {
    if (!this.running) return;
    this.running = false;
    this.tell();
  }

  /** Call `hear` now and whenever time, speed or playing changes; returns what ends that. */
  subscribe(hear: (clock: Clock) => void): () => void {
    this.heard.add(hear);
    hear(this);
    return () => this.heard.delete(hear);
  }

  private tell(): void {
    for (const hear of this.heard) hear(this);
  }
}
