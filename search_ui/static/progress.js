// Updates the part of a page that has the attribute data-poll-seconds, until the server omits it.
"use strict";

const update = async (part) => {
  try {
    const response = await fetch(location.href, { cache: "no-store", redirect: "error" });
    const text = response.ok ? await response.text() : "";
    const next = new DOMParser().parseFromString(text, "text/html").getElementById(part.id);
    if (next && !part.contains(document.activeElement)) {
      part.replaceWith(next);
      part = next;
    }
  } catch {
    // The server restarts. The next attempt reads the page again.
  }
  schedule(part);
};

const schedule = (part) => {
  const seconds = Number(part.dataset.pollSeconds);
  if (seconds) setTimeout(update, 1000 * seconds, part);
};

for (const part of document.querySelectorAll("[data-poll-seconds]")) schedule(part);
