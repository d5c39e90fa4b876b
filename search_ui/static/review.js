// Keys and answers in place for the review page. Every form works without this file.
"use strict";

const list = document.getElementById("terms");
const trouble = document.getElementById("trouble");
const spoken = document.getElementById("spoken");
const terms = list ? Array.from(list.querySelectorAll(".term")) : [];
const known = new Set(terms.map((term) => term.dataset.term));
const done = []; // numbers of the acts of this page, the latest last
const AHEAD = 6; // terms below the present one, from which on more are asked for
let present = -1;
let queue = Promise.resolve(); // one act at a time, in the order of the keys, however slow the server is
let coming = null; // terms that were asked for

function goTo(index) {
  if (terms.length === 0) return;
  present = Math.max(0, Math.min(index, terms.length - 1));
  terms[present].focus({ preventScroll: true });
  terms[present].scrollIntoView({ block: "nearest" });
}

function complain(message) {
  trouble.textContent = message;
  trouble.hidden = !message;
}

// -- what the server answered

function showTerm(now) {
  const term = terms.find((one) => one.dataset.term === now.text);
  if (!term) return;
  const word = list.dataset[now.status] || list.dataset.gone;
  term.dataset.status = now.status;
  term.querySelector(".badge.state").textContent = word;
  for (const field of term.querySelectorAll("[name=seen]")) field.value = now.version;
  const badge = term.querySelector(".badge.class");
  const kind = `class${(now.category || "none").replace(/^./, (first) => first.toUpperCase())}`;
  badge.textContent = list.dataset[kind];
  badge.hidden = !now.category;
  term.dataset.category = now.category;
  for (const button of term.querySelectorAll(".classes button")) {
    button.setAttribute("aria-pressed", String(button.value === now.category));
  }
  for (const place of term.querySelectorAll(".said")) {
    const words = now[place.dataset.said] || [];
    place.hidden = words.length === 0;
    place.querySelector("dd").textContent = words.join(list.dataset.separator);
  }
}

function showFigures(answer) {
  for (const [status, count] of Object.entries(answer.counts)) {
    const place = document.querySelector(`[data-count="${status}"]`);
    if (place) place.textContent = count.toLocaleString(document.documentElement.lang);
  }
  document.getElementById("pending-added").textContent = answer.pending.added;
  document.getElementById("pending-removed").textContent = answer.pending.removed;
  document.getElementById("pending-changed").textContent = answer.pending.changed;
  const precision = document.getElementById("precision");
  precision.hidden = answer.last.of === 0;
  precision.textContent = precision.dataset.text.replace("{good}", answer.last.good).replace("{of}", answer.last.of);
}

async function post(form, values) {
  const body = new FormData(form);
  const headers = { Accept: "application/json", "X-Form-Token": body.get("token") };
  body.delete("token");
  for (const [name, value] of Object.entries(values)) body.set(name, value);
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(body), headers });
    if (response.status === 403) return signInFirst(form, values);
    const answer = await response.json();
    for (const now of answer.terms || []) showTerm(now);
    if (!response.ok) throw new Error(answer.error.message);
    showFigures(answer);
    spoken.textContent = answer.message;
    complain("");
    return answer;
  } catch (error) {
    complain(`${list.dataset.failed} ${error.message}`);
    return null;
  }
}

// The session has ended. Sent as a form, the act is held by the page that asks to sign in.
function signInFirst(form, values) {
  for (const [name, value] of Object.entries(values)) {
    const field = form.querySelector(`input[name="${name}"]`) || document.createElement("input");
    Object.assign(field, { type: "hidden", name, value });
    form.append(field);
  }
  form.submit();
  return new Promise(() => {}); // nothing else is sent from a page that is being left
}

// -- more terms, so that a reviewer need not turn pages

function undecided() {
  return terms.filter((term) => term.dataset.status === "candidate").length;
}

async function ask() {
  const number = 1 + Math.floor(undecided() / Number(list.dataset.page));
  try {
    const response = await fetch(list.dataset.more.replace(/page=1$|page=1(?=&)/, `page=${number}`));
    if (!response.ok) return;
    const found = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const term of found.querySelectorAll("#terms > .term")) {
      if (known.has(term.dataset.term)) continue;
      known.add(term.dataset.term);
      list.append(document.adoptNode(term));
      begin(term, terms.push(term) - 1);
    }
  } catch (error) {
    complain(`${list.dataset.failed} ${error.message}`);
  }
}

async function more() {
  if (!list.dataset.more || present + AHEAD < terms.length) return;
  coming = coming || ask().finally(() => { coming = null; });
  if (present + 1 >= terms.length) await coming;
}

// -- acts

async function act(index, form, values) {
  const term = terms[index];
  if (!term || !form) return;
  term.setAttribute("aria-busy", "true");
  const answer = await post(form, values);
  term.removeAttribute("aria-busy");
  if (!answer) return;
  done.push(answer.act);
  return answer;
}

async function decide(index, decision) {
  const term = terms[index];
  if (!term || !(await act(index, term.querySelector("form.decide"), { decision }))) return;
  await more();
  if (index === present) goTo(index + 1);
}

async function classify(value) {
  const term = terms[present];
  if (term) await act(present, term.querySelector("form.classes"), { value });
}

async function undo() {
  const form = document.getElementById("undo-last");
  const number = done.pop();
  const answer = await post(form, number ? { act: number } : {});
  if (!answer) {
    if (number) done.push(number);
    return;
  }
  const at = terms.findIndex((term) => answer.terms.some((now) => now.text === term.dataset.term));
  if (at >= 0) goTo(at);
}

function edit(what) {
  const term = terms[present];
  if (!term) return;
  term.querySelector("details.more").open = true;
  const field = term.querySelector(`form[data-what="${what}"] [name=value]`);
  field.focus();
  field.select();
}

function follow(selector) {
  const link = document.querySelector(selector);
  if (link) link.click();
}

const KEYS = {
  j: async () => { await more(); goTo(present + 1); },
  k: () => goTo(present - 1),
  a: () => decide(present, "accepted"),
  r: () => decide(present, "rejected"),
  l: () => decide(present, "later"),
  u: undo,
  m: () => edit("merge"),
  e: () => edit("rename"),
  b: () => edit("broader"),
  s: () => edit("synonyms"),
  0: () => classify(""),
  1: () => classify("subject"),
  2: () => classify("professional"),
  3: () => classify("judgement"),
  o: () => terms[present] && terms[present].querySelector("a.open").click(),
  n: () => follow("nav.pages [rel=next]"),
  p: () => follow("#to-preview"),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && event.target.closest(".term details.more")) {
    event.target.closest("details.more").open = false;
    return goTo(present);
  }
  if (event.target.closest("input:not([type=hidden]), textarea, select")) return;
  const doing = KEYS[event.key.toLowerCase()];
  if (!doing || !list) return;
  event.preventDefault();
  if (event.repeat && !"jk".includes(event.key.toLowerCase())) return; // a key held down judges one term only
  queue = queue.then(doing);
});

function begin(term, index) {
  term.addEventListener("focusin", () => { present = index; });
  term.querySelector("form.decide").addEventListener("submit", (event) => {
    event.preventDefault();
    const decision = event.submitter.value;
    queue = queue.then(() => decide(index, decision));
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

terms.forEach(begin);
