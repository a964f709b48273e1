// Asks the worker one run at a time: the newest wish wins, what is only worth knowing waits and yields to it.
import type { Answer, Asked } from "./worker.ts";
import type { PackedPrograms } from "./programs.ts";

interface Wish {
  asked: Asked;
  done: (answer: Answer | null) => void;
}

export const STOPPED = "stopped"; // why there is no answer
const nothing = (error: string): Answer => ({ id: -1, status: -1, took: 0, found: {}, error });

export class Runner {
  private worker!: Worker;
  private running: Wish | null = null;
  private next: Wish | null = null;
  private later: Wish[] = [];
  private count = 0;

  constructor(private readonly script: string, private readonly unit: PackedPrograms) {
    this.begin();
  }

  private begin(): void {
    this.worker = new Worker(this.script);
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.take(data);
    this.worker.onerror = () => this.take(nothing("the browser runs no worker here"));
    this.worker.postMessage(this.unit);
  }

  private take(answer: Answer): void {
    const { running } = this;
    this.running = null;
    running?.done(answer);
    this.go();
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
    this.begin();
    this.take(nothing(STOPPED));
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
