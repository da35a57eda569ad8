// ---- charts -----------------------------------------------------------------------------------
// Only what works offline: plotly's own bar has a button that sends the chart to its makers.
const config = { displaylogo: false, responsive: true, showSendToCloud: false, plotlyServerURL: "", modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]] };
const drawable = (value) => value !== null && value > 0;
// What cannot be seen, or turns the text around, is spelled out.
const visible = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (letter) => `\\u${letter.codePointAt(0).toString(16).padStart(4, "0")}`);
const named = (solver) => plain(visible(data.solvers[solver].label));
const columnOf = (place) => (place === undefined || place === null ? null : data.columns[place]);
const hiddenSolver = (solver) => state.get("hidden").has(data.solvers[solver].label);

// A chart is drawn when it comes near, and again when what it shows has changed; all before a print.
const charts = (() => {
  const draws = new Map();         // element → what draws it
  const stale = new Set();
  const near = new Set();
  const draw = (box) => {
    if (!stale.has(box) || !box.checkVisibility()) return;   // what is hidden has no size
    stale.delete(box);
    draws.get(box)(box);
  };
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      isIntersecting ? near.add(target) : near.delete(target);
      if (isIntersecting) draw(target);
    }
  }, { rootMargin: "400px" });
  addEventListener("beforeprint", () => [...stale].forEach(draw));
  return {
    add(box, how) {
      draws.set(box, how);
      stale.add(box);
      watch.observe(box);
    },
    changed(box) {
      stale.add(box);
      if (near.has(box)) draw(box);
    },
  };
})();

function layout(more) {
  const colours = theme();
  const axis = { gridcolor: colours.grid, zeroline: false, linecolor: colours.line, ticks: "outside", tickcolor: colours.line };
  const { xaxis, yaxis, ...rest } = more;
  return {
    font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: colours.ink },
    showlegend: false, hovermode: "closest", margin: { l: 58, r: 14, t: 14, b: 46 },
    paper_bgcolor: colours.paper, plot_bgcolor: colours.paper,
    hoverlabel: { bgcolor: colours.paper, bordercolor: colours.line, font: { color: colours.ink }, namelength: -1 },
    ...rest, xaxis: { ...axis, ...xaxis }, yaxis: { ...axis, ...yaxis },
  };
}

// Whole decades where there are several, fewer where there is little room; else plotly's own choice.
function logAxis(values, room) {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (!drawable(value)) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  const decades = most > 0 ? Math.log10(most / least) : 0;
  return { type: "log", ...(decades > 2 ? { dtick: Math.ceil(decades / (room < 420 ? 5 : 9)) } : {}) };
}

const timeAxis = { exponentformat: "SI", minexponent: 0, ticksuffix: "s" };
const faded = (colour, alpha) => colour + Math.round(255 * alpha).toString(16).padStart(2, "0");
const titled = (text) => ({ text, font: { size: 14 }, x: 0.01, xanchor: "left", y: 0.98 });

// ---- legends: a button a solver, for the whole page --------------------------------------------
function legendOf(box, solvers) {
  const had = [...box.querySelectorAll("button")];
  const focus = had.indexOf(document.activeElement);
  box.replaceChildren(...[...new Set(solvers)].sort((a, b) => a - b).map(legendButton));
  if (focus >= 0) box.children[Math.min(focus, box.children.length - 1)]?.focus();
}

function legendButton(solver) {
  const look = data.solvers[solver];
  const button = document.createElement("button");
  button.type = "button";
  button.setAttribute("aria-pressed", String(!hiddenSolver(solver)));
  button.append(Object.assign(document.createElement("i"), { className: `chip chip-${solver}` }), visible(look.label));
  button.addEventListener("click", () => {
    const hidden = state.get("hidden");
    if (!hidden.delete(look.label)) hidden.add(look.label);
    state.set({ hidden });
  });
  return button;
}

function listed(box, notes) {
  box.replaceChildren(...[...new Set(notes)].map((note) => Object.assign(document.createElement("li"), { textContent: note })));
}

