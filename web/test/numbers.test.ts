import assert from "node:assert/strict";
import { test } from "node:test";
import { boundInBrief, sliderSpan, isPlace } from "../src/live/numbers.ts";

test("of what is offered unasked there are no coordinates and no directions", () => {
  for (const key of ["body.station.surface.bottom.point.0", "body.chaser.feature.probe.position.0", "joint.hip.axis.2", "body.ring.inertia.2.2", "strut.leg-1.anchor.0", "hexapod.ring_position.0", "body.ring.feature.petals.points.3.1", "body.station.surface.bottom.normal.0"]) assert.ok(isPlace(key), key);
  for (const key of ["contact.probe.normal.stiffness", "approach.lateral_offset.0", "body.chaser.mass", "loop.delay", "bushing.probe.stiffness.0", "joint.hip.set_point.0"]) assert.ok(!isPlace(key), key);
});

test("a slider goes as far as what is allowed, and bounds are read on their inner side", () => {
  const number = (value: number, bounds: object) => ({ value, bounds });
  assert.deepEqual(sliderSpan(number(0.016, { above: 0, least: 0.0128, most: 0.023999976 })), [0.0128, 0.023999976]);
  assert.deepEqual(sliderSpan(number(2, { above: 0 })), [0.2, 6]);
  assert.deepEqual(sliderSpan(number(-2, { least: -3, below: -1 })), [-3, -1.002]);
  assert.equal(boundInBrief(23.999976, false), "23.99");
  assert.equal(boundInBrief(24, false), "24");
  assert.equal(boundInBrief(12.80004, true), "12.81");
  assert.equal(boundInBrief(-3.00001, true), "-3");
  assert.equal(boundInBrief(0, true), "0");
});
