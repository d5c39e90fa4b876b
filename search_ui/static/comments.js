// Comments on terms are added and removed in place. Every form works without this file.
"use strict";

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const comments = form.closest(".comments");
  if (!comments) return;
  event.preventDefault();
  if (comments.getAttribute("aria-busy")) return;
  comments.setAttribute("aria-busy", "true");
  const body = new FormData(form);
  const headers = { Accept: "application/json", "X-Form-Token": body.get("token") };
  body.delete("token");
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(body), headers });
    if (response.status === 403) return form.submit(); // the login page keeps the form
    const result = await response.json();
    if (!response.ok) throw new Error(result.error.message);
    const page = new DOMParser().parseFromString(result.html, "text/html");
    const changed = document.adoptNode(page.querySelector(".comments"));
    comments.replaceWith(changed);
    const count = changed.closest(".term")?.querySelector(".comment-count");
    if (count) count.textContent = changed.dataset.summary;
    changed.querySelector("textarea").focus();
  } catch (error) {
    const message = comments.querySelector("[role=alert]");
    message.textContent = error.message;
    message.hidden = false;
    comments.removeAttribute("aria-busy");
  }
});