// ---- convergence ------------------------------------------------------------------------------
// What is shown: one instance, or all seeds of its regime together.
function view() {
  const wanted = state.get("instance");
  const instance = wanted ? data.instances.indexOf(wanted) : 0;
  const regime = data.regimes.findIndex((one) => one.instances.includes(instance));
  const seeds = regime >= 0 && state.get("over") === "seeds";
  const here = seeds ? data.regimes[regime].instances : [instance];
  return {
    instance, regime, seeds, axis: state.get("axis"),
    runs: data.curves.map((_, i) => i).filter((i) => here.includes(data.curves[i].instance)),
    bandsOf: (measure) => data.bands.filter((band) => band.measure === measure && band.axis === state.get("axis")
      && (seeds ? band.regime === regime : band.instance === instance)),
  };
}

// A mark where a run ends, and where a point has no neighbour to be joined to.
function marksOf(drawn) {
  const end = drawn.lastIndexOf(true);
  return drawn.map((d, r) => (d && (r === end || (!drawn[r - 1] && !drawn[r + 1])) ? 9 : 0));
}

function curveTrace(curve, axis, measure, thin) {
  const look = data.solvers[curve.solver];
  const [k, x, y, seconds, lmo] = ["k", axis, measure, "seconds", "lmo"].map((name) => columnOf(curve[name]));
  const drawn = k.map((_, r) => drawable(x?.[r] ?? null) && drawable(y[r]));
  return {
    type: "scatter", mode: curve.once ? "markers" : "lines+markers", name: named(curve.solver),
    x: k.map((_, r) => (drawn[r] ? x[r] : null)), y: y.map((v, r) => (drawn[r] ? v : null)),
    line: { color: look.colour, dash: look.dash, width: thin ? 1 : 2 },
    marker: { color: look.colour, symbol: look.symbol, size: marksOf(drawn), opacity: 1, line: { width: 0 } },
    customdata: k.map((step, r) => [step, seconds?.[r] ?? "untimed", lmo?.[r] ?? "not counted"]),
    hovertemplate: `%{y:.2e} at k = %{customdata[0]}, %{customdata[1]${seconds ? ":.3s" : ""}}${seconds ? "s" : ""}, %{customdata[2]} oracle calls`,
  };
}

// The band, its median on top, and what single members did after the first of them had stopped.
function bandTraces(band, floor) {
  const look = data.solvers[band.solver];
  const [at, low, median, high] = ["at", "low", "median", "high"].map((name) => columnOf(band[name]));
  const shape = { x: [], y: [] };
  for (let from = 0; from < at.length; from++) {
    let to = from;
    while (to < at.length && drawable(high[to])) to++;       // up to a hole
    const part = at.slice(from, to).map((_, i) => from + i);
    if (part.length > 1) {
      const back = [...part].reverse();
      shape.x.push(...part.map((i) => at[i]), ...back.map((i) => at[i]), null);
      shape.y.push(...part.map((i) => high[i]), ...back.map((i) => (drawable(low[i]) ? low[i] : floor)), null);
    }
    from = to;
  }
  const drawn = median.map(drawable);
  const ends = band.ends === "quartiles" ? "quartiles" : "lowest and highest";
  const traces = [{
    type: "scatter", mode: "lines", ...shape, fill: "toself", fillcolor: faded(look.colour, 0.22), line: { width: 0 }, hoverinfo: "skip",
  }, {
    type: "scatter", mode: "lines+markers", name: named(band.solver), x: at, y: median.map((v, i) => (drawn[i] ? v : null)),
    line: { color: look.colour, dash: look.dash, width: 2 },
    marker: { color: look.colour, symbol: look.symbol, size: marksOf(drawn), opacity: 1, line: { width: 0 } },
    customdata: at.map((_, i) => [low[i], high[i]]),
    hovertemplate: `median %{y:.2e} at %{x:.4~s}, ${ends} of ${band.members}: %{customdata[0]:.2e} … %{customdata[1]:.2e}`,
  }];
  const tails = band.tails.map((tail) => tailOf(tail, band)).filter(({ y }) => y.some(drawable));
  if (tails.length) traces.push({
    type: "scatter", mode: "lines+markers", name: named(band.solver),
    x: tails.flatMap(({ x }) => [...x, null]), y: tails.flatMap(({ y }) => [...y.map((v) => (drawable(v) ? v : null)), null]),
    line: { color: look.colour, dash: look.dash, width: 1 },
    marker: { color: look.colour, symbol: look.symbol, size: tails.flatMap(({ y }) => [...marksOf(y.map(drawable)).map((m) => m && 6), 0]), opacity: 1, line: { width: 0 } },
    hovertemplate: "%{y:.2e} at %{x:.4~s}, one run alone",
  });
  return traces;
}

