// Keys and answers in place for the review page. Every form works without this file.
"use strict";

const list = document.getElementById("terms");
const trouble = document.getElementById("trouble");
const spoken = document.getElementById("spoken");
const terms = list ? Array.from(list.querySelectorAll(".term")) : [];
const done = []; // { term, before }, latest last
let present = -1;
let queue = Promise.resolve(); // one act at a time, in the order of the keys, however slow the server is

function goTo(index) {
  if (terms.length === 0) return;
  present = Math.max(0, Math.min(index, terms.length - 1));
  terms[present].focus({ preventScroll: true });
  terms[present].scrollIntoView({ block: "nearest" });
}

function show(term, answer) {
  const word = list.dataset[answer.status];
  term.dataset.status = answer.status;
  term.querySelector(".badge").textContent = word;
  for (const [status, count] of Object.entries(answer.counts)) {
    const place = document.querySelector(`[data-count="${status}"]`);
    if (place) place.textContent = count.toLocaleString("en");
  }
  document.getElementById("pending-added").textContent = answer.pending.added;
  document.getElementById("pending-removed").textContent = answer.pending.removed;
  spoken.textContent = `${answer.text}: ${word}`;
}

function complain(message) {
  trouble.textContent = message;
  trouble.hidden = !message;
}

async function send(term, decision) {
  const form = term.querySelector("form.decide");
  const body = new FormData(form);
  const headers = { Accept: "application/json", "X-Form-Token": body.get("token") };
  body.delete("token");
  body.set("decision", decision);
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(body), headers });
    if (response.status === 403) return signInFirst(form, decision);
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error.message);
    show(term, answer);
    complain("");
    return true;
  } catch (error) {
    complain(`${list.dataset.failed} ${error.message}`);
    return false;
  }
}

// The session has ended. Sent as a form, the decision is held by the page that asks to sign in.
function signInFirst(form, decision) {
  const field = document.createElement("input");
  Object.assign(field, { type: "hidden", name: "decision", value: decision });
  form.append(field);
  form.submit();
  return new Promise(() => {}); // nothing else is sent from a page that is being left
}

async function decide(index, decision) {
  const term = terms[index];
  if (!term) return;
  const before = term.dataset.status;
  term.setAttribute("aria-busy", "true");
  const saved = await send(term, decision);
  term.removeAttribute("aria-busy");
  if (!saved) return;
  done.push({ index, before });
  if (index === present) goTo(index + 1);
}

async function undo() {
  const last = done.pop();
  if (!last) return;
  if (await send(terms[last.index], last.before)) goTo(last.index);
  else done.push(last);
}

const KEYS = {
  j: () => goTo(present + 1),
  k: () => goTo(present - 1),
  a: () => decide(present, "accepted"),
  r: () => decide(present, "rejected"),
  u: undo,
  p: () => document.querySelector("#publish button").focus(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("input, textarea, select")) return;
  const act = KEYS[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  if (event.repeat && !"jk".includes(event.key.toLowerCase())) return; // a key held down judges one term only
  queue = queue.then(act);
});

terms.forEach((term, index) => {
  term.addEventListener("focusin", () => { present = index; });
  term.querySelector("form.decide").addEventListener("submit", (event) => {
    event.preventDefault();
    queue = queue.then(() => decide(index, event.submitter.value));
  });
});
