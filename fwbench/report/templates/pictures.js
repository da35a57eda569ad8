// ---- pictures in the plane --------------------------------------------------------------------
const INK_ON_PALE = "#1b1f24";

// A path is x, y, x, y, … in whole units from an origin.
function unpacked(line, { origin, unit }) {
  const points = [];
  for (let i = 0; i < line.length; i += 2)
    points.push(line[i] === null ? null : [origin[0] + unit * line[i], origin[1] + unit * line[i + 1]]);
  return points;
}

function drawPicture(box, picture) {
  const colours = theme();
  const dark = isDark(colours.paper);
  const column = (points, j) => points.map((p) => p && p[j]);
  const scatter = (points, more) => ({ type: "scatter", x: column(points, 0), y: column(points, 1), hoverinfo: "skip", ...more });
  const count = picture.leaders.length;
  // a row is value, length, value, length, …
  const rows = picture.cells.map((runs) => runs.flatMap((value, i) => (i % 2 ? [] : Array(runs[i + 1]).fill(value))));
  const cells = {
    type: "heatmap", x: picture.cell_x, y: picture.cell_y, z: rows, zmin: -0.5, zmax: Math.max(count, 1) - 0.5,
    colorscale: (dark ? picture.dark : picture.colours).flatMap((colour, i) => [[i / count, colour], [(i + 1) / count, colour]]),
    customdata: rows.map((row) => row.map((i) => (i === null ? null : picture.leaders[i]))),
    hovertemplate: "atom %{customdata} leads at (%{x:.3g}, %{y:.3g})<extra></extra>", hoverongaps: false, showscale: false,
  };
  const shown = picture.paths.filter(({ solver }) => !hiddenSolver(solver));
  const paths = shown.flatMap(({ solver, lines }, rank, all) => {
    const look = data.solvers[solver];
    const points = lines.map((line) => unpacked(line, picture));
    const thick = Math.min(1.5 * (all.length - 1 - rank), 6);
    return [
      scatter(points.flatMap((line) => [...line, null]), { name: named(solver), mode: "lines", line: { color: look.colour, dash: look.dash, width: 1.7 + thick } }),
      scatter(points.map((line) => line[line.length - 1]), { name: named(solver), mode: "markers", marker: { color: look.colour, symbol: look.symbol, size: 8 + 2 * thick, line: { width: 0 } } }),
    ];
  });
  const middle = [0, 1].map((j) => column(picture.hull, j).reduce((a, b) => a + b) / picture.hull.length);
  const outward = ([x, y]) => `${y > middle[1] ? "top" : "bottom"} ${x > middle[0] ? "right" : "left"}`;
  const few = picture.atoms.length <= 40;
  Plotly.react(box, [
    ...(count ? [cells] : []),
    scatter(picture.hull, { mode: "lines", line: { color: colours.dim, width: 1.2 } }),
    scatter(picture.atoms, {
      mode: few ? "markers+text" : "markers", text: picture.atoms.map((_, i) => `<b>${i}</b>`),
      textposition: picture.atoms.map(outward), marker: { size: few ? 7 : 4, color: colours.dim }, cliponaxis: false,
    }),
    ...paths,
    scatter(picture.starts, { mode: "markers", marker: { symbol: "circle-open", size: 7, color: dark ? colours.ink : INK_ON_PALE, line: { width: 1.4 } } }),
  ], layout({
    xaxis: { showgrid: false, constrain: "domain", range: picture.window[0] },
    yaxis: { showgrid: false, scaleanchor: "x", constrain: "domain", range: picture.window[1] },
    margin: { l: 44, r: 10, t: 8, b: 30 },
  }), config);
}

function isDark(colour) {
  const [r, g, b] = colour.match(/[\d.]+/g).map(Number);
  return 0.3 * r + 0.6 * g + 0.1 * b < 128;
}

if (find("pictures")) {
  const figures = data.pictures.map((picture, place) => [find(`picture-${place}`), picture]);
  for (const [box, picture] of figures) charts.add(box, () => drawPicture(box, picture));
  state.on(["instance", "hidden", "theme"], () => {
    const wanted = state.get("instance");
    for (const [box, picture] of figures) {
      box.closest("figure").hidden = wanted !== "" && picture.label !== wanted;
      charts.changed(box);
    }
    const shown = data.pictures.filter((picture) => wanted === "" || picture.label === wanted);
    legendOf(find("picture-legend"), shown.flatMap(({ paths }) => paths.map(({ solver }) => solver)));
    find("no-picture").hidden = figures.some(([box]) => !box.closest("figure").hidden);
  });
}
