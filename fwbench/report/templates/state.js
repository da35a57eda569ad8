// What a reader chose, kept in the address: a copied link shows the same view.
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
// plotly reads a little HTML in its texts; a name is a name.
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const state = (() => {
  const defaults = { at: "", instance: "", axis: Object.keys(data.axes ?? {})[0] ?? "seconds", measure: "", over: "", growth: "", target: "tightest", theme: "auto", profile: "" };
  const known = (key) => Object.hasOwn(defaults, key) || /^(q|sort)-/.test(key);
  const usual = (key) => (Object.hasOwn(defaults, key) ? defaults[key] : "");
  // A value that the page has no control for, from another report or mistyped, counts as none.
  const offered = (key, value) => {
    const controls = [...(find(key)?.options ?? document.querySelectorAll(`input[type=radio][name="${CSS.escape(key)}"]`))];
    return !controls.length || controls.some((control) => control.value === value);
  };
  let chosen = new Map();          // what differs from the default, as texts
  let hidden = new Set();          // solver labels
  const listeners = [];
  let started = false;

  function written() {
    const words = new URLSearchParams(chosen);
    for (const label of [...hidden].sort()) words.append("hidden", label);
    return words.toString();
  }

  // A plain #rates names a section and leaves all choices as they are.
  function read(hash) {
    const text = hash.replace(/^#/, "");
    if (text && !text.includes("=")) {
      let at = text;
      try { at = decodeURIComponent(text); } catch { /* a stray % is a letter */ }
      return [new Map([...chosen, ["at", at]]), hidden];
    }
    const words = new URLSearchParams(text);
    return [new Map([...words].filter(([key, value]) => known(key) && value !== usual(key) && offered(key, value))), new Set(words.getAll("hidden"))];
  }

  function remember(push) {
    const words = written();
    const address = words ? `#${words}` : location.pathname + location.search;
    // A browser may refuse an address that is too long, or one too many in a second.
    try { history[push ? "pushState" : "replaceState"](null, "", address); } catch { /* the view stays right */ }
  }

  function take(next, nextHidden) {
    const keys = new Set([...chosen.keys(), ...next.keys()].filter((key) => chosen.get(key) !== next.get(key)));
    if (nextHidden.size !== hidden.size || [...nextHidden].some((label) => !hidden.has(label))) keys.add("hidden");
    chosen = next;
    hidden = nextHidden;
    return keys;
  }

  function call(keys) {
    if (!started) return;
    for (const [wanted, callback] of listeners) {
      if (!wanted.some((key) => keys.has(key))) continue;
      try { callback(); } catch (error) { reportError(error); }   // one that fails stops no other
    }
  }

  // A frame later: what the listeners hid or drew has its place by then.
  function scroll() {
    const place = find(get("at"));
    if (!place) return;
    place.scrollIntoView();
    if (!place.hasAttribute("tabindex")) place.tabIndex = -1;
    place.focus({ preventScroll: true });
  }

  function get(key) {
    return key === "hidden" ? new Set(hidden) : chosen.get(key) ?? usual(key);
  }

  function set(changes, push = false) {
    const next = new Map(chosen);
    let nextHidden = hidden;
    for (const [key, value] of Object.entries(changes)) {
      if (key === "hidden") nextHidden = new Set(value);
      else if (!known(key)) throw new Error(`no choice is called ${key}`);
      else if (String(value ?? "") === usual(key)) next.delete(key);
      else next.set(key, String(value));
    }
    const keys = take(next, nextHidden);
    if (keys.size || push) remember(push);
    call(keys);
  }

  return {
    get,
    set,
    on(keys, callback) {
      listeners.push([keys, callback]);
      if (started) callback();
    },
    // What was drawn for these must be drawn again, though nothing else was chosen.
    again: (keys) => call(new Set(keys)),
    // Follow a link within the page; what it does not name stays, and "back" leads back.
    go(hash) {
      const words = hash.includes("=") ? Object.fromEntries(new URLSearchParams(hash.slice(1))) : { at: decodeURIComponent(hash.slice(1)) };
      set(words, true);
      requestAnimationFrame(scroll);
    },
    link(at) {
      const words = new URLSearchParams(written());
      if (at) words.set("at", at);
      return `${location.href.split("#")[0]}#${words}`;
    },
    start() {
      take(...read(location.hash));
      started = true;
      const keys = new Set(listeners.flatMap(([wanted]) => wanted));
      call(keys);
      if (get("at")) requestAnimationFrame(scroll);
      addEventListener("hashchange", () => {
        if (location.hash.slice(1) === written()) return;
        call(take(...read(location.hash)));
        remember(false);
        scroll();
      });
    },
  };
})();

// ---- colours ----------------------------------------------------------------------------------
// plotly knows no variables: the colours of the page as it looks now.
function theme() {
  const probe = document.body.appendChild(document.createElement("span"));
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = Object.fromEntries(["ink", "dim", "grid", "paper", "line"].map((name) => [name, colour(name)]));
  probe.remove();
  return found;
}
