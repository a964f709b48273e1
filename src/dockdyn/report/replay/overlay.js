/* Time line, plots, legend and cameras over the player. It drives the player by frames and shows real time. */
(() => {
  "use strict";
  const run = /*DATA*/null;
  const style = /*STYLE*/null;
  document.title = run.title;
  const WAIT = 30; // s until a player that does not come is given up
  const DWELL = 0.45; // s of the reader's time that a mark is shown at least
  const GAP = 10; // pixels around what lies over the scene
  const time = run.time, last = time.length - 1, end = time[last] || 1;
  const narrow = matchMedia("(max-width: 600px)");

  /*PARTS*/

  // ── time line ──
  const svgLine = make("svg", { id: "dd-line", role: "slider", tabindex: "0", "aria-label": "time",
    "aria-valuemin": 0, "aria-valuemax": end, preserveAspectRatio: "none", viewBox: "0 0 1000 34" });
  const head = make("line", { x1: 0, x2: 0, y1: 0, y2: 34, "stroke-width": 2,
    "vector-effect": "non-scaling-stroke", id: "dd-head" });
  const across = (t) => 1000 * t / end;
  svgLine.append(make("rect", { x: 0, y: 12, width: 1000, height: 10, style: "fill:var(--dd-track)" }));
  for (const event of run.events) {
    const from = across(event.start), wide = across(event.end) - from;
    const mark = event.kind === "contact"
      ? make("rect", { class: "dd-event contact", x: from, y: 12, width: Math.max(wide, 2), height: 10 })
      : make("line", { class: `dd-event ${event.kind}`, x1: from, x2: from, y1: 5, y2: 29,
        "stroke-width": 2, "vector-effect": "non-scaling-stroke" });
    mark.append(make("title", {}, `${clock(event.start)} s: ${event.label}`));
    svgLine.append(mark);
  }
  svgLine.append(head);

  // ── bar, views, legend ──
  const plots = plotted(run.signals, run.events, end, (t) => { pause(); seek(t); });
  const PLAY = "M3 2v12l11-6z", PAUSE = "M3 2h4v12H3zM9 2h4v12H9z";
  const playing = button(icon(PLAY), "play", () => (going ? pause() : play()));
  const clockFace = make("span", { id: "dd-clock" });
  const now = make("div", { id: "dd-now" });
  const speeds = [...new Set([1 / 50, 1 / 20, 1 / 10, 1 / 5, 1 / 2, 1, 2, 5, 10].map((s) => s * run.speed)), 1]
    .filter((s, i, all) => all.findIndex((o) => Math.abs(o - s) < 1e-9 * s) === i).sort((a, b) => a - b);
  const speedList = make("select", { "aria-label": "speed", title: "speed, real time is × 1",
    onchange: () => { speed = +speedList.value; anchor(); } });
  for (const one of speeds) speedList.append(make("option", { value: one }, `× ${+one.toPrecision(2)}`));
  const views = make("div", { id: "dd-views", class: "dd-keys" });
  run.views.forEach((one, i) => views.append(button(one.name, `camera: ${one.name}`, () => look(i))));
  const legend = make("div", { id: "dd-legend" });
  for (const arrow of run.arrows) {
    legend.append(make("i", { style: `background:${arrow.colour}` }), make("span"));
  }
  const bodies = make("div", { id: "dd-bodies", class: "dd-keys" });
  for (const body of run.bodies) bodies.append(make("b", {}, make("i", { style: `background:${body.colour}` }), body.name));
  /* How large what an arrow stands for is at a frame, and how long it is drawn; an arrow that is cut says so. */
  function words(arrow, step) {
    const size = Math.max(...arrow.at), read = (value) => `${reading(value, size)} ${arrow.unit}`;
    const cut = arrow.cut === null ? "" : `; none longer than for ${+arrow.cut.toPrecision(3)} ${arrow.unit}`;
    return `${arrow.name} ${read(arrow.at[step])} (${worth(arrow)}${cut})`;
  }
  /* What a metre, centimetre or millimetre of arrow stands for, whichever the longest arrow has at least one of. */
  function worth(arrow) {
    const longest = Math.max(...run.arrows.map((one) => one.longest));
    const [length, name] = [[1, "m"], [0.01, "cm"]].find(([l]) => longest >= l) || [0.001, "mm"];
    return `1 ${name} of arrow is ${+(length / arrow.scale).toPrecision(3)} ${arrow.unit}`;
  }
  const layers = make("div", { id: "dd-layers", class: "dd-keys" });
  for (const { name, nodes } of run.layers) {
    const key = button(name, `${name}, shown or not`, () => {
      const shown = key.getAttribute("aria-pressed") !== "true";
      press(key, shown);
      push(...nodes.map((node) => ({ type: "SetSceneNodeVisibilityMessage", name: node, visible: shown, owner: "" })));
    });
    press(key, true);
    layers.append(key);
  }
  if (run.layers.length) layers.prepend(make("span", {}, "shown, too:"));

  // ── pictures ──
  const recording = recorder(() => ({ title: run.title, time: clockFace.textContent, bodies: run.bodies,
    notes: run.arrows.filter((arrow) => arrow.seen[step]).map((arrow) => words(arrow, step)) }));
  const filming = button("film", "film from here to the end of the run, as WebM", () => {
    if (filming.getAttribute("aria-pressed") === "true") { recording.stop(); return; }
    press(filming, true);
    play();
    recording.record(() => !going, () => press(filming, false));
  });
  const framing = button("frames", "a PNG of every frame, in a ZIP archive", () => {
    const on = framing.getAttribute("aria-pressed") !== "true";
    press(framing, on);
    if (!on) return;
    pause();
    recording.frames(player, last + 1, (i) => { step = i; draw(); return `${String(i).padStart(4, "0")}-${clock(time[i])}s`; },
      () => framing.getAttribute("aria-pressed") === "true").then(() => press(framing, false));
  });
  const taking = make("div", { id: "dd-save", class: "dd-keys" }, make("span", {}, "save:"),
    button("picture", "what is shown, as PNG", () => recording.picture()), ...(recording.films ? [filming] : []), framing);

  const more = make("div", { id: "dd-more", class: "card" }, ...run.notes.map((words) => make("p", {}, words)), bodies, legend, layers, taking);
  const fold = (card, words) => button(words, `${words} on or off`, () => { card.hidden = !card.hidden; arrange(); });
  const folds = [[more, fold(more, "legend")], [plots.card, fold(plots.card, "plots")]];
  const top = make("div", { id: "dd-top", class: "card" }, make("h1", {}, run.title), now, views);
  const side = make("div", { id: "dd-side" }, more, ...(run.signals.length ? [plots.card] : []));
  const bar = make("div", { id: "dd-bar", class: "card" },
    button(icon("M2 2h2v12H2zM14 2v12L5 8z"), "to the event before", () => jump(-1)), playing,
    button(icon("M12 2h2v12h-2zM2 2v12l9-6z"), "to the next event", () => jump(1)),
    svgLine, clockFace, speedList, folds[0][1], ...(run.signals.length ? [folds[1][1]] : []));
  const page = make("div", { id: "dd" }, make("style", {}, style), top, side, bar);
  for (const [card] of folds) card.hidden = narrow.matches;

  /* The scene has the room that is left: under the title, beside or, on a narrow page, above what can be folded. */
  function arrange() {
    for (const [card, key] of folds) press(key, !card.hidden);
    side.hidden = ![...side.children].some((card) => !card.hidden);
    const root = document.getElementById("root"), foot = bar.offsetHeight + GAP;
    side.style.bottom = narrow.matches ? `${foot + GAP}px` : "";
    side.style.maxHeight = narrow.matches ? "42%" : `calc(100% - ${foot + 2 * GAP}px)`;
    root.style.top = `${top.offsetHeight + GAP}px`;
    root.style.right = narrow.matches || side.hidden ? "0" : `${side.offsetWidth + GAP}px`;
    root.style.bottom = `${foot + (narrow.matches && !side.hidden ? side.offsetHeight + GAP : 0)}px`;
    if (player) look(looked);
  }
  addEventListener("resize", arrange);

  // ── playing ──
  let player = null, going = false, speed = run.speed, step = 0, shown = 0, from = 0, since = 0, looked = 0, applied = -2;
  speedList.value = speeds.find((s) => Math.abs(s - speed) < 1e-9 * s);
  const marked = new Set(run.dwell);
  // the reader's time at which each frame comes when the run plays at this speed: marks are held
  let comes = [];
  function anchor() {
    comes = [0];
    for (let i = 1; i <= last; i += 1) {
      const gap = (time[i] - time[i - 1]) / speed;
      comes.push(comes[i - 1] + (marked.has(i - 1) ? Math.max(gap, DWELL) : gap));
    }
    from = step; since = performance.now();
  }
  const frameAt = (t) => {
    let low = 0, high = last;
    while (low < high) { const mid = (low + high + 1) >> 1; if (time[mid] <= t + 1e-12 * end) low = mid; else high = mid - 1; }
    return low;
  };
  function seek(t) {
    t = Math.max(0, Math.min(end, t));
    let found = frameAt(t);
    if (found < last && time[found + 1] - t < t - time[found]) found += 1;
    step = found; anchor(); draw();
  }
  function play() { if (step >= last) step = 0; going = true; anchor(); mark(); }
  function pause() { going = false; mark(); }
  function mark() { playing.firstChild.firstChild.setAttribute("d", going ? PAUSE : PLAY); playing.setAttribute("aria-label", going ? "pause" : "play"); }
  function jump(side) {
    const stops = [...new Set([0, ...run.events.map((one) => one.start), ...run.dwell.map((i) => time[i]), end])]
      .sort((a, b) => a - b);
    const tiny = 1e-9 * end, t = time[step];
    const found = side > 0 ? stops.find((s) => s > t + tiny) : stops.reverse().find((s) => s < t - tiny);
    pause();
    if (found !== undefined) seek(found);
  }
  function tick() {
    if (going) {
      const wall = comes[from] + (performance.now() - since) / 1000;
      while (step < last && comes[step + 1] <= wall) step += 1;
      if (step >= last) pause();
      if (step !== shown) draw();
    }
    requestAnimationFrame(tick);
  }
  function draw() {
    shown = step;
    const t = time[step], x = across(t);
    head.setAttribute("x1", x); head.setAttribute("x2", x);
    svgLine.setAttribute("aria-valuenow", t);
    clockFace.textContent = `${clock(t)} / ${clock(end)} s`;
    plots.show(t, step);
    const tiny = 1e-9 * end;
    const near = run.events.filter((one) => one.start - tiny <= t && t <= Math.max(one.end, one.start + 0.004 * end) + tiny);
    now.textContent = near.map((one) => one.label).slice(0, 3).join(" · ");
    [...legend.children].forEach((node, i) => {
      const arrow = run.arrows[i >> 1];
      node.style.opacity = arrow.seen[step] ? 1 : 0.7;
      if (i % 2) node.textContent = words(arrow, step);
    });
    place(); show();
  }

  // ── the player's scene ──
  function show() {
    if (!player) return;
    const controller = player.controller;
    if (controller.player.playing) controller.player.pause();
    if (step > applied && step - applied <= 4 && controller.appliedStep === applied) {
      for (let i = applied + 1; i <= step; i += 1) {
        controller.player.position = i; controller.player.emitted = i; controller.applyStep(i, true);
      }
    } else controller.player.seek(step);
    applied = step;
  }
  const push = (...messages) => player && player.viser.pushMessages(messages);
  /* A camera that goes along: the whole scene is moved so that what it follows stays where it was at the start. */
  function place() {
    const view = run.views[looked];
    if (!view || !player) return;
    let position = [0, 0, 0], wxyz = [1, 0, 0, 0];
    if (view.follow >= 0) {
      const { p, q } = run.followed[view.follow];
      if (view.turns) { wxyz = product(q[0], conjugate(q[step])); }
      const moved = turn(wxyz, p[step]);
      position = p[0].map((v, i) => v - moved[i]);
    }
    push({ type: "SetPositionMessage", name: "/run", position, owner: "" },
      { type: "SetOrientationMessage", name: "/run", wxyz, owner: "" });
  }
  const conjugate = ([w, x, y, z]) => [w, -x, -y, -z];
  const product = ([a, b, c, d], [e, f, g, h]) => [a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
    a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e];
  function turn(q, v) { return product(product(q, [0, ...v]), conjugate(q)).slice(1); }
  /* What a view shows is seen whole in a picture of any shape: a ball from farther away where that is narrow. */
  function standing(view) {
    const line = view.position.map((v, i) => v - view.target[i]), wider = 1 / shape();
    if (view.fit) {
      const { high, wide, side, nearest } = view.fit;
      const far = Math.max(high, wider > 1 ? wide + (wider - 1) * side : wider * wide + (1 - wider) * nearest);
      return line.map((v, i) => view.target[i] + far * v / Math.hypot(...line));
    }
    const half = run.fov / 2, wide = Math.atan(Math.tan(half) * shape());
    const away = view.near ? 1 : Math.sin(half) / Math.sin(Math.min(half, wide));
    return line.map((v, i) => view.target[i] + away * v);
  }
  function shape() {
    const { clientWidth, clientHeight } = document.getElementById("root");
    return clientWidth > 0 && clientHeight > 0 ? clientWidth / clientHeight : 1;
  }
  function look(index) {
    looked = index;
    const view = run.views[index];
    [...views.children].forEach((node, i) => press(node, i === index));
    place();
    const at = view.target, from = standing(view);
    // scenes of millimetres and of kilometres are seen alike
    const far = Math.hypot(...from.map((v, i) => v - at[i])) || 1;
    push({ type: "SetCameraFovMessage", fov: run.fov, initial: false },
      { type: "SetCameraNearMessage", near: far / 100, initial: false },
      { type: "SetCameraFarMessage", far: far * 1000, initial: false },
      { type: "SetCameraMinOrbitDistanceMessage", min_orbit_distance: far / 50 },
      { type: "SetCameraMaxOrbitDistanceMessage", max_orbit_distance: far * 100 },
      // look-at first: the camera keeps its direction to what it looks at
      { type: "SetCameraLookAtMessage", look_at: at, initial: false },
      { type: "SetCameraPositionMessage", position: from, initial: false },
      { type: "SetCameraLookAtMessage", look_at: at, initial: false });
  }

  // ── what the reader does ──
  const drag = (event) => {
    const box = svgLine.getBoundingClientRect();
    pause(); seek(end * (event.clientX - box.left) / box.width);
  };
  svgLine.addEventListener("pointerdown", (event) => { svgLine.setPointerCapture(event.pointerId); drag(event); });
  svgLine.addEventListener("pointermove", (event) => { if (event.buttons & 1) drag(event); });
  const keys = { " ": () => (going ? pause() : play()), ArrowRight: () => by(1), ArrowLeft: () => by(-1),
    Home: () => seek(0), End: () => seek(end) };
  const by = (n) => { pause(); step = Math.max(0, Math.min(last, step + n)); draw(); };
  addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) || event.ctrlKey || event.metaKey) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    if (keys[event.key]) { event.preventDefault(); event.stopPropagation(); keys[event.key](); }
  }, true);

  // the report around it tells an instant that the reader has pointed at
  addEventListener("message", ({ data, source }) => {
    if (source === parent && Number.isFinite(data?.seek)) { pause(); seek(data.seek); }
  });

  const started = performance.now();
  function begin() {
    const found = window.__VISER4D__;
    if (!found || !found.viser.viewer || found.controller.numSteps !== time.length || found.controller.appliedStep < 0) {
      if (performance.now() - started < 1000 * WAIT) setTimeout(begin, 60);
      return;
    }
    player = found;
    look(0); draw();
    window.__DOCKDYN__ = { drawn: () => recording.drawn(player), seek, play, pause, look, steps: last + 1, time, get step() { return step; }, ready: true };
    if (parent !== window) parent.postMessage({ replay: "ready" }, "*");
  }
  function mount() {
    document.getElementById("dd")?.remove();
    document.body.append(page);
    arrange(); draw(); mark(); begin(); requestAnimationFrame(tick);
  }
  if (document.body) mount(); else addEventListener("DOMContentLoaded", mount);
})();
