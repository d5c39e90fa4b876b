// Keyboard shortcuts and updates in place for the review page. Every form works without this file.
"use strict";

const list = document.getElementById("terms");
const errorBox = document.getElementById("trouble");
const statusBox = document.getElementById("spoken");
const terms = list ? Array.from(list.querySelectorAll(".term")) : [];
const loadedTexts = new Set(terms.map((term) => term.dataset.term));
const actionIds = []; // ids of the actions of this page, newest last
const PREFETCH_TERMS = 6; // more terms are requested when fewer than this remain
const deciding = new Set(); // indexes of the terms whose decision is being saved
let unreadSince = -Infinity; // time of the event loop; Infinity until the row is painted
let current = 0;
let queue = Promise.resolve(); // actions run one at a time, in the order of the keys
let loading = null; // the pending request for more terms
let usageTimer = 0;
let isPressed = false; // the main button of the mouse, a pen or a finger
let isLeaving = false; // a form is being sent by the browser
const USAGE_DELAY_MS = 250; // so that moving on quickly requests nothing

function goTo(index) {
  if (terms.length === 0) return;
  setCurrent(Math.max(0, Math.min(index, terms.length - 1)));
  terms[current].focus({ preventScroll: true });
  terms[current].scrollIntoView({ block: "nearest" });
}

// The details of the current term stand beside the list; on a narrow screen, below its row.
function setCurrent(index) {
  terms[current].classList.remove("current");
  current = index;
  terms[current].classList.add("current");
  placeDetail();
  clearTimeout(usageTimer);
  usageTimer = setTimeout(() => showUsage(terms[index]), USAGE_DELAY_MS);
}

function placeDetail() {
  const detail = terms.length > 0 ? terms[current].querySelector(".detail") : null;
  if (!detail) return;
  list.style.minHeight = `${detail.offsetHeight}px`; // a short list leaves no room for what follows it
  const space = Math.max(0, list.offsetHeight - detail.offsetHeight);
  const top = document.querySelector(".review-head").getBoundingClientRect().bottom; // stays in view on a wide screen
  list.style.setProperty("--detail-top", `${Math.min(space, Math.max(0, 12 + Math.max(0, top) - list.getBoundingClientRect().top))}px`);
}

async function showUsage(term) {
  const place = term.querySelector(".usage-place");
  if (place.dataset.loaded) return;
  place.dataset.loaded = "1";
  try {
    const response = await fetch(list.dataset.usage + encodeURIComponent(term.dataset.term));
    if (!response.ok) throw new Error(response.statusText);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    await released();
    place.replaceChildren(...page.body.childNodes);
    placeDetail();
  } catch {
    delete place.dataset.loaded; // shown when the term is current again
  }
}

// What is under the pointer stays there until a press has become a click; a release outside the window is not seen.
async function released() {
  for (let n = 0; isPressed && n < 20; n++) await new Promise((done) => setTimeout(done, 50));
}

function showError(message) {
  errorBox.textContent = message;
  errorBox.hidden = !message;
}

// -- responses

function formatNumber(value) {
  return value.toLocaleString(document.documentElement.lang);
}

function showTerm(state) {
  const term = terms.find((item) => item.dataset.term === state.text);
  if (!term) return;
  const word = list.dataset[state.status] || list.dataset.gone;
  term.dataset.status = state.status;
  delete term.dataset.automatic; // a person has decided
  term.toggleAttribute("data-decided", !["candidate", "provisional"].includes(state.status));
  term.toggleAttribute("data-own", Boolean(state.own));
  term.querySelector(".badge.state").textContent = word;
  term.querySelector(".acceptance").textContent = state.note;
  for (const field of term.querySelectorAll("[name=seen]")) field.value = state.version;
  term.querySelector(".pick").value = `${state.version} ${state.text}`;
  const badge = term.querySelector(".badge.class");
  const kind = `class${(state.category || "none").replace(/^./, (first) => first.toUpperCase())}`;
  badge.textContent = list.dataset[kind];
  badge.hidden = !state.category;
  term.dataset.category = state.category;
  for (const button of term.querySelectorAll(".classes button")) {
    button.setAttribute("aria-pressed", String(button.value === state.category));
  }
  for (const place of term.querySelectorAll(".said")) {
    const words = state[place.dataset.said] || [];
    place.hidden = words.length === 0;
    place.querySelector("dd").textContent = words.join(list.dataset.separator);
  }
}

function showCounts(result) {
  for (const [status, count] of Object.entries(result.counts)) {
    const place = document.querySelector(`[data-count="${status}"]`);
    if (place) place.textContent = formatNumber(count);
  }
  document.querySelector('[data-count="assigned"]').textContent = formatNumber(result.assigned);
  document.getElementById("pending-added").textContent = formatNumber(result.pending.added);
  document.getElementById("pending-removed").textContent = formatNumber(result.pending.removed);
  document.getElementById("pending-changed").textContent = formatNumber(result.pending.changed);
  const progress = document.getElementById("progress");
  progress.textContent = progress.dataset.text
    .replace("{today}", formatNumber(result.today)).replace("{left}", formatNumber(result.counts.candidate));
  const precision = document.getElementById("precision");
  precision.hidden = result.last.of === 0;
  const { good, of } = result.last;
  precision.textContent = precision.dataset.text.replace("{good}", formatNumber(good)).replace("{of}", formatNumber(of));
}

