"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  // plotly reads a little HTML in its texts; a name is a name.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  // Only what works offline: plotly's own bar has a button that sends the chart to its makers.
  const config = { displaylogo: false, responsive: true, showSendToCloud: false, plotlyServerURL: "", modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]] };
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: "#1b1f24" };
  const grid = { gridcolor: "#e6eaee", zeroline: false, linecolor: "#9aa5af", ticks: "outside", tickcolor: "#9aa5af" };

  // ---- tables -------------------------------------------------------------------------------
  const key = (row, column) => {
    const cell = row.cells[column];
    return (cell.dataset.v ?? cell.textContent).trim();
  };
  const compare = (a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((r, s) => {
        const [a, b] = [key(r, column), key(s, column)];
        if (!a || !b) return !a - !b;             // what is missing comes last, either way
        return down ? compare(b, a) : compare(a, b);
      });
      table.tBodies[0].append(...rows);
    }));
  }
  find("target")?.addEventListener("change", (event) => {
    const wanted = event.target.value;
    for (const row of find("winners").tBodies[0].rows)
      row.hidden = wanted === "tightest" ? row.dataset.tightest === "0" : row.dataset.target !== wanted;
  });
  for (const box of document.querySelectorAll("input[data-table]")) {
    box.addEventListener("input", () => {
      const wanted = box.value.toLowerCase();
      for (const row of find(box.dataset.table).tBodies[0].rows)
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }

  // ---- convergence --------------------------------------------------------------------------
  const hidden = new Set();
  const drawable = (v) => v !== null && v > 0;

  // Whole decades where there are several; plotly's own choice within one or two.
  function logAxis(values) {
    const logs = values.filter(drawable).map(Math.log10);
    const decades = Math.max(...logs) - Math.min(...logs);
    return { ...grid, type: "log", ...(decades > 2 ? { dtick: Math.ceil(decades / 9) } : {}) };
  }

  function curveTrace(curve, axis, measure) {
    const look = data.solvers[curve.solver];
    const drawn = curve.k.map((_, r) => drawable(curve[axis][r]) && drawable(curve[measure][r]));
    const end = drawn.lastIndexOf(true);
    // A mark where the run ends, and where a point has no neighbour to be joined to.
    const marked = drawn.map((d, r) => d && (r === end || (!drawn[r - 1] && !drawn[r + 1])));
    return {
      type: "scatter", mode: curve.once ? "markers" : "lines+markers", name: plain(look.label),
      x: curve[axis].map((v, r) => (drawn[r] ? v : null)), y: curve[measure].map((v, r) => (drawn[r] ? v : null)),
      line: { color: look.colour, dash: look.dash, width: 2 },
      marker: { color: look.colour, symbol: look.symbol, size: marked.map((m) => (m ? 9 : 0)), opacity: 1, line: { width: 0 } },
      customdata: curve.k.map((k, r) => [k, curve.seconds[r], curve.lmo[r] ?? "not counted"]),
      hovertemplate: "%{y:.2e} at k = %{customdata[0]}, %{customdata[1]:.3s}s, %{customdata[2]} oracle calls",
    };
  }

  function notesOf(curve, axis, measure) {
    const name = data.solvers[curve.solver].label;
    if (curve[measure].every((v) => v === null)) return [];
    if (curve[axis].every((v) => v === null)) return [`${name}: ${data.axes[axis]} were not counted, so it is not drawn.`];
    const bad = curve.k.filter((_, r) => curve[measure][r] !== null && curve[measure][r] <= 0);
    if (!bad.length) return [];
    const where = bad.length === 1 ? `k = ${bad[0]}` : `${bad.length} rows from k = ${bad[0]} on`;
    return [`${name}: ${data.measures[measure]} is zero or below at ${where}; a log axis has no place for it, so it is not drawn.`];
  }

  function drawCurves() {
    const axis = document.querySelector("input[name=axis]:checked").value;
    const curves = data.curves.filter((curve) => curve.instance === Number(find("instance").value));
    const present = [...new Set(curves.map((curve) => curve.solver))].sort((a, b) => a - b);
    find("legend").replaceChildren(...present.map(legendButton));
    // Solid lines first: a dashed one on top lets an equal one below be seen.
    const shown = curves.filter((curve) => !hidden.has(curve.solver))
      .sort((a, b) => (data.solvers[b.solver].dash === "solid") - (data.solvers[a.solver].dash === "solid"));
    const measures = Object.keys(data.measures).filter((m) => curves.some((curve) => curve[m].some(drawable)));
    const notes = new Set();
    if (!measures.length) notes.add("No run on this instance has a value that a log axis can show.");
    else if (!measures.includes("suboptimality")) notes.add("No suboptimality: no run here has a reference, or a value above it.");
    const panels = [...find("panels").children];
    for (const panel of panels) panel.hidden = !measures.includes(panel.dataset.measure);
    for (const panel of panels.filter((p) => !p.hidden)) {   // laid out by now
      const measure = panel.dataset.measure;
      for (const curve of shown) notesOf(curve, axis, measure).forEach((note) => notes.add(note));
      const traces = shown.filter((c) => c[measure].some(drawable)).map((c) => curveTrace(c, axis, measure));
      Plotly.react(panel, traces, {
        title: { text: data.measures[measure], font: { size: 14 }, x: 0.01, xanchor: "left", y: 0.98 },
        xaxis: { ...logAxis(traces.flatMap((t) => t.x)), title: { text: data.axes[axis], standoff: 8 }, exponentformat: "SI", minexponent: 0, ticksuffix: axis === "seconds" ? "s" : "" },
        yaxis: { ...logAxis(traces.flatMap((t) => t.y)), exponentformat: "power", minexponent: 0 },
        font, showlegend: false, hovermode: "closest", margin: { l: 58, r: 14, t: 34, b: 46 },
        paper_bgcolor: "#fff", plot_bgcolor: "#fff",
      }, config);
    }
    find("notes").replaceChildren(...[...notes].map((note) => Object.assign(document.createElement("li"), { textContent: note })));
  }

  function legendButton(solver) {
    const look = data.solvers[solver];
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", String(!hidden.has(solver)));
    button.append(chip(look), look.label);
    button.addEventListener("click", () => {
      hidden.has(solver) ? hidden.delete(solver) : hidden.add(solver);
      drawCurves();
    });
    return button;
  }

  function chip(look) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 30 10");
    svg.classList.add("chip");
    const line = document.createElementNS(svg.namespaceURI, "line");
    const dash = look.dash === "solid" ? "" : look.dash.replace(/px/g, "");
    Object.entries({ x1: 1, y1: 5, x2: 29, y2: 5, stroke: look.colour, "stroke-width": 2.4, "stroke-dasharray": dash })
      .forEach(([name, value]) => line.setAttribute(name, value));
    svg.append(line);
    return svg;
  }

  if (find("instance")) {
    find("instance").addEventListener("change", drawCurves);
    document.querySelectorAll("input[name=axis]").forEach((input) => input.addEventListener("change", drawCurves));
    drawCurves();
  }

  // ---- growth -------------------------------------------------------------------------------
  function drawGrowth(regime, place) {
    const traces = regime.lines.map(({ solver, sizes, seconds }) => {
      const look = data.solvers[solver];
      return {
        type: "scatter", mode: "lines+markers", x: sizes, y: seconds, name: plain(look.label),
        line: { color: look.colour, dash: look.dash, width: 2 }, marker: { color: look.colour, symbol: look.symbol, size: 8 },
        hovertemplate: `${regime.against} = %{x}: %{y:.3s}s`,
      };
    });
    Plotly.newPlot(find(`growth-${place}`), traces, {
      xaxis: { ...logAxis(traces.flatMap((t) => t.x)), title: { text: regime.against, standoff: 8 } },
      yaxis: { ...logAxis(traces.flatMap((t) => t.y)), exponentformat: "SI", minexponent: 0, ticksuffix: "s" },
      font, hovermode: "closest", margin: { l: 58, r: 14, t: 12, b: 46 }, paper_bgcolor: "#fff", plot_bgcolor: "#fff",
      legend: { orientation: "h", x: 0, y: -0.16, yanchor: "top", itemwidth: 42 },
    }, config);
  }
  data.growth.forEach(drawGrowth);

  // ---- pictures -----------------------------------------------------------------------------
  function drawPicture(picture, place) {
    const column = (points, j) => points.map((p) => p && p[j]);
    const scatter = (points, more) => ({ type: "scatter", x: column(points, 0), y: column(points, 1), hoverinfo: "skip", showlegend: false, ...more });
    const count = picture.leaders.length;
    // a row is value, length, value, length, …
    const rows = picture.cells.map((runs) => runs.flatMap((value, i) => (i % 2 ? [] : Array(runs[i + 1]).fill(value))));
    const cells = {
      type: "heatmap", x: picture.cell_x, y: picture.cell_y, z: rows, zmin: -0.5, zmax: Math.max(count, 1) - 0.5,
      colorscale: picture.colours.flatMap((colour, i) => [[i / count, colour], [(i + 1) / count, colour]]),
      customdata: rows.map((row) => row.map((i) => (i === null ? null : picture.leaders[i]))),
      hovertemplate: "atom %{customdata} leads at (%{x:.3g}, %{y:.3g})<extra></extra>", hoverongaps: false, showscale: false,
    };
    const paths = picture.paths.flatMap(({ solver, lines }, rank, all) => {
      const look = data.solvers[solver];
      const group = { legendgroup: String(solver), name: plain(look.label) };
      const thick = Math.min(1.5 * (all.length - 1 - rank), 6);
      return [
        scatter(lines.flatMap((line) => [...line, null]), { ...group, mode: "lines", showlegend: true, line: { color: look.colour, dash: look.dash, width: 1.7 + thick } }),
        scatter(lines.map((line) => line[line.length - 1]), { ...group, mode: "markers", marker: { color: look.colour, symbol: look.symbol, size: 8 + 2 * thick, line: { width: 0 } } }),
      ];
    });
    const middle = [0, 1].map((j) => column(picture.hull, j).reduce((a, b) => a + b) / picture.hull.length);
    const outward = ([x, y]) => `${y > middle[1] ? "top" : "bottom"} ${x > middle[0] ? "right" : "left"}`;
    const few = picture.atoms.length <= 40;
    Plotly.newPlot(find(`picture-${place}`), [
      cells,
      scatter(picture.hull, { mode: "lines", line: { color: "#444c55", width: 1.2 } }),
      scatter(picture.atoms, {
        mode: few ? "markers+text" : "markers", text: picture.atoms.map((_, i) => `<b>${i}</b>`),
        textposition: picture.atoms.map(outward), marker: { size: few ? 7 : 4, color: "#444c55" }, cliponaxis: false,
      }),
      ...paths,
      scatter(picture.starts, { mode: "markers", marker: { symbol: "circle-open", size: 7, color: "#1b1f24", line: { width: 1.4 } } }),
    ], {
      xaxis: { ...grid, showgrid: false, constrain: "domain", range: picture.window[0] },
      yaxis: { ...grid, showgrid: false, scaleanchor: "x", constrain: "domain", range: picture.window[1] },
      font, hovermode: "closest", margin: { l: 44, r: 10, t: 12, b: 30 }, paper_bgcolor: "#fff", plot_bgcolor: "#fff",
      legend: { orientation: "h", x: 0, y: -0.06, yanchor: "top", itemwidth: 42 },
    }, config);
  }
  data.pictures.forEach(drawPicture);
})();
