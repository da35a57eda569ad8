// ---- tables -----------------------------------------------------------------------------------
// A cell sorts by data-sort, else by data-v, else by its text; it is copied by data-v, else by text.
const shownText = (cell) => cell.textContent.replace(/\s+/g, " ").trim();
const sortKey = (cell) => (cell.dataset.sort ?? cell.dataset.v ?? cell.textContent).trim();

function compared(a, b) {
  const [x, y] = [Number(a), Number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
}

// The choice of the page: what belongs to one instance or one solver hides with it.
function chosen(element) {
  const { instance, solver } = element.dataset;
  const wanted = state.get("instance") && find("instance")?.selectedOptions[0]?.dataset.name;
  return !(wanted && instance !== undefined && instance !== wanted) && !(solver !== undefined && state.get("hidden").has(solver));
}

function aimedAt(row) {
  const target = state.get("target");
  if (row.dataset.target === undefined) return true;
  return target === "tightest" ? row.dataset.tightest !== "0" : row.dataset.target === target;
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const rows = [...body.rows];     // in the order of the report
  const name = (head) => shownText(head);
  const [filter, order] = [`q-${table.id}`, `sort-${table.id}`];
  let drawn = "";

  function sort() {
    const wanted = state.get(order);
    if (wanted === drawn) return;
    drawn = wanted;
    const down = wanted.startsWith("-");
    const column = heads.findIndex((head) => name(head) === (down ? wanted.slice(1) : wanted));
    heads.forEach((head, i) => (i === column ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
    const keyed = rows.map((row) => [column < 0 ? "" : sortKey(row.cells[column]), row]);
    keyed.sort(([a], [b]) => {
      if (!a || !b) return !a - !b;             // what is missing comes last, either way
      return down ? compared(b, a) : compared(a, b);
    });
    body.append(...keyed.map(([, row]) => row));
  }

  heads.forEach((head) => head.querySelector("button")?.addEventListener("click", () =>
    state.set({ [order]: head.getAttribute("aria-sort") === "ascending" ? `-${name(head)}` : name(head) })));
  state.on([order], sort);

  const tools = toolsOf(table);
  const box = tools.querySelector("input[data-table]");
  box?.addEventListener("input", () => state.set({ [filter]: box.value }));
  const told = tools.appendChild(Object.assign(document.createElement("span"), { className: "dim" }));
  told.setAttribute("aria-live", "polite");
  const copy = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy", title: "Copy the rows shown, tab-separated, all digits" });
  copy.dataset.table = table.id;
  copy.addEventListener("click", () => copied(tsv(table), "The table is copied"));
  tools.append(copy);

  state.on(["instance", "hidden", "target", filter], () => {
    const wanted = state.get(filter).toLowerCase();
    if (box && box.value.toLowerCase() !== wanted) box.value = state.get(filter);
    let [shown, all] = [0, 0];
    for (const row of rows) {
      const aimed = aimedAt(row);
      row.hidden = !(aimed && chosen(row) && (!wanted || row.textContent.toLowerCase().includes(wanted)));
      all += aimed;
      shown += !row.hidden;
    }
    told.textContent = shown === all ? `${all} ${all === 1 ? "row" : "rows"}` : `${shown} of ${all} rows`;
  });
}

// The line above a table, where the template began one; else a new one below.
const begun = new Map([...document.querySelectorAll("[data-tools], .controls input[data-table]")].map((one) =>
  [one.dataset.tools ?? one.dataset.table, one.closest(".controls")]));

function toolsOf(table) {
  if (begun.has(table.id)) return begun.get(table.id);
  const tools = Object.assign(document.createElement("p"), { className: "controls tools after" });
  (table.closest(".tall, .wide") ?? table).after(tools);
  return tools;
}

function tsv(table) {
  const line = (cells) => cells.map((cell) => {
    const text = (cell.dataset.v ?? shownText(cell)).replace(/\s+/g, " ").trim();
    // A spreadsheet would take such a text for a formula.
    return /^[=+@-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  }).join("\t");
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.hidden);
  return [table.tHead.rows[0], ...rows].map((row) => line([...row.cells])).join("\n") + "\n";
}

// ---- clipboard --------------------------------------------------------------------------------
function say(text) {
  find("said").textContent = "";
  requestAnimationFrame(() => { find("said").textContent = text; });
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { find("said").textContent = ""; }, 4000);
}

async function copied(text, done) {
  try {
    await navigator.clipboard.writeText(text);   // absent in some browsers for a page from a file
    say(done);
    return;
  } catch { /* the old way */ }
  const box = Object.assign(document.createElement("textarea"), { value: text, className: "unseen" });
  const before = document.activeElement;
  document.body.append(box);
  box.select();
  const worked = document.execCommand("copy");
  box.remove();
  before?.focus({ preventScroll: true });
  say(worked ? done : "This browser lets no page copy; select the text instead");
}

// ---- the bar ----------------------------------------------------------------------------------
function bar() {
  const here = { section: "" };
  let printing = false;
  const instance = find("instance");
  if (instance) {
    instance.addEventListener("change", () => state.set({ instance: instance.value }));
    state.on(["instance"], () => { instance.value = state.get("instance"); });
  }
  const target = find("target");
  if (target) {
    target.addEventListener("change", () => state.set({ target: target.value }));
    state.on(["target"], () => { target.value = state.get("target"); });
  }
  const colours = find("theme");
  colours.addEventListener("change", () => state.set({ theme: colours.value }));
  state.on(["theme"], () => {
    colours.value = state.get("theme");
    document.documentElement.dataset.theme = printing ? "light" : state.get("theme");
  });
  // Paper is white: charts are drawn anew before, and as they were afterwards.
  addEventListener("beforeprint", () => { printing = true; state.again(["theme"]); });
  addEventListener("afterprint", () => { printing = false; state.again(["theme"]); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.again(["theme"]));
  find("copy-link").addEventListener("click", () => copied(state.link(here.section), "The link to this view is copied"));

  const solvers = find("solvers");
  if (solvers) {
    const boxes = [...solvers.querySelectorAll("input")];
    const choose = () => state.set({ hidden: boxes.filter((box) => !box.checked).map((box) => box.value) });
    for (const box of boxes) box.addEventListener("change", choose);
    for (const button of solvers.querySelectorAll("button[data-all]")) {
      button.addEventListener("click", () => {
        for (const box of boxes) box.checked = button.dataset.all === "show";
        choose();
      });
    }
    state.on(["hidden"], () => {
      const hidden = state.get("hidden");
      for (const box of boxes) box.checked = !hidden.has(box.value);
      const shown = boxes.filter((box) => box.checked).length;
      solvers.querySelector("summary .tally").textContent = shown === boxes.length ? "" : ` ${shown} of ${boxes.length}`;
    });
  }

  // Popovers close on Escape, and on a click elsewhere.
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const open of document.querySelectorAll("details.popover[open]")) {
      const within = open.contains(document.activeElement);
      open.open = false;
      if (within) open.querySelector("summary").focus();
    }
  });
  addEventListener("pointerdown", (event) => {
    for (const open of document.querySelectorAll("details.popover[open]")) if (!open.contains(event.target)) open.open = false;
  });

  // Links within the page keep what was chosen.
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    state.go(link.getAttribute("href"));
  });

  // Which section is read: the last one that began above the middle of the screen.
  const sections = [...document.querySelectorAll("main > section[id]")];
  const links = [...document.querySelectorAll(".bar nav a")];
  const follow = () => {
    const begun = sections.filter((section) => section.getBoundingClientRect().top < innerHeight / 3);
    const now = begun.at(-1)?.id ?? "";
    if (now === here.section) return;
    here.section = now;
    for (const link of links) {
      const current = link.getAttribute("href") === `#${now}`;
      current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
      if (current) link.parentElement.scrollTo({ left: link.offsetLeft - 40 });
    }
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; follow(); });
  }, { passive: true });
  follow();
}

bar();
for (const table of document.querySelectorAll("table.sortable[id]")) sortable(table);
state.on(["instance", "hidden"], () => {
  for (const element of document.querySelectorAll("main [data-instance], main [data-solver]"))
    if (!element.closest("table.sortable[id]")) element.hidden = !chosen(element);
});
