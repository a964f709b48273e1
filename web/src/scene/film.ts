// A film of the run, from its start to its end at the clock's speed, as WebM.
import type { Clock } from "../clock.ts";
import { save } from "./dom.ts";

const RATE = 30; // pictures a second

export class Film {
  private recorder: MediaRecorder | null = null;

  constructor(private readonly clock: Clock, private readonly picture: () => HTMLCanvasElement, private readonly title: string) {}

  static possible(): boolean {
    return typeof MediaRecorder !== "undefined" && MediaRecorder.isTypeSupported("video/webm");
  }

  /** Begin a film, or end it where it is. */
  toggle(button: HTMLButtonElement): void {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    const first = this.picture(), canvas = document.createElement("canvas"), pen = canvas.getContext("2d")!, parts: Blob[] = [];
    canvas.width = first.width;
    canvas.height = first.height;
    pen.drawImage(first, 0, 0);
    const recorder = new MediaRecorder(canvas.captureStream(RATE), { mimeType: "video/webm", videoBitsPerSecond: 8e6 });
    recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
    this.clock.pause();
    this.clock.seek(this.clock.span.start);
    const stop = this.clock.subscribe((clock) => {
      if (this.recorder !== recorder) return;
      const now = this.picture();
      pen.drawImage(now, 0, 0, canvas.width, canvas.height);
      if (!clock.playing && clock.time >= clock.span.end) recorder.stop();
    });
    recorder.addEventListener("stop", () => {
      stop();
      this.recorder = null;
      this.clock.pause();
      button.textContent = "film";
      save(new Blob(parts, { type: "video/webm" }), `${this.title}.webm`);
    });
    this.recorder = recorder;
    button.textContent = "stop";
    recorder.start();
    this.clock.play();
  }
}
