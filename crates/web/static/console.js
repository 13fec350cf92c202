// Adds to pages that work without it: live figures and rows, times that stay fresh, a count of what is selected.
"use strict";

const MIN = 60, HOUR = 3600, DAY = 86400;
// Milliseconds after which a page that was about to be left, and is still here, is live again.
const STAYED_AFTER = 10000;
// Milliseconds without a word from central after which it counts as unreachable, and between two tries.
const UNREACHED_AFTER = 3000, ASK_AGAIN = 5000;
// The figures come every five seconds: a stream that says nothing for as long as this is dead, whatever it looks like.
const SILENT_AFTER = 20000;
// Pages of new rows that come in above the ones that are there; where there are more, the list is loaded anew.
const NEW_PAGES = 6;
// Rows that are asked for at once; the server answers no more.
const ROWS_AT_ONCE = 100;

function age(seconds) {
  if (seconds < 2 * MIN) return `${Math.floor(seconds)} s`;
  if (seconds < 2 * HOUR) return `${Math.floor(seconds / MIN)} min`;
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h`;
  return `${Math.floor(seconds / DAY)} d`;
}

// The viewer's zone is left for the server, which writes every time on a page in it from the next page on.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
if (document.documentElement.dataset.zone !== zone) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `waypost_zone=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=lax${secure}`;
}

// The same words as the server's, kept up to date; the exact time in the viewer's own zone.
function times(root) {
  const now = Date.now();
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = Date.parse(time.dateTime);
    if (Number.isNaN(at)) continue;
    const seconds = (now - at) / 1000;
    if (!time.dataset.zoned) {
      if (document.documentElement.dataset.zone !== zone) time.title = new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
      time.dataset.zoned = "yes";
    }
    if (seconds >= 60 * DAY) continue;
    const words = "lasting" in time.dataset ? `for ${age(Math.max(0, seconds))}` : "coming" in time.dataset && seconds >= -1 ? "now" : seconds < -1 ? `in ${age(-seconds)}` : seconds < 2 ? "just now" : `${age(seconds)} ago`;
    if (time.textContent !== words) time.textContent = words;
  }
}

// Once a form is sent or the page is being left, live updates stop: a reload of theirs would cancel the way to the next
// page, and what the person did would happen without its answer ever being shown.
let stay = new AbortController(), sent = false;
const waiting = new Map();
function leave() {
  stay.abort();
  for (const timer of waiting.values()) clearTimeout(timer);
  waiting.clear();
}
function stayed() {
  if (!stay.signal.aborted) return;
  stay = new AbortController();
  if (document.body.dataset.liveStream) live(document.body.dataset.liveStream);
}
addEventListener("submit", (event) => { if (!event.defaultPrevented) { sent = true; leave(); } });
// A way to another page may also end in a download, and then the page is still here.
addEventListener("beforeunload", () => { leave(); setTimeout(() => { if (!sent) stayed(); }, STAYED_AFTER); });
addEventListener("pagehide", leave);
addEventListener("pageshow", (event) => { if (event.persisted) { sent = false; stayed(); later(refresh, 0); } });

// Replaces the parts of this page that are marked as live by what the server says now.
let refreshing = false, again = false;
async function refresh() {
  if (stay.signal.aborted) return;
  if (refreshing) { again = true; return; }
  refreshing = true;
  const { signal } = stay;
  try {
    // With such a head the figures may be those of the event that brought this about: they are counted once for all.
    const headers = { accept: "text/html", "x-waypost-live": "yes" };
    const answer = await fetch(location.href, { headers, redirect: "manual", signal });
    if (signal.aborted) return;
    if (answer.type === "opaqueredirect") { leave(); location.reload(); return; }
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (signal.aborted) return;
    for (const fresh of page.querySelectorAll("[data-live]")) {
      const old = document.querySelector(`[data-live="${CSS.escape(fresh.dataset.live)}"]`);
      // A part somebody is using stays as it is.
      if (!old || old.contains(document.activeElement) && document.activeElement !== document.body || old.querySelector("details[open], input:checked")) continue;
      const node = document.importNode(fresh, true);
      times(node);
      copying(node);
      const shown = old.querySelector(".chart a.shown");
      old.replaceWith(node);
      if (shown) showAgain(node, shown.getAttribute("href"));
    }
    arrived(page);
    if (page.body.dataset.refresh === undefined) delete document.body.dataset.refresh;
  } catch { /* The next event tries again. */ } finally {
    refreshing = false;
    if (again) { again = false; later(refresh, 1500); }
  }
}

function later(work, delay) {
  if (waiting.has(work) || stay.signal.aborted) return;
  waiting.set(work, setTimeout(() => { waiting.delete(work); work(); }, delay));
}

// The list of notifications: rows that are shown change in place, new ones are only announced.
let table = document.getElementById("notifications");
const changed = new Set(), unseen = new Set();

// Which rows of the list as it is now are not on this page. A list that was empty is filled at once: nothing is ticked in it.
function arrived(page) {
  const list = page.getElementById("listed");
  if (!table && list && document.getElementById("none")) {
    const node = document.importNode(list, true);
    times(node);
    document.getElementById("none").replaceWith(node);
    table = document.getElementById("notifications");
    selection();
    return;
  }
  if (!table?.hasAttribute("data-newest")) return;
  unseen.clear();
  for (const row of page.querySelectorAll("#notifications tr[data-id]")) {
    if (!document.getElementById(row.id)) unseen.add(row.dataset.id);
  }
  announce();
}

// What could not be asked is asked again: no row is to say for ever what was true once.
let asking = false;
async function rows() {
  if (asking) return later(rows, 400);
  const ids = [...changed].slice(0, ROWS_AT_ONCE);
  if (!ids.length) return;
  for (const id of ids) changed.delete(id);
  const query = [...ids.map((id) => `id=${encodeURIComponent(id)}`), table.dataset.back].filter(Boolean).join("&");
  const { signal } = stay;
  const failed = () => { for (const id of ids) changed.add(id); later(rows, ASK_AGAIN); };
  asking = true;
  try {
    const answer = await fetch(`${table.dataset.rows}?${query}`, { redirect: "manual", signal });
    if (!answer.ok) return failed();
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (signal.aborted) return failed();
    for (const fresh of page.querySelectorAll("tr[data-id]")) renew(document.getElementById(fresh.id), fresh);
  } catch { failed(); } finally { asking = false; }
  if (changed.size) later(rows, 400);
}

// Only the cells that differ, so that what is ticked stays ticked and the focus where it is.
function renew(row, fresh) {
  if (!row) return;
  const differing = [...fresh.cells].filter((cell, place) => told(cell) !== told(row.cells[place]));
  if (!differing.length) return;
  for (const cell of differing) {
    const node = document.importNode(cell, true);
    times(node);
    row.cells[cell.cellIndex].replaceWith(node);
  }
  row.dataset.status = fresh.dataset.status;
  row.classList.remove("changed");
  void row.offsetWidth; // Or what stands out a second time would not move.
  row.classList.add("changed");
}

// What a cell says, however long ago that was.
function told(cell) {
  const copy = cell.cloneNode(true);
  for (const time of copy.querySelectorAll("time")) time.replaceWith(time.dateTime);
  return copy.innerHTML;
}

// Some changes were not told one by one, be it that the stream was not there: any row may say what is no longer true.
function allRows() {
  for (const row of table?.querySelectorAll("tr[data-id]") ?? []) changed.add(row.dataset.id);
  if (changed.size) later(rows, 400);
}

function onChange(change) {
  if (!table) return later(refresh, 1000);
  if (document.getElementById(`n-${change.notificationId}`)) {
    changed.add(change.notificationId);
    later(rows, 400);
  } else if (table.hasAttribute("data-newest")) {
    // Whether the filters leave it, and as which of the newest, the server knows.
    later(refresh, 1000);
  }
}

// New rows come in above the ones that are there, so that what is ticked stays ticked.
async function showNew(event) {
  event.preventDefault();
  const { signal } = stay;
  try {
    // Page by page until one has a row that is here: what lies between the newest and the rows shown must not be left out.
    const fresh = [];
    let place = location.href, met = false;
    for (let pages = 0; place && !met; pages++) {
      if (pages === NEW_PAGES) { location.reload(); return; }
      const answer = await fetch(place, { headers: { accept: "text/html" }, redirect: "manual", signal });
      if (signal.aborted) return;
      if (!answer.ok) { location.reload(); return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (signal.aborted) return;
      const listed = [...page.querySelectorAll("#notifications tbody tr[data-id]")];
      met = listed.some((row) => document.getElementById(row.id));
      fresh.push(...listed.filter((row) => !document.getElementById(row.id)));
      place = page.getElementById("older")?.getAttribute("href");
    }
    for (const row of fresh.reverse()) {
      const node = document.importNode(row, true);
      node.classList.add("changed");
      times(node);
      table.tBodies[0].prepend(node);
    }
    unseen.clear();
    document.getElementById("news").hidden = true;
  } catch { if (!signal.aborted) location.reload(); }
}

function announce() {
  const news = document.getElementById("news");
  if (!news) return;
  // A page of nothing but new rows: there may be more of them behind it.
  const more = unseen.size >= Number(table.dataset.limit) ? "+" : "";
  document.getElementById("news-count").textContent = `${unseen.size}${more}`;
  news.hidden = unseen.size === 0;
}

// When central cannot be reached, or says nothing, for a few seconds, the page says so and the figures fade: nobody is to believe them.
let lost = 0, heard = Date.now();
function sayLive(words) {
  const state = document.getElementById("live-state");
  if (state) { state.textContent = words; state.hidden = !words; }
}
function reached() {
  heard = Date.now();
  clearTimeout(lost);
  lost = 0;
  const banner = document.getElementById("unreachable");
  if (!banner || banner.hidden) return;
  banner.hidden = true;
  sayLive("Live");
  document.body.classList.remove("stale");
  later(refresh, 0);
}
function unreached() {
  if (lost) return;
  const since = new Date();
  lost = setTimeout(() => {
    const banner = document.getElementById("unreachable");
    if (!banner || stay.signal.aborted) return;
    banner.textContent = `Central cannot be reached since ${since.toLocaleTimeString()}. What is shown is old.`;
    banner.hidden = false;
    sayLive("Not live");
    document.body.classList.add("stale");
  }, UNREACHED_AFTER);
}

// The title of a tab that nobody looks at still tells how much is parked.
function retitle(parked) {
  const plain = document.title.replace(/^\([\d,]+ parked\) /, "");
  document.title = parked > 0 ? `(${parked} parked) ${plain}` : plain;
}

function live(place) {
  const events = new EventSource(place);
  const { signal } = stay;
  const say = (words) => { if (!signal.aborted) sayLive(words); };
  // Between the page's making, or the end of the last stream, and now nobody told what changed.
  events.addEventListener("open", () => { say("Live"); reached(); allRows(); });
  events.addEventListener("error", () => {
    if (signal.aborted) return;
    unreached();
    const closed = events.readyState === EventSource.CLOSED;
    say(closed ? "Not live" : "Reconnecting…");
    // A refusal ends the stream for good; the way to sign in again, or the next one, is found by asking.
    if (closed) setTimeout(() => { if (!signal.aborted) { refresh(); live(place); } }, ASK_AGAIN);
  });
  events.addEventListener("change", (event) => { heard = Date.now(); onChange(JSON.parse(event.data)); });
  events.addEventListener("missed", () => { later(refresh, 1000); allRows(); });
  events.addEventListener("kpis", (event) => {
    reached();
    retitle(JSON.parse(event.data).parkedCount);
    if (document.querySelector("[data-live]")) later(refresh, 200);
  });
  signal.addEventListener("abort", () => events.close());
}

// The figure of a step under pointer and finger. The first touch only shows it; the figure leads where the step does, for fingers
// that do not hit the same few pixels twice. A step is known by where it leads: the chart is drawn anew every few seconds.
let touched = null;
function showStep(step) {
  for (const other of document.querySelectorAll(".chart a.shown")) other.classList.remove("shown");
  for (const other of document.querySelectorAll(".chart-value")) other.replaceChildren();
  const said = step.closest("figure")?.querySelector(".chart-value");
  if (said) {
    const way = document.createElement("a");
    way.href = step.getAttribute("href");
    way.textContent = step.dataset.value;
    said.replaceChildren(way);
  }
  step.classList.add("shown");
}
function showAgain(root, place) {
  for (const step of root.querySelectorAll(".chart a")) if (step.getAttribute("href") === place) return showStep(step);
}
addEventListener("pointerover", (event) => {
  const step = event.target.closest?.(".chart a");
  if (step && event.pointerType === "mouse") showStep(step);
});
// Where a click does not say what it was made with, what went down before it does.
let pressedBy = "mouse";
addEventListener("pointerdown", (event) => { pressedBy = event.pointerType; });
addEventListener("click", (event) => {
  const step = event.target.closest?.(".chart a");
  if (!step || (event.pointerType ?? pressedBy) === "mouse" || touched === step.getAttribute("href")) return;
  event.preventDefault();
  touched = step.getAttribute("href");
  showStep(step);
});

// What is to be taken elsewhere is copied by a button.
function copying(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = false;
}
addEventListener("click", async (event) => {
  const button = event.target.closest?.("button[data-copy]");
  const source = button && document.querySelector(button.dataset.copy);
  if (!source) return;
  await navigator.clipboard.writeText(source.textContent.trim());
  button.textContent = "Copied";
});

// How many rows are selected; a box that selects all on the page.
function selection() {
  const bulk = document.getElementById("bulk"), count = document.getElementById("selected-count");
  if (!table || !bulk || !count) return;
  const boxes = () => [...table.querySelectorAll("input[name=id]")];
  const head = table.querySelector("thead .pick");
  const all = document.createElement("input");
  all.type = "checkbox";
  all.setAttribute("aria-label", "Select all rows on this page");
  const target = document.createElement("label");
  target.className = "tick";
  target.append(all);
  head.append(target);
  const show = () => {
    const picked = boxes().filter((box) => box.checked).length, most = Number(bulk.dataset.most);
    count.textContent = picked > most ? `${picked} selected: ${most} at most, for more “All that match…”` : `${picked} selected`;
    for (const button of document.querySelectorAll("#bulk-bar > .bar-part > button")) button.disabled = picked > most;
    count.hidden = picked === 0;
    all.checked = picked > 0 && picked === boxes().length;
    all.indeterminate = picked > 0 && !all.checked;
  };
  all.addEventListener("change", () => { for (const box of boxes()) box.checked = all.checked; show(); });
  table.addEventListener("change", (event) => { if (event.target.name === "id") show(); });
  show();
}

// What a message of the template would say, while it is being written.
function previews(editor) {
  let asked = 0, timer;
  const show = async () => {
    const mine = ++asked;
    try {
      const body = new URLSearchParams(new FormData(editor));
      const answer = await fetch(editor.dataset.preview, { method: "POST", body, redirect: "manual" });
      if (!answer.ok || mine !== asked) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("preview");
      if (fresh) document.getElementById("preview")?.replaceWith(document.importNode(fresh, true));
    } catch { /* The next letter tries again. */ }
  };
  editor.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 250); });
}
const editor = document.getElementById("template-form");
if (editor) previews(editor);

// Addresses stay short: empty filters are not sent.
document.getElementById("filters")?.addEventListener("submit", (event) => {
  for (const field of event.target.elements) if (field.name && !field.value) field.disabled = true;
});

// The form of a provider: only the fields that the choices above need, the field of a kept secret only when it is
// replaced, and as many rows of names and values as somebody wants.
function providerForm(form) {
  const value = (name) => form.elements[name]?.value;
  const show = () => {
    for (const field of form.querySelectorAll("[data-when]:not(.field-bad)")) {
      field.hidden = !field.dataset.is.split(" ").includes(value(field.dataset.when));
    }
    for (const fresh of form.querySelectorAll("[data-fresh]")) fresh.hidden = value(fresh.dataset.fresh) !== "replace";
  };
  form.addEventListener("change", show);
  for (const more of form.querySelectorAll("[data-more]")) {
    more.hidden = false;
    more.addEventListener("click", () => {
      const row = more.previousElementSibling.lastElementChild.cloneNode(true);
      for (const input of row.querySelectorAll("input")) input.value = "";
      more.previousElementSibling.append(row);
      row.querySelector("input").focus();
    });
  }
  show();
}
const provider = document.getElementById("provider-form");
if (provider) providerForm(provider);

// Kinds of provider that are looked for, while somebody types.
document.getElementById("kind-search")?.addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const group of document.querySelectorAll("#kinds > section")) {
    const cards = [...group.querySelectorAll("li")];
    for (const card of cards) card.hidden = !words.every((word) => card.dataset.words.toLowerCase().includes(word));
    group.hidden = cards.every((card) => card.hidden);
  }
});

// What a button asks at the foot of a page would open below the screen, as if nothing had happened.
addEventListener("toggle", (event) => {
  if (event.target.matches?.("details.confirm[open], details.all-match[open]")) event.target.querySelector(".pop")?.scrollIntoView({ block: "nearest" });
}, true);

// Menus close when something else is used.
addEventListener("click", (event) => {
  for (const open of document.querySelectorAll("details.who[open], details.confirm[open], details.all-match[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = document.activeElement?.closest?.("details.who[open], details.confirm[open], details.all-match[open]");
  if (open) { open.open = false; open.querySelector("summary").focus(); }
});

if (matchMedia("(max-width: 52rem)").matches) document.querySelector(".side details")?.removeAttribute("open");
document.querySelector(".tenant-switch select")?.addEventListener("change", (event) => event.target.form.requestSubmit());
document.querySelector("#news a")?.addEventListener("click", showNew);
copying(document);
times(document);
setInterval(() => times(document), 15000);
if (document.body.dataset.liveStream) setInterval(() => { if (!document.hidden && Date.now() - heard > SILENT_AFTER) unreached(); }, 2000);
selection();
if (document.body.dataset.liveStream) live(document.body.dataset.liveStream);
if (document.body.dataset.refresh) {
  const timer = setInterval(() => { if (document.body.dataset.refresh === undefined) clearInterval(timer); else refresh(); }, 1000);
}
