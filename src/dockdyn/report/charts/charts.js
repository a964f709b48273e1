/* The charts of a report, drawn by BokehJS: to zoom, to read, to save, and the way to the replay. */
(() => {
  "use strict";
  const { screen, repaint, model, bend, frame, draw, drawArea, drawBands, drawLevels, drawNotes, nameEvents, eventsOf, addLegend, numbers } = parts;
  const NARROW = 620; // px of a figure below which panels stand below each other, and letters are smaller
  const REACH = 12; // px around an event or a point in which it is meant
  const coarse = matchMedia("(pointer: coarse)").matches;
  const places = [...document.querySelectorAll("figure[data-chart]")];
  const shared = {}; // by name: the window that charts have in common
  const wholly = {}; // by name: whether they show all, 1 or 0
  let charts = [], columns = [], wanted = null;

  // ── unpacking ──
  async function inflate(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (one) => one.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }
  function unpack(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    const mixed = new Uint8Array(buffer, 4 + length), count = mixed.length / 4, bytes = new Uint8Array(mixed.length);
    for (let k = 0; k < 4; k += 1) for (let i = 0; i < count; i += 1) bytes[4 * i + k] = mixed[k * count + i];
    const numbers = new Float32Array(bytes.buffer);
    charts = head.charts;
    columns = head.ends.map((end, i) => Float64Array.from(numbers.subarray(i ? head.ends[i - 1] : 0, end)));
  }
  const make = (tag, attributes = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), attributes);
    node.append(...children);
    return node;
  };

  // ── a figure ──
  function build(figure) {
    const place = figure.querySelector(".chart"), given = charts[+figure.dataset.chart];
    const width = place.clientWidth, narrow = width < NARROW, across = narrow ? 1 : given.columns;
    const chart = { ...given, panels: given.panels.filter((one) => across > 1 || one.lines.length || !one.bare) }; // none that is blank
    const named = new Map(), ranges = {}, plots = [];
    chart.panels.forEach((panel, i) => {
      const f = bend(panel.scale), below = chart.panels[i + across];
      const last = !below || below.across !== panel.across || String(below.x[1]) !== String(panel.x[1]);
      const x = shared[chart.over] || panel.x[0], key = panel.across + panel.x;
      ranges[key] ||= model.Range1d({ start: x[0], end: x[1] });
      const [low, high] = panel.y[wholly[chart.over] || 0], y_range = model.Range1d({ start: f(low), end: f(high) });
      const plot = frame(panel, { x_range: ranges[key], y_range }, narrow, last, width / across);
      if (chart.tiles && i % across && chart.panels[i - 1].label === panel.label) plot.left[0]?.setv({ axis_label: "" });
      if (i % across && panel.ticks.length && String(panel.ticks) === String(chart.panels[i - 1].ticks)) plot.left[0].setv({ major_label_text_font_size: "0px" });
      const drawn = [...panel.areas.map((area) => [area.name, drawArea(plot, area, columns, f)]), ...drawBands(plot, panel.bands, f), ...drawLevels(plot, panel.levels, f)];
      for (const line of panel.lines) {
        line.renderers = draw(plot, line, columns, f);
        drawn.push(...line.renderers.map((one) => [line.name, one]));
      }
      drawNotes(plot, panel.notes, f, narrow);
      if (i < across) nameEvents(plot, eventsOf(panel), narrow);
      for (const [name, one] of drawn) if (name) named.set(name, [...(named.get(name) || []), one]);
      plots.push(plot);
    });
    for (const panel of chart.panels) { // what only later panels have stands in the legend of the first, too
      for (const line of panel.lines) {
        const found = named.get(line.name);
        if (found && !found.some((one) => plots[0].renderers.includes(one))) named.set(line.name, [...draw(plots[0], line, columns, (v) => v, true), ...found]);
      }
    }
    addLegend(plots[0], named, width / across, narrow);
    const rows = Array.from({ length: Math.ceil(plots.length / across) }, (_, i) => plots.slice(across * i, across * (i + 1)));
    const layout = model.Column({ sizing_mode: "stretch_width", spacing: 2,
      children: rows.map((row) => (row.length > 1 ? model.Row({ children: row, sizing_mode: "stretch_width" }) : row[0])) });
    const document_ = new (Bokeh.require("document").Document)();
    document_.add_root(layout);
    const built = { figure, chart, place, plots, layout, ranges: Object.values(ranges) };
    plots.forEach((plot, i) => listen(built, plot, i));
    addTools(built);
    follow(built);
    place.replaceChildren();
    built.ready = Bokeh.embed.add_document_standalone(document_, place).then((views) => {
      built.view = views.get(layout);
      figure.dataset.drawn = "";
      place.style.minHeight = ""; // not before, or what is below would jump
      chart.panels.forEach((panel, i) => { if (panel.equal) equalise(built, i); });
    });
    return built;
  }
  const plotsOf = (view) => view.child_views.flatMap((one) => (one.model.type === "Row" ? one.child_views : [one]));
  const viewOf = (built, plot) => plotsOf(built.view).find((one) => one.model === plot);
  /* One scale on both axes: the range of one is widened. */
  function equalise(built, i) {
    const { x_range, y_range } = built.plots[i], { width, height } = viewOf(built, built.plots[i]).frame.bbox;
    const wide = (x_range.end - x_range.start) / width, high = (y_range.end - y_range.start) / height;
    const [range, pixels] = wide > high ? [y_range, height] : [x_range, width];
    const middle = (range.start + range.end) / 2, half = Math.max(wide, high) * pixels / 2;
    range.setv({ start: middle - half, end: middle + half });
  }
  /* Charts over the same are moved together. */
  function follow(built) {
    if (!built.chart.over) return;
    const range = built.ranges[0], name = built.chart.over;
    for (const key of ["start", "end"]) {
      range.properties[key].change.connect(() => {
        shared[name] = [range.start, range.end];
        for (const figure of places) {
          const other = figure.built;
          if (other && other !== built && other.chart.over === name) {
            const { start, end } = other.ranges[0];
            if (start !== range.start || end !== range.end) other.ranges[0].setv({ start: range.start, end: range.end });
          }
        }
      });
    }
  }
  /* The opening window or all of the run, in every chart over the same. */
  function open(built, whole) {
    const name = built.chart.over;
    if (name) wholly[name] = whole;
    for (const { built: other } of places) if (other && (other === built || (name && other.chart.over === name))) openOne(other, whole);
  }
  function openOne(built, whole) {
    built.chart.panels.forEach((panel, i) => {
      const f = bend(panel.scale), { x_range, y_range } = built.plots[i], x = panel.x[whole], y = panel.y[whole];
      x_range.setv({ start: x[0], end: x[1] });
      y_range.setv({ start: f(y[0]), end: f(y[1]) });
      if (panel.equal) equalise(built, i);
    });
  }

  // ── reading ──
  const sorted = new Map();
  const isSorted = (column) => {
    if (!sorted.has(column)) sorted.set(column, columns[column].every((v, i, all) => !i || v >= all[i - 1]));
    return sorted.get(column);
  };
  const number = (value) => numbers([+value.toPrecision(5)])[0];
  const unitOf = (label) => (label.includes(", ") ? ` ${label.slice(label.lastIndexOf(", ") + 2)}` : "");
  const wordsOf = (label) => (label.includes(", ") ? label.slice(0, label.lastIndexOf(", ")) : label);
  const nearest = (x, t) => {
    let low = 0, high = x.length - 1;
    while (high - low > 1) { const mid = (low + high) >> 1; if (x[mid] <= t) low = mid; else high = mid; }
    return t - x[low] < x[high] - t ? low : high;
  };
  /* What the lines of a panel are at the pointer: rows of colour, name and value. */
  function read(built, panel, plot, event, own) {
    const view = viewOf(built, plot), f = bend(panel.scale);
    const across = view.frame.x_scale, up = view.frame.y_scale, rows = [];
    for (const line of panel.lines) {
      const x = columns[line.x], y = columns[line.y];
      if (!line.read || !line.renderers[0].visible) continue;
      let found = -1;
      if (line.joined && isSorted(line.x)) found = nearest(x, event.x);
      else if (line.joined && x.some(Number.isNaN)) continue; // stems
      else {
        let least = line.joined ? 900 : REACH ** 2;
        for (let i = 0; i < x.length; i += 1) {
          const dx = across.compute(x[i]) - event.sx, dy = line.joined && own ? up.compute(f(y[i])) - event.sy : 0;
          if (dx * dx + dy * dy < least && (own || !line.joined)) { least = dx * dx + dy * dy; found = i; }
        }
      }
      if (found < 0 || Number.isNaN(y[found])) continue;
      const place = isSorted(line.x) && line.joined ? "" : `${number(x[found])}${unitOf(panel.across)}: `;
      rows.push([line.colour, line.name || wordsOf(panel.label), `${place}${number(y[found])}${unitOf(panel.label)}`]);
    }
    return rows;
  }
  /* What a finger has asked for stays until it taps elsewhere. */
  addEventListener("pointerdown", ({ pointerType, target }) => {
    for (const { built } of places) {
      if (!built) continue;
      built.touched = pointerType === "touch";
      if (built.touched && !built.place.contains(target)) unread(built);
    }
  }, true);
  function listen(built, plot, i) {
    const own = built.chart.panels[i];
    if (own.bare) return;
    plot.on_event("mousemove", (event) => show(built, plot, own, event));
    plot.on_event("mouseleave", () => { if (!built.touched) unread(built); });
    plot.on_event("tap", (event) => { show(built, plot, own, event); if (built.chart.events) seek(built, plot, own, event); });
    plot.on_event("doubletap", () => open(built, 0));
    // what was read is elsewhere once the axes have moved
    for (const range of [plot.x_range, plot.y_range]) range.change.connect(() => unread(built));
  }
  const unread = (built) => built.place.querySelectorAll(".readout, .cursor").forEach((one) => one.remove());
  function show(built, plot, own, event) {
    unread(built);
    const inner = viewOf(built, plot)?.frame.bbox;
    if (!inner || event.sx < inner.left || event.sx > inner.right || event.sy < 0) return;
    const box = built.place.getBoundingClientRect(), mine = viewOf(built, plot).el.getBoundingClientRect();
    const together = built.chart.panels.map((panel, i) => [panel, built.plots[i]]).filter(([, one]) => one.x_range === plot.x_range);
    const blocks = together.map(([panel, one]) => [panel, read(built, panel, one, event, panel === own)]).filter(([, rows]) => rows.length);
    if (!blocks.length) return;
    const list = make("div", { className: "readout" }, make("b", { textContent: `${wordsOf(own.across)} ${number(event.x)}${unitOf(own.across)}` }));
    for (const [panel, rows] of blocks) {
      if (blocks.length > 1 && rows.some((row) => row[1] !== wordsOf(panel.label))) list.append(make("i", { textContent: wordsOf(panel.label) }));
      for (const [name, words, value] of rows) {
        const swatch = make("s");
        swatch.style.background = `var(--${name})`;
        list.append(make("span", {}, swatch, words, make("em", { textContent: value })));
      }
    }
    const x = mine.left - box.left + event.sx, cursor = make("div", { className: "cursor" });
    cursor.style.left = `${x}px`;
    built.place.append(cursor, list);
    list.style.left = `${Math.max(0, Math.min(x + 14 + list.offsetWidth > box.width ? x - list.offsetWidth - 14 : x + 14, box.width - list.offsetWidth))}px`;
    list.style.top = `${mine.top - box.top + Math.max(0, Math.min(event.sy, mine.height - 40))}px`;
  }

  // ── the replay ──
  function seek(built, plot, panel, event) {
    const scale = viewOf(built, plot).frame.x_scale;
    const away = (one) => Math.max(scale.compute(one.start) - event.sx, event.sx - scale.compute(one.end), 0);
    const near = eventsOf(panel).filter((one) => away(one) <= REACH).sort((a, b) => away(a) - away(b))[0];
    const time = near ? near.start : event.x;
    if (!document.getElementById("replay-data")) return;
    wanted = time;
    const frame = document.querySelector("#replay iframe");
    frame?.contentWindow.postMessage({ seek: time }, "*");
    const status = built.figure.querySelector(".status");
    const words = `${near ? `${near.name}, ` : ""}${number(time)} s: `;
    const there = "the replay is there", link = make("a", { href: "#replay", textContent: frame ? there : "load the replay to see it" });
    link.addEventListener("click", () => { document.querySelector("#replay button")?.click(); link.textContent = there; });
    status.replaceChildren(words, link);
  }
  addEventListener("message", ({ data, source }) => {
    const frame = document.querySelector("#replay iframe");
    if (data?.replay === "ready" && source === frame?.contentWindow && wanted !== null) source.postMessage({ seek: wanted }, "*");
  });

  // ── what one does with a figure ──
  function addTools(built) {
    const wheel = () => model.WheelZoomTool({ dimensions: "width", modifiers: { ctrl: true } });
    const drags = built.plots.map((plot) => {
      const tools = { zoom: model.BoxZoomTool({ dimensions: "auto" }), move: model.PanTool(), wheel: wheel() };
      plot.add_tools(...Object.values(tools));
      const { overlay } = tools.zoom; // BokehJS leaves its box where it was
      overlay.properties.visible.change.connect(() => {
        viewOf(built, plot).views.find_one(overlay).el.style.display = overlay.visible ? "" : "none";
      });
      plot.toolbar.setv({ active_drag: coarse ? null : tools.zoom, active_scroll: tools.wheel });
      return tools;
    });
    const row = built.figure.querySelector(".tools"), modes = {};
    row.querySelectorAll("[data-chart-tool]").forEach((one) => one.remove());
    const button = (words, title, act) => {
      const made = make("button", { type: "button", textContent: words, title, onclick: act });
      made.dataset.chartTool = "";
      return made;
    };
    function drag(name) {
      for (const tools of drags) {
        for (const one of ["zoom", "move"]) tools[one].active = false;
        if (name) tools[name].active = true;
      }
      for (const [one, made] of Object.entries(modes)) made.setAttribute("aria-pressed", String(one === name));
    }
    const toggle = (name) => () => drag(modes[name].getAttribute("aria-pressed") === "true" ? null : name);
    modes.zoom = button("Zoom", "Drag a box to zoom into it; the wheel zooms, too, while Ctrl is held", toggle("zoom"));
    modes.move = button("Move", "Drag to move what is shown", toggle("move"));
    const found = [modes.zoom, modes.move, button("Reset", "What was shown at first", () => open(built, 0))];
    if (built.chart.opens) found.push(button("Whole run", "All of the run", () => open(built, 1)));
    for (const [name, made] of Object.entries(modes)) made.setAttribute("aria-pressed", String(!coarse && name === "zoom"));
    row.prepend(...found);
  }
  /* The figure as a file, on paper whatever the screen's colours are. */
  async function picture(built, kind, paper) {
    await built.ready;
    const element = built.view.el;
    repaint((name) => paper[name]);
    element.style.background = paper.paper;
    await settled();
    const blob = await built.view.export(kind).to_blob();
    element.style.background = "";
    repaint(screen);
    return blob;
  }
  const settled = () => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });

  // ── the start: the library is unpacked when a chart comes near ──
  let library = null, unpacked = false;
  async function begin() {
    const [code, data] = await Promise.all([inflate("charts-library"), inflate("charts-data")]);
    unpack(data);
    document.head.append(make("script", { textContent: new TextDecoder().decode(code) }));
    Bokeh.logger.set_level("warn");
    // who holds still for a moment and then drags drags, too; a long press means nothing here
    Bokeh.require("core/ui_gestures").UIGestures.press_threshold = 2 ** 31 - 1; // ms, the longest that a timer takes
    unpacked = true;
  }
  async function drawn(figure) {
    library ||= begin();
    await library;
    figure.built ||= build(figure);
    await figure.built.ready;
    return figure.built;
  }
  const watch = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting) { watch.unobserve(target); drawn(target); }
  }, { rootMargin: "600px" });
  for (const figure of places) {
    figure.picture = async (kind, paper) => picture(await drawn(figure), kind, paper);
    watch.observe(figure);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => repaint(screen));
  matchMedia("print").addEventListener("change", () => { repaint(screen); places.forEach(drawn); });

  // ── printing, for which all must be drawn, on paper, before the browser goes on: at once, or in promises that nothing waits for ──
  const inside = (node) => [...node.shadowRoot?.childNodes ?? [], ...node.childNodes].flatMap((one) => [one, ...inside(one)]);
  const showOverlays = (shown) => {
    const upper = places.flatMap(inside).filter((one) => one.matches?.("canvas.bk-layer ~ canvas.bk-layer"));
    for (const one of upper) one.style.display = shown ? "" : "none";
  };
  const TURNS = 3000; // of promises, several times what BokehJS takes to build all figures and to give them other colours
  addEventListener("beforeprint", async () => {
    const paper = JSON.parse(document.getElementById("colours").textContent);
    repaint((name) => paper[name]);
    if (!unpacked) return;
    for (const figure of places) figure.built ||= build(figure);
    for (let turn = 0; turn < TURNS; turn += 1) await null;
    for (const { built } of places) if (built.view) plotsOf(built.view).forEach((one) => one.repaint());
    // on paper what empties the canvas above a figure, for boxes and crosshairs, would empty the figure's own
    showOverlays(false);
  });
  addEventListener("afterprint", () => { showOverlays(true); repaint(screen); });
  library = begin();
  /* Until the library is there the page is not loaded, so that what prints a page once it is loaded prints its figures, too:
     a document that is being written holds that up. */
  const held = make("iframe", { hidden: true });
  document.body.append(held);
  held.contentDocument?.open();
  library.finally(() => { held.contentDocument?.close(); held.remove(); });
})();