async function post(form, values) {
  const body = new FormData(form); // with the selected terms, whose boxes belong to the form
  const headers = { Accept: "application/json", "X-Form-Token": body.get("token") };
  body.delete("token");
  for (const [name, value] of Object.entries(values)) body.set(name, value);
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(body), headers });
    if (response.status === 403) return signInFirst(form, values);
    const result = await response.json();
    await released();
    for (const state of result.terms || []) showTerm(state);
    if (result.error?.confirm && window.confirm(result.error.message)) return post(form, { ...values, confirmed: 1 });
    if (!response.ok) {
      showError(result.error.message);
      return null;
    }
    showCounts(result);
    statusBox.textContent = result.message;
    showError("");
    return result;
  } catch {
    showError(list.dataset.failed);
    return null;
  }
}

// The session has ended. The login page keeps an action that is submitted as a form.
function signInFirst(form, values) {
  for (const [name, value] of Object.entries(values)) {
    const field = form.querySelector(`input[name="${name}"]`) || document.createElement("input");
    Object.assign(field, { type: "hidden", name, value });
    form.append(field);
  }
  form.submit();
  return new Promise(() => {}); // the page is being left: stop the queue
}

// -- more terms, so that reviewers do not have to turn pages

function countCandidates() {
  return terms.filter((term) => term.dataset.status === "candidate").length;
}

async function loadMore() {
  const number = 1 + Math.floor(countCandidates() / Number(list.dataset.page));
  try {
    const response = await fetch(list.dataset.more.replace(/page=1$|page=1(?=&)/, `page=${number}`));
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    await released();
    for (const term of page.querySelectorAll("#terms > .term")) {
      if (loadedTexts.has(term.dataset.term)) continue;
      loadedTexts.add(term.dataset.term);
      list.append(document.adoptNode(term));
      addListeners(term, terms.push(term) - 1);
    }
  } catch {
    showError(list.dataset.failed);
  }
}

async function prefetch() {
  if (!list.dataset.more || current + PREFETCH_TERMS < terms.length) return;
  loading = loading || loadMore().finally(() => { loading = null; });
  if (current + 1 >= terms.length) await loading;
}

// -- actions

async function act(index, form, values) {
  const term = terms[index];
  if (!term || !form) return;
  term.setAttribute("aria-busy", "true");
  const result = await post(form, values);
  term.removeAttribute("aria-busy");
  if (!result) return;
  actionIds.push(result.act);
  return result;
}

async function decide(index, decision) {
  const term = terms[index];
  if (!term || !(await act(index, term.querySelector("form.decide"), { decision }))) return;
  await prefetch();
  if (index === current) goToUnread(index + 1);
}

// A term that the last decision has made current is not read yet: until it has been painted for a moment, no key changes it.
function goToUnread(index) {
  goTo(index);
  unreadSince = Infinity;
  requestAnimationFrame(() => requestAnimationFrame(() => { unreadSince = performance.now(); }));
}

function isUnread(event) {
  const unreadMs = Number(list.dataset.unread); // 0: never
  return unreadMs > 0 && event.timeStamp - unreadSince < unreadMs;
}

// -- several selected terms

function pickedIndexes() {
  return terms.map((_, index) => index).filter((index) => terms[index].querySelector(".pick").checked);
}

function showPicked() {
  const count = pickedIndexes().length;
  document.getElementById("picked").textContent = count ? ` ${formatNumber(count)}` : "";
}

function togglePicked(index) {
  if (!terms[index]) return;
  const box = terms[index].querySelector(".pick");
  box.checked = !box.checked;
  showPicked();
}

async function decidePicked(decision) {
  const indexes = pickedIndexes();
  if (indexes.length === 0) return;
  const result = await post(document.getElementById("bulk-selected"), { decision });
  if (!result) return;
  actionIds.push(result.act);
  for (const index of indexes) terms[index].querySelector(".pick").checked = false;
  showPicked();
  goToUnread(indexes[indexes.length - 1] + 1);
  await prefetch();
}

// All candidates of the kind of a term, such as names of persons, are decided together.
async function rejectKind(index) {
  if (!(await act(index, terms[index]?.querySelector("form.same-kind"), { decision: "rejected" }))) return;
  await prefetch();
  const next = terms.findIndex((term, n) => n > index && term.dataset.status === "candidate");
  goToUnread(next < 0 ? index : next);
}

