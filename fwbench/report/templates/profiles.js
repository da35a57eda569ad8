// ---- profiles: on which share of the instances within which cost -------------------------------
const COSTS = { lmo: "oracle calls", seconds: "seconds in the solver", total: "seconds, with set-up" };
const VARIANTS = { defaults: "each as it is by default", tuned: "each at the best of its grid", chosen: "as chosen" };
const UNITS = { lmo: "calls / min(n, d + 1)", seconds: "seconds", total: "seconds" };
const BEYOND = 1.3;                // the axis ends this much after the last step

// What is chosen stands in one text: variant, cost, target, then the place of the contest and two solvers.
function chosenProfile() {
  const [variant, cost, target, field, a, b] = state.get("profile").split(" ");
  const first = (values, wanted) => (values.includes(wanted) ? wanted : values[0]);
  const found = { variants: [...new Set(data.profiles.map((contest) => contest.variant))] };
  found.variant = first(found.variants, variant);
  found.costs = [...new Set(data.profiles.filter((one) => one.variant === found.variant).map((one) => one.cost))];
  found.cost = first(found.costs, cost);
  found.fields = data.profiles.filter((one) => one.variant === found.variant && one.cost === found.cost);
  found.field = found.fields[Number(field)] ? Number(field) : 0;
  found.contest = found.fields[found.field];
  const targets = found.contest.targets.map(String);
  found.target = Number(targets.includes(target) ? target : targets.includes("0.000001") ? "0.000001" : targets[0]);
  found.duel = found.contest.duels.find((duel) => duel.a === Number(a) && duel.b === Number(b) && duel.target === found.target);
  return found;
}

const contestName = ({ solvers, instances }) => `${solvers.length} solvers on ${instances} instances`;
const powerOfTen = (value) => value.toExponential(0).replace("e-", "e-0").replace(/e-0(\d\d)/, "e-$1");

// The corners of a step function from the left edge to the right one.
function stairs(thresholds, shares, left, right) {
  const [x, y] = [[left], [0]];
  thresholds.forEach((at, i) => {
    if (at > right) return;
    x.push(Math.max(at, left), Math.max(at, left));
    y.push(y[y.length - 1], shares[i]);
  });
  return { x: [...x, right], y: [...y, y[y.length - 1]] };
}

function between(below, above, colour, alpha) {
  return {
    type: "scatter", mode: "lines", x: [...below.x, ...[...above.x].reverse()], y: [...below.y, ...[...above.y].reverse()],
    fill: "toself", fillcolor: faded(colour, alpha), line: { width: 0 }, hoverinfo: "skip",
  };
}

function profileLines(profile) {
  const { contest, target, duel } = chosenProfile();
  if (duel && profile === "performance")
    return [duel.a, duel.b].map((solver, i) => ({ solver, low: duel.low[i], high: duel.high[i] }));
  const rows = contest.steps.filter((step) => step.profile === profile && step.target === target);
  return duel ? rows.filter(({ solver }) => solver === duel.a || solver === duel.b) : rows;
}

function drawProfile(box, profile) {
  const { contest, cost } = chosenProfile();
  const shares = columnOf(contest.shares);
  const lines = profileLines(profile)
    .map(({ solver, ...places }) => ({ solver, look: contest.looks[solver], ...Object.fromEntries(Object.entries(places).filter(([, place]) => Number.isInteger(place)).map(([name, place]) => [name, columnOf(place)])) }))
    .filter(({ look }) => !hiddenSolver(look));
  const ends = lines.flatMap(({ low = [], high = [], grid_high = [] }) => [...low, ...high, ...grid_high]).filter(drawable);
  const left = profile === "performance" ? 1 : ends.reduce((a, b) => Math.min(a, b), Infinity) / BEYOND;
  const right = Math.max(ends.reduce((a, b) => Math.max(a, b), 1e-300) * BEYOND, 2 * left);
  const range = ends.length ? [left, right] : [1, 10];
  const pale = [];
  const bands = [];
  const drawn = [];
  for (const { solver, look: place, low = [], high = [], without_low, without_high, grid_high } of lines) {
    const look = data.solvers[place];
    const [sure, hoped] = [high, low].map((thresholds) => stairs(thresholds, shares, ...range));
    if (without_low || without_high)
      pale.push(between(...[without_high ?? [], without_low ?? []].map((thresholds) => stairs(thresholds, shares, ...range)), look.colour, 0.1));
    bands.push(between(sure, hoped, look.colour, 0.3));
    const line = { color: look.colour, dash: look.dash };
    const name = plain(visible(contest.solvers[solver]));
    if (grid_high)
      drawn.push({ type: "scatter", mode: "lines", name, ...stairs(grid_high, shares, ...range), line: { ...line, width: 0.9 }, hovertemplate: "%{y:.0%} within %{x:.3~s}, its whole grid paid" });
    drawn.push({ type: "scatter", mode: "lines", name, ...sure, line: { ...line, width: 2 }, hovertemplate: "%{y:.0%} surely within %{x:.3~s}" });
  }
  Plotly.react(box, [...pale, ...bands, ...drawn], layout({
    xaxis: { ...logAxis(range, box.clientWidth), range: range.map(Math.log10), exponentformat: "SI", minexponent: 0, title: { text: profile === "performance" ? `${COSTS[cost]}, times the best` : UNITS[cost], standoff: 8 } },
    yaxis: { range: [-0.03, 1.03], tickformat: ".0%", title: { text: `share of ${contest.instances} instances`, standoff: 4 } },
  }), config);
}

