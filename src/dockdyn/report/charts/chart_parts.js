/* What charts are made of: BokehJS's models of axes, lines, bands, words and legends, in the colours of the page. */
const parts = (() => {
  "use strict";

  // ── colours, which follow the page's ──
  const screen = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  let colour = screen;
  const painted = []; // models with the properties that are colours, by name
  function paint(model, names) {
    painted.push([model, names]);
    model.setv(Object.fromEntries(Object.entries(names).map(([key, name]) => [key, colour(name)])));
    return model;
  }
  function repaint(from) {
    colour = from;
    const known = painted.splice(0);
    for (const [model, names] of known) paint(model, names);
  }

  // ── models ──
  const model = new Proxy({}, { get: (_, name) => (given = {}) => new (Bokeh.Models.get(name))(given) });
  const letters = (narrow) => `${narrow ? 11 : 12}px`;
  const FONT = "system-ui, sans-serif";
  const bend = (scale) => (v) => (!scale.threshold ? v : Math.abs(v) <= scale.threshold
    ? scale.linear * v / scale.threshold : Math.sign(v) * (scale.linear + Math.log10(Math.abs(v) / scale.threshold)));

  /* Numbers as they are written: with as many decimals as they need together, very large and small ones as 2.5×10⁻⁷. */
  const SMALL = 1e-4, LARGE = 1e5, SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const raised = (power) => String(power).replace("-", "⁻").replace(/\d/g, (digit) => SUPERSCRIPTS[digit]);
  function numbers(values) {
    const largest = Math.max(...values.map(Math.abs)), power = Math.floor(Math.log10(largest) + 1e-9);
    const scaled = largest > 0 && (largest < SMALL || largest >= LARGE);
    const shown = scaled ? values.map((v) => v / 10 ** power) : values;
    let decimals = 0;
    while (decimals < 12 && shown.some((v) => Math.abs(v - v.toFixed(decimals)) > 1e-6 * Math.max(...shown.map(Math.abs)))) decimals += 1;
    return shown.map((v) => (+v.toFixed(decimals) === 0 ? "0" : `${v.toFixed(decimals)}${scaled ? `×10${raised(power)}` : ""}`.replace("-", "−")));
  }
  /* Ticks of a logarithmic axis, as many as fit: some of each decade, each decade or some of them; on a short stretch round numbers. */
  const OF_DECADE = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3], [1]];
  function logTicks(low, high, most) {
    const from = Math.floor(Math.log10(low)), decades = Array.from({ length: Math.ceil(Math.log10(high)) - from + 1 }, (_, i) => from + i);
    const within = (ticks) => ticks.filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
    const fitting = OF_DECADE.map((digits) => within(decades.flatMap((one) => digits.map((digit) => digit * 10 ** one)))).find((all) => all.length <= most);
    if (!fitting) return within(decades.filter((one) => one % Math.ceil(decades.length / most) === 0).map((one) => 10 ** one));
    if (fitting.length > 2) return fitting;
    const step = [1, 2, 5, 10].map((one) => one * 10 ** Math.floor(Math.log10((high - low) / most))).find((one) => (high - low) / one <= most);
    return within(Array.from({ length: most + 2 }, (_, i) => (Math.floor(low / step) + i) * step));
  }
  const logTicker = (most) => Object.assign(model.LogTicker(), { get_ticks: (low, high) => ({ major: logTicks(low, high, most), minor: [] }) });
  const ticked = (write) => Object.assign(model.BasicTickFormatter(), { doFormat: write });
  function axis(kind, narrow, given) {
    const size = letters(narrow), font = { axis_label_text_font: FONT, major_label_text_font: FONT };
    return paint(model[kind]({ axis_label_text_font_size: size, axis_label_text_font_style: "normal", ...font,
      major_label_text_font_size: size, minor_tick_line_color: null, major_tick_in: 0, major_tick_out: 4,
      axis_label_standoff: 6, ...given }), { axis_label_text_color: "ink", major_label_text_color: "ink",
      major_tick_line_color: "muted", axis_line_color: "muted" });
  }
  const NAME = 22; // letters of a name on an axis of a narrow figure
  const LETTER = (narrow) => (narrow ? 6 : 6.6); // px
  const wrap = (words, room) => words.replace(new RegExp(`(.{1,${Math.max(room, 8)}})( |$)`, "g"), "$1\n").trimEnd();
  /* A panel `room` pixels wide, of which names and numbers take a part. */
  function frame(panel, ranges, narrow, last, room) {
    const logUp = panel.scale === "log", logAcross = panel.acrossScale === "log";
    const named = ([, words]) => (narrow && words.length > NAME ? `…${words.slice(1 - NAME)}` : words); // the end tells more
    const longest = LETTER(narrow) * Math.max(0, ...panel.ticks.map((one) => named(one).length));
    const border = Math.max(narrow ? 62 : 78, longest + 12), left = panel.bare ? 4 : border, right = panel.bare ? 4 : 14;
    const below = last ? wrap(panel.across, Math.floor((room - border) / LETTER(narrow))) : "";
    const foot = last ? 30 + 16 * below.split("\n").length : 14;
    const height = Math.round(panel.shape ? panel.shape * (room - border - 14) : 96 * panel.height * (narrow ? 0.92 : 1));
    const plot = paint(model.Plot({ ...ranges, x_scale: model[logAcross ? "LogScale" : "LinearScale"](),
      y_scale: model[logUp ? "LogScale" : "LinearScale"](), sizing_mode: "stretch_width", frame_height: height,
      height: height + foot, background_fill_color: null, border_fill_color: null, toolbar_location: null,
      min_border_left: left, min_border_right: right, min_border_top: 4, min_border_bottom: foot - 2 - 2 * !last,
      extra_y_ranges: { share: model.Range1d({ start: 0, end: 1 }) }, outline_line_color: null,
      lod_threshold: null }), {});
    const across = axis(logAcross ? "LogAxis" : "LinearAxis", narrow, { axis_label: below,
      ...(last ? {} : { major_label_text_font_size: "0px" }) });
    if (panel.bare) return title(plot, panel, narrow);
    const each = (ticks) => ticks.map((one) => numbers([one])[0].replace(/^1×/, ""));
    across.formatter = ticked(logAcross ? each : numbers);
    const up = axis(logUp ? "LogAxis" : "LinearAxis", narrow, { axis_label: panel.label });
    up.formatter = ticked(logUp ? each : numbers);
    if (panel.ticks.length) {
      const f = bend(panel.scale);
      up.ticker = model.FixedTicker({ ticks: panel.ticks.map(([v]) => f(v)) });
      up.major_label_overrides = new Map(panel.ticks.map((one) => [f(one[0]), named(one)]));
    } else if (logUp) up.ticker = logTicker(Math.floor(height / 22));
    else up.ticker.desired_num_ticks = panel.height < 1.6 ? 4 : 6;
    const fit = Math.max(3, Math.min(8, Math.floor((room - border) / 60)));
    if (logAcross) across.ticker = logTicker(fit);
    else across.ticker.desired_num_ticks = fit;
    plot.add_layout(across, "below");
    plot.add_layout(up, "left");
    for (const [dimension, one] of [[0, across], [1, up]]) {
      if (dimension && panel.ticks.length && !panel.scale.threshold) continue; // it would strike names' words through
      plot.add_layout(paint(model.Grid({ dimension, axis: one }), { grid_line_color: "rule" }));
    }
    return title(plot, panel, narrow);
  }
  function title(plot, panel, narrow) {
    if (panel.title) {
      plot.add_layout(paint(model.Title({ text: panel.title, text_font_size: letters(narrow), text_font: FONT }),
        { text_color: "ink" }), "above");
    }
    return plot;
  }
  function glyph(plot, kind, data, given, colours, more = {}) {
    const found = paint(model[kind](given), colours);
    return plot.add_glyph(found, model.ColumnDataSource({ data }), more);
  }
  const look = (one, alpha = 1) => ({ line_width: 1.33 * one.width, line_dash: one.dash.map((part) => part * 1.33 * one.width),
    line_alpha: alpha });
  const MARKS = { o: "circle", ".": "circle", s: "square", "^": "triangle", x: "x", X: "x" };

  /* A line as one renderer or two; with `empty` data it only stands in the legend. */
  function draw(plot, line, columns, f, empty = false) {
    const data = empty ? { x: [NaN], y: [NaN], reach: [NaN] } : { x: columns[line.x], y: columns[line.y].map(f) };
    if (line.reach !== null) {
      if (!empty) {
        const rows = data.x.map((_, i) => i).filter((i) => Number.isFinite(columns[line.y][i] + columns[line.reach][i]));
        for (const key of ["x", "y", "reach"]) data[key] = Float64Array.from(rows, (i) => (key === "x" ? columns[line.x][i] : f(columns[line[key]][i])));
      }
      return [glyph(plot, "VArea", data, { x: { field: "x" }, y1: { field: "y" }, y2: { field: "reach" }, fill_alpha: 0.25 },
        { fill_color: line.colour })];
    }
    const found = [], at = { x: { field: "x" }, y: { field: "y" } };
    if (line.joined) found.push(glyph(plot, "Line", data, { ...at, ...look(line) }, { line_color: line.colour }));
    if (line.marker) {
      const size = 1.33 * line.size * (line.marker === "." ? 0.6 : 1);
      found.push(glyph(plot, "Scatter", data, { ...at, size: { value: size }, marker: { value: MARKS[line.marker] }, line_width: line.marker === "X" ? 3 : 1.5 },
        { fill_color: line.hollow ? "paper" : line.colour, line_color: line.colour }));
    }
    return found;
  }
  /* A filled region: rings with gaps between them, those inside of others cut holes. */
  function drawArea(plot, area, columns, f) {
    const rings = [[], []];
    [columns[area.x], columns[area.y].map(f)].forEach((values, side) => {
      let ring = null;
      values.forEach((v, i) => {
        if (Number.isNaN(columns[area.x][i] + columns[area.y][i])) ring = null;
        else if (ring) ring.push(v);
        else rings[side].push(ring = [v]);
      });
    });
    return glyph(plot, "MultiPolygons", { xs: [[rings[0]]], ys: [[rings[1]]] }, { xs: { field: "xs" }, ys: { field: "ys" },
      fill_alpha: area.alpha, line_alpha: 0 }, { fill_color: area.colour }, { level: "underlay" });
  }
  const alike = (found, key) => Object.values(Object.groupBy(found, (one) => key.map((name) => one[name]).join()));
  function drawBands(plot, bands, f) {
    return alike(bands, ["axis", "colour", "alpha", "legend"]).map((group) => {
      const [{ axis: side, alpha, colour: name, legend }] = group, up = side === "y", g = up ? f : (v) => v;
      const data = { a: group.map((one) => g(one.start)), b: group.map((one) => g(one.end)) };
      const given = { fill_alpha: alpha, line_alpha: alpha === 1 ? 1 : 0, line_width: 0.6,
        [up ? "y0" : "x0"]: { field: "a" }, [up ? "y1" : "x1"]: { field: "b" } };
      return [legend, glyph(plot, up ? "HStrip" : "VStrip", data, given, { fill_color: name, line_color: name }, { level: "underlay" })];
    });
  }
  function drawLevels(plot, levels, f) {
    return alike(levels, ["axis", "colour", "width", "dash", "legend", "share"]).map((group) => {
      const [one] = group, up = one.axis === "y", data = { at: group.map(({ at }) => (up ? f(at) : at)) };
      const at = { field: "at" }, colours = { line_color: one.colour };
      const ticks = { x0: at, x1: at, y0: { value: 0 }, y1: { value: one.share } };
      return [one.legend, one.share < 1
        ? glyph(plot, "Segment", data, { ...ticks, ...look(one) }, colours, { y_range_name: "share" })
        : glyph(plot, up ? "HSpan" : "VSpan", data, { [up ? "y" : "x"]: at, ...look(one) }, colours)];
    });
  }
  const EDGES = { top: "top", center: "middle", bottom: "bottom" };
  function drawNotes(plot, notes, f, narrow) {
    for (const one of notes) {
      const size = one.small ? `${narrow ? 9 : 10}px` : letters(narrow);
      glyph(plot, "Text", { x: [one.x], y: [f(one.y)], text: [one.words] }, { x: { field: "x" }, y: { field: "y" },
        text: { field: "text" }, x_offset: { value: one.away[0] }, y_offset: { value: -one.away[1] },
        text_align: { value: one.side }, text_baseline: { value: EDGES[one.level] }, background_fill_alpha: 0.6,
        text_font: { value: FONT }, text_font_size: { value: size } },
      { text_color: one.small ? "muted" : "ink", background_fill_color: "paper" });
    }
  }
  function nameEvents(plot, events, narrow) {
    if (!events.length) return;
    const named = axis("LinearAxis", narrow, { ticker: model.FixedTicker({ ticks: events.map((one) => one.middle) }),
      major_label_overrides: new Map(events.map((one) => [one.middle, one.name])), major_label_standoff: 0,
      major_label_policy: model.NoOverlap({ min_distance: 4 }) });
    painted.pop();
    paint(named, { major_label_text_color: "muted" });
    named.setv({ axis_line_color: null, major_tick_line_color: null });
    plot.add_layout(named, "above");
  }
  const eventsOf = (panel) => [...panel.bands.filter((one) => one.axis === "x").map((one) => ({ ...one, middle: (one.start + one.end) / 2 })),
    ...panel.levels.map((one) => ({ ...one, start: one.at, end: one.at, middle: one.at }))]
    .filter((one) => one.name).sort((a, b) => a.middle - b.middle);

  /* The legend, whose entries show and hide what has their name in every panel. */
  function addLegend(plot, named, width, narrow) {
    const entries = [...named];
    if (entries.length < 2) return;
    const longest = Math.max(...entries.map(([name]) => name.length));
    const ncols = Math.max(1, Math.min(entries.length, Math.floor((width - 90) / (longest * LETTER(narrow) + 42))));
    const room = Math.floor((width - 130) / LETTER(narrow)); // letters
    const items = entries.map(([name, renderers]) => {
      const label = wrap(name, room);
      for (const one of renderers.slice(1)) {
        renderers[0].properties.visible.change.connect(() => { one.visible = renderers[0].visible; });
      }
      return model.LegendItem({ label: { value: label }, renderers: renderers.filter((one) => plot.renderers.includes(one)).slice(0, 2) });
    });
    plot.add_layout(paint(model.Legend({ items, ncols, orientation: "horizontal", click_policy: "hide", border_line_color: null,
      location: "left", background_fill_color: null, label_text_font_size: letters(narrow), label_text_font: FONT, padding: 2, margin: 0, spacing: 4,
      glyph_height: 14, glyph_width: 24, label_height: 14, label_standoff: 4, inactive_fill_alpha: 0.65 }),
    { label_text_color: "ink", inactive_fill_color: "paper" }), "above");
  }

  return { screen, repaint, model, bend, frame, draw, drawArea, drawBands, drawLevels, drawNotes, nameEvents, eventsOf, addLegend, numbers, logTicks };
})();
