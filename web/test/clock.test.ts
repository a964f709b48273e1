import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock } from "../src/clock.ts";

test("a time outside of the run is its start or end", () => {
  const clock = new Clock({ start: 1, end: 3 });
  const told: number[] = [];
  const end = clock.subscribe((one) => told.push(one.time));
  for (const time of [2, 9, -9]) clock.seek(time);
  end();
  clock.seek(2);
  assert.deepEqual(told, [1, 2, 3, 1]);
});

test("it plays at its speed, ends with the run, and begins again from there", () => {
  const frames: FrameRequestCallback[] = [];
  globalThis.requestAnimationFrame = (frame) => frames.push(frame);
  const clock = new Clock({ start: 0, end: 3 });
  clock.speed = 2;
  clock.play();
  for (const at of [5000, 5500, 6000]) frames.shift()!(at);
  assert.equal(clock.time, 2);
  frames.shift()!(7000);
  assert.equal(clock.time, 3);
  assert.equal(clock.playing, false);
  assert.equal(frames.length, 0);
  clock.play();
  assert.equal(clock.time, 0);
  clock.pause();
  frames.shift()!(8000);
  assert.equal(frames.length, 0);
});