// A decision belongs to the term that is current when the key is pressed. Until it is saved, more decisions on the same
// term are ignored, so that a second press never decides the next term before it is shown.
function queueDecision(index, decision) {
  if (deciding.has(index)) return;
  deciding.add(index);
  queue = queue.then(() => decide(index, decision)).finally(() => deciding.delete(index));
}

async function classify(index, value) {
  const term = terms[index];
  if (term) await act(index, term.querySelector("form.classes"), { value });
}

async function undo() {
  const form = document.getElementById("undo-last");
  const number = actionIds.pop();
  const result = await post(form, number ? { act: number } : {});
  if (!result) {
    if (number) actionIds.push(number);
    return;
  }
  const index = terms.findIndex((term) => result.terms.some((state) => state.text === term.dataset.term));
  if (index >= 0) goTo(index);
  unreadSince = -Infinity; // it was read before
}

function edit(index, what) {
  const term = terms[index];
  if (!term) return;
  setCurrent(index);
  term.querySelector("details.more").open = true;
  const field = term.querySelector(`form[data-what="${what}"] [name=value]`);
  field.focus();
  field.select();
}

function follow(selector) {
  const link = document.querySelector(selector);
  if (link) link.click();
}

const DECISIONS = { a: "accepted", r: "rejected", l: "later" };
// `index` is the term that was current when the key was pressed.
const KEYS = {
  j: async () => { await prefetch(); goTo(current + 1); },
  k: () => goTo(current - 1),
  u: undo,
  g: rejectKind,
  m: (index) => edit(index, "merge"),
  e: (index) => edit(index, "rename"),
  b: (index) => edit(index, "broader"),
  s: (index) => edit(index, "synonyms"),
  0: (index) => classify(index, ""),
  1: (index) => classify(index, "subject"),
  2: (index) => classify(index, "professional"),
  3: (index) => classify(index, "judgement"),
  c: (index) => { if (terms[index]) terms[index].querySelector(".comments textarea").focus(); },
  x: togglePicked,
  o: (index) => terms[index] && terms[index].querySelector("a.open").click(),
  n: () => follow("nav.pages [rel=next]"),
  p: () => follow("#to-preview"),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && event.target.closest(".term details.more")) {
    event.target.closest("details.more").open = false;
    return goTo(current);
  }
  if (event.key === "Escape" && event.target.closest(".comments")) return goTo(current);
  if (event.target.closest("input:not([type=hidden], [type=checkbox]), textarea, select")) return;
  const key = event.key.toLowerCase();
  if (!list || !(key in DECISIONS || key in KEYS)) return;
  event.preventDefault();
  if (event.repeat && !"jk".includes(key)) return; // a key that is held down acts once
  if ("arlgx0123".includes(key) && isUnread(event)) return;
  const index = current;
  if (key in DECISIONS && pickedIndexes().length > 0) queue = queue.then(() => decidePicked(DECISIONS[key]));
  else if (key in DECISIONS) queueDecision(index, DECISIONS[key]);
  else queue = queue.then(() => KEYS[key](index));
});

function addListeners(term, index) {
  // On a narrow screen the rows move when another becomes current: not before a press has become a click.
  term.addEventListener("focusin", () => { if (index !== current && !isPressed) setCurrent(index); });
  term.addEventListener("click", () => { if (index !== current) setCurrent(index); });
  term.querySelector(".pick").addEventListener("change", showPicked);
  term.querySelector("form.decide").addEventListener("submit", (event) => {
    event.preventDefault();
    queueDecision(index, event.submitter.value);
  });
  term.querySelector("form.same-kind")?.addEventListener("submit", (event) => {
    event.preventDefault();
    queue = queue.then(() => rejectKind(index));
  });
  for (const form of term.querySelectorAll("form.change")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const value = form.classList.contains("classes") ? event.submitter.value : form.elements.value.value;
      queue = queue.then(async () => {
        if (await act(index, form, { value })) goTo(index);
      });
    });
  }
}

addEventListener("pointerdown", (event) => { isPressed = event.button === 0; }, true);
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => { isPressed = false; }, true);

terms.forEach(addListeners);
if (terms.length > 0) {
  list.classList.add("dense");
  addEventListener("scroll", placeDetail, { passive: true });
  addEventListener("resize", placeDetail);
  document.getElementById("bulk-selected").addEventListener("submit", (event) => {
    if (event.submitter.matches(".assign")) return; // the response is the list with the new reviewers
    event.preventDefault();
    const decision = event.submitter.value;
    queue = queue.then(() => decidePicked(decision));
  });
  // A form that loads a page is sent after the actions of the queue, which a new page would abort.
  addEventListener("submit", (event) => {
    if (event.defaultPrevented || isLeaving) return;
    event.preventDefault();
    queue = queue.then(async () => {
      await new Promise((done) => setTimeout(done)); // within its own event a form is not sent again
      isLeaving = true;
      event.target.requestSubmit(event.submitter);
      isLeaving = false;
    });
  });
  setCurrent(0);
  if (document.activeElement === document.body) terms[0].focus({ preventScroll: true });
}