function optionsOf(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value, false, String(value) === String(chosen))));
}

function addedSelect(id, label) {
  const select = Object.assign(document.createElement("select"), { id });
  const box = document.createElement("label");
  box.append(`${label} `, select);
  (find("profile-target").closest("label") ?? find("profile-target")).after(box);
  return select;
}

if (find("profile-performance") && data.profiles.length) {
  const selects = ["variant", "cost", "target"].map((name) => find(`profile-${name}`));
  const [variants, costs, targets] = selects;
  const duels = addedSelect("profile-duel", "compare");
  const fields = addedSelect("profile-field", "among");
  const panels = [["performance", find("profile-performance")], ["data", find("profile-data")]];
  const legend = Object.assign(document.createElement("div"), { className: "legend" });
  legend.setAttribute("role", "group");
  legend.setAttribute("aria-label", "Solvers shown");
  (panels[0][1].closest(".panels") ?? panels[0][1]).before(legend);
  const notes = Object.assign(document.createElement("ul"), { className: "notes" });
  (panels[1][1].closest(".panels") ?? panels[1][1]).after(notes);
  const remember = () => state.set({ profile: [variants.value, costs.value, targets.value, fields.value, duels.value].join(" ").trim() });
  for (const select of [...selects, fields, duels]) select.addEventListener("change", remember);
  for (const [profile, box] of panels) charts.add(box, () => drawProfile(box, profile));
  state.on(["profile", "hidden", "theme"], () => {
    const { variant, cost, target, contest, duel, ...all } = chosenProfile();
    optionsOf(variants, all.variants.map((one) => [one, VARIANTS[one]]), variant);
    optionsOf(costs, all.costs.map((one) => [one, COSTS[one]]), cost);
    optionsOf(targets, contest.targets.map((one) => [one, powerOfTen(one)]), target);
    optionsOf(fields, all.fields.map((one, i) => [i, contestName(one)]), all.field);
    fields.parentElement.hidden = all.fields.length < 2;
    const pairs = contest.duels.filter((one) => one.target === target);
    const solver = (place) => visible(contest.solvers[place]);
    optionsOf(duels, [["", "all of them"], ...pairs.map(({ a, b }) => [`${a} ${b}`, `${solver(a)} and ${solver(b)}`])], duel ? `${duel.a} ${duel.b}` : "");
    duels.parentElement.hidden = !pairs.length;
    legendOf(legend, contest.looks);
    const rows = profileLines("data");
    const never = rows.filter(({ low, high }) => low === undefined && high === undefined).map((row) => solver(row.solver));
    listed(notes, [
      "A line is the share that is sure, the band above it what the brackets leave open; a share that is never reached stays below 100 %.",
      ...(rows.length && contest.steps.some((one) => one.without_low !== undefined) && !duel ? ["Pale: where the profile may lie if one other solver is left out."] : []),
      ...(duel ? ["The performance profile is that of the two alone, as if no other had taken part."] : []),
      ...(contest.steps.some((one) => one.grid_high !== undefined) ? ["Thin: a tuned solver that pays for its whole grid."] : []),
      ...(contest.excluded ? [`${contest.excluded} more instances are left out, for not all took part there.`] : []),
      ...never.map((name) => `${name} came to ${powerOfTen(target)} on no instance.`),
    ]);
    for (const [, box] of panels) charts.changed(box);
  });
}