function tailOf(tail, band) {
  const curve = data.curves[tail.curve];
  const [x, y] = curve ? [columnOf(curve[band.axis]), columnOf(curve[band.measure])] : [columnOf(tail.x), columnOf(tail.y)];
  const first = Math.max(x.findLastIndex((v) => v !== null && v <= band.end), 0);
  return { x: x.slice(first), y: y.slice(first) };
}

function notesOf(curve, axis, measure) {
  const name = visible(data.solvers[curve.solver].label);
  const [k, x, y] = ["k", axis, measure].map((column) => columnOf(curve[column]));
  if (!y) return [];
  if (!x) return [`${name}: ${data.axes[axis]} were not counted, so it is not drawn.`];
  const bad = k.filter((_, r) => y[r] !== null && y[r] <= 0);
  if (!bad.length) return [];
  const where = bad.length === 1 ? `k = ${bad[0]}` : `${bad.length} rows from k = ${bad[0]} on`;
  return [`${name}: ${data.measures[measure]} is zero or below at ${where}; a log axis has no place for it, so it is not drawn.`];
}

function bandNotes(bands, seeds) {
  const what = seeds ? "seeds" : "repetitions";
  const ends = [...new Set(bands.map((band) => band.ends))].map((one) => (one === "quartiles" ? "between the quartiles" : "from the lowest to the highest")).join(" or ");
  const notes = bands.length ? [`Lines are medians over ${what}, bands go ${ends}. A band ends where its first run stops; thin lines are the runs that went on.`] : [];
  const short = bands.filter((band) => band.members < band.of)
    .map((band) => `${visible(data.solvers[band.solver].label)}: ${band.members} of ${band.of} ${what} have a ${data.measures[band.measure]}.`);
  return [...notes, ...short];
}

function drawPanel(panel) {
  const { axis, seeds, runs, bandsOf } = view();
  const { measure } = panel.dataset;
  const bands = bandsOf(measure).filter((band) => !hiddenSolver(band.solver));
  const covered = new Set(bands.flatMap((band) => band.covers));
  // Solid lines first: a dashed one on top lets an equal one below be seen.
  const single = runs.filter((i) => !covered.has(i)).map((i) => data.curves[i])
    .filter((curve) => !hiddenSolver(curve.solver) && columnOf(curve[measure])?.some(drawable))
    .sort((a, b) => (data.solvers[b.solver].dash === "solid") - (data.solvers[a.solver].dash === "solid"));
  const lines = single.map((curve) => curveTrace(curve, axis, measure, seeds && !curve.once));
  const lowest = [...lines.map((trace) => trace.y), ...bands.flatMap((band) => [columnOf(band.low), columnOf(band.median)])]
    .flat().filter(drawable).reduce((a, b) => Math.min(a, b), Infinity);
  const banded = bands.map((band) => bandTraces(band, lowest));
  const traces = [...banded.map(([area]) => area), ...lines, ...banded.flatMap(([, ...rest]) => rest)];
  const room = panel.clientWidth;
  Plotly.react(panel, traces, layout({
    title: titled(data.measures[measure]), margin: { l: 58, r: 14, t: 34, b: 46 },
    xaxis: { ...logAxis(traces.flatMap((t) => t.x), room), title: { text: data.axes[axis], standoff: 8 }, ...(axis === "seconds" ? timeAxis : { exponentformat: "SI", minexponent: 0 }) },
    yaxis: { ...logAxis(traces.flatMap((t) => t.y)), exponentformat: "power", minexponent: 0 },
  }), config);
}

