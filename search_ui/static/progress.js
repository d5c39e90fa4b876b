// Updates the part of a page that has the attribute data-poll-seconds, until the server omits the attribute. The part
// comes from data-url, or from the page itself. If the part is gone, the page is loaded again.
"use strict";

const update = async (part) => {
  try {
    const address = part.dataset.url || location.href;
    const response = document.hidden ? null : await fetch(address, { cache: "no-store", redirect: "manual" });
    if (response?.type === "opaqueredirect") return location.reload(); // the session has ended: to the login page
    if (response?.ok) {
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const next = page.getElementById(part.id);
      if (!next) return location.reload();
      if (!part.contains(document.activeElement)) {
        part.replaceWith(next);
        part = next;
      }
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
