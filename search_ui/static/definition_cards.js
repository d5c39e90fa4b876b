// Opens the definition of an underlined term as a card: when the pointer rests on the term, on focus, and on a tap.
// Without this file the term is a link to its page.
"use strict";

{
  const OPEN_DELAY_MS = 150; // the pointer only crosses the term
  const CLOSE_DELAY_MS = 250; // the pointer is on its way to the card
  const CARD_GAP_PX = 4;

  let openLink = null;
  let cardTimer = 0;
  let lastPointer = "";

  const cardOf = (link) => document.getElementById(link.dataset.card);

  // The element that the position of a card counts from.
  function frameOf(card) {
    const parent = card.offsetParent;
    const isRoot = !parent || (parent === document.body && getComputedStyle(parent).position === "static");
    return isRoot ? document.documentElement : parent;
  }

  function closeCard() {
    clearTimeout(cardTimer);
    if (!openLink) return;
    cardOf(openLink).hidden = true;
    openLink.setAttribute("aria-expanded", "false");
    openLink = null;
  }

  function openCard(link) {
    clearTimeout(cardTimer);
    if (openLink === link) return;
    closeCard();
    const card = cardOf(link);
    card.hidden = false;
    link.setAttribute("aria-expanded", "true");
    openLink = link;
    const line = link.getClientRects()[0];
    const frame = frameOf(card).getBoundingClientRect();
    const left = Math.max(0, Math.min(line.left - frame.left, frame.width - card.offsetWidth));
    const isBelow = line.bottom + card.offsetHeight < innerHeight || line.top < card.offsetHeight;
    const top = isBelow ? line.bottom + CARD_GAP_PX : line.top - card.offsetHeight - CARD_GAP_PX;
    card.style.setProperty("--card-left", `${left}px`);
    card.style.setProperty("--card-top", `${top - frame.top}px`);
  }

  function later(action, delay) {
    clearTimeout(cardTimer);
    cardTimer = setTimeout(action, delay);
  }

  function closeUnlessInside(link, target) {
    if (link === openLink && target !== link && !cardOf(link).contains(target)) closeCard();
  }

  for (const link of document.querySelectorAll("a[data-card]")) {
    const card = cardOf(link);
    link.after(card); // the next stop of the Tab key
    link.setAttribute("aria-expanded", "false");
    link.setAttribute("aria-controls", card.id);
    link.addEventListener("focus", () => { if (lastPointer !== "mouse") openCard(link); });
    link.addEventListener("click", (event) => {
      if (lastPointer !== "touch") return;
      event.preventDefault(); // the card has the link
      openCard(link);
    });
    for (const part of [link, card]) {
      part.addEventListener("pointerenter", (event) => {
        if (event.pointerType === "mouse") later(() => openCard(link), part === card ? 0 : OPEN_DELAY_MS);
      });
      part.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse" && !card.contains(document.activeElement)) later(closeCard, CLOSE_DELAY_MS);
      });
      part.addEventListener("focusout", (event) => closeUnlessInside(link, event.relatedTarget));
    }
  }

  document.addEventListener("pointerdown", (event) => {
    lastPointer = event.pointerType;
    if (openLink) closeUnlessInside(openLink, event.target);
  }, true);
  document.addEventListener("keydown", (event) => {
    lastPointer = "";
    if (event.key !== "Escape" || !openLink) return;
    const link = openLink;
    if (cardOf(link).contains(document.activeElement)) link.focus();
    closeCard();
  }, true);
}