function showCurves() {
  const { instance, regime, seeds, axis, runs, bandsOf } = view();
  const curves = runs.map((i) => data.curves[i]);
  const shown = curves.filter((curve) => !hiddenSolver(curve.solver));
  const label = visible(data.instances[instance] ?? state.get("instance"));
  find("curves-caption").textContent = seeds ? "" : data.captions[instance] ?? "";
  find("curves-of").textContent = seeds ? `${visible(data.regimes[regime].label)}, ${data.regimes[regime].instances.length} seeds together` : label;
  find("curves-first").textContent = state.get("instance") || data.instances.length < 2 ? "" : `the first of ${data.instances.length}; the list of instances above chooses another`;
  find("over").hidden = regime < 0;
  if (regime >= 0) find("over-seeds").textContent = `all ${data.regimes[regime].instances.length} seeds`;
  for (const input of document.querySelectorAll("input[name=axis]")) input.checked = input.value === axis;
  for (const input of document.querySelectorAll("input[name=over]")) input.checked = input.value === (seeds ? "seeds" : "");
  legendOf(find("legend"), curves.map((curve) => curve.solver));
  const measures = Object.keys(data.measures).filter((m) => curves.some((curve) => columnOf(curve[m])?.some(drawable)));
  const notes = [];
  if (!curves.length) notes.push("No run on this instance left a trace.");
  else if (!measures.length) notes.push("No run on this instance has a value that a log axis can show.");
  else if (!measures.includes("suboptimality")) notes.push("No suboptimality: no run here has a reference, or a value above it.");
  const bands = measures.flatMap(bandsOf).filter((band) => !hiddenSolver(band.solver));
  notes.push(...bandNotes(bands, seeds));
  if (!seeds && !bands.length && data.bands.some((band) => band.instance === instance))
    notes.push(`Repetitions took the same steps: one line stands for all of them. They differ in ${data.axes.seconds}.`);
  for (const measure of measures) for (const curve of shown) notes.push(...notesOf(curve, axis, measure));
  listed(find("notes"), notes);
  for (const panel of find("panels").children) {
    panel.hidden = !measures.includes(panel.dataset.measure);
    if (!panel.hidden) charts.changed(panel);
  }
}

if (find("panels")) {
  for (const panel of find("panels").children) charts.add(panel, drawPanel);
  document.querySelectorAll("input[name=axis]").forEach((input) => input.addEventListener("change", () => state.set({ axis: input.value })));
  document.querySelectorAll("input[name=over]").forEach((input) => input.addEventListener("change", () => state.set({ over: input.value })));
  state.on(["instance", "hidden", "axis", "over", "theme"], showCurves);
}

// ---- growth -----------------------------------------------------------------------------------
function drawGrowth(box, { against, lines }) {
  const steps = state.get("growth") === "steps";
  const quantity = steps ? "steps" : "seconds";
  const shown = lines.filter((line) => !hiddenSolver(line.solver) && line[quantity].some(drawable));
  const traces = shown.flatMap(({ solver, sizes, exponents, points, ...line }) => {
    const look = data.solvers[solver];
    const trace = (x, y, more) => ({
      type: "scatter", x, y, name: named(solver), marker: { color: look.colour, symbol: look.symbol, size: 8 },
      customdata: x.map(() => [exponents[quantity] ?? "not fitted"]),
      hovertemplate: `${steps ? "%{y} steps" : "%{y:.3s}s"} at ${against} = %{x}; exponent %{customdata[0]}`, ...more,
    });
    // Where one size has several instances the line goes through their medians.
    const through = trace(sizes, line[quantity], { mode: points ? "lines" : "lines+markers", line: { color: look.colour, dash: look.dash, width: 2 } });
    return points ? [through, trace(points.sizes, points[quantity], { mode: "markers", marker: { color: look.colour, symbol: look.symbol, size: 5 } })] : [through];
  });
  Plotly.react(box, traces, layout({
    xaxis: { ...logAxis(traces.flatMap((t) => t.x), box.clientWidth), title: { text: against, standoff: 8 }, exponentformat: "SI", minexponent: 0 },
    yaxis: { ...logAxis(traces.flatMap((t) => t.y)), ...(steps ? { exponentformat: "SI", minexponent: 0 } : timeAxis) },
  }), config);
}

if (find("growth-legend")) {
  const boxes = data.growth.map((regime, place) => [find(`growth-${place}`), regime]);
  for (const [box, regime] of boxes) charts.add(box, () => drawGrowth(box, regime));
  document.querySelectorAll("input[name=growth]").forEach((input) => input.addEventListener("change", () => state.set({ growth: input.value })));
  state.on(["hidden", "theme", "growth"], () => {
    for (const input of document.querySelectorAll("input[name=growth]")) input.checked = input.value === state.get("growth");
    legendOf(find("growth-legend"), data.growth.flatMap(({ lines }) => lines.map((line) => line.solver)));
    boxes.forEach(([box]) => charts.changed(box));
  });
}
