// Asks the worker one run at a time: the newest wish wins, what is only worth knowing waits and yields to it.
import type { Answer, Asked } from "./worker.ts";
import type { PackedUnit } from "./unit.ts";

interface Wish {
  asked: Asked;
  done: (answer: Answer | null) => void;
}

export class Runner {
  private worker!: Worker;
  private running: Wish | null = null;
  private next: Wish | null = null;
  private later: Wish[] = [];
  private count = 0;

  constructor(private readonly script: string, private readonly unit: PackedUnit) {
    this.begin();
  }

  private begin(): void {
    this.worker = new Worker(this.script);
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      const { running } = this;
      this.running = null;
      running?.done(data);
      this.go();
    };
    this.worker.postMessage(this.unit);
  }

  /** Return the answer to a wish; null where a newer one came before it. */
  ask(values: number[], names: string[], most: number): Promise<Answer | null> {
    this.next?.done(null);
    for (const wish of this.later.splice(0)) wish.done(null);
    return new Promise((done) => {
      this.next = { asked: this.asked(values, names, most), done };
      this.go();
    });
  }

  /** Return the answer to what can wait; null where a wish came before it. */
  askLater(values: number[], names: string[], most: number): Promise<Answer | null> {
    return new Promise((done) => {
      this.later.push({ asked: this.asked(values, names, most), done });
      this.go();
    });
  }

  /** End the run that goes on. */
  stop(): void {
    this.worker.terminate();
    const { running } = this;
    this.running = null;
    this.begin();
    running?.done({ id: running.asked.id, status: -1, took: 0, found: {}, error: "stopped" });
    this.go();
  }

  private asked(values: number[], names: string[], most: number): Asked {
    this.count += 1;
    return { id: this.count, values, names, most };
  }

  private go(): void {
    if (this.running) return;
    this.running = this.next ?? this.later.shift() ?? null;
    if (this.running === this.next) this.next = null;
    if (this.running) this.worker.postMessage(this.running.asked);
  }
}
