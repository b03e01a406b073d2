"use strict";
// The token comes behind the #, which no server is sent, and is kept for this address and
// port alone. Everything else is drawn by the server.
(() => {
  const kept = "pawl-token";
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    localStorage.setItem(kept, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const token = localStorage.getItem(kept) || "";
  const said = document.getElementById("said");
  const say = (text) => { said.textContent = text; };
  // What a command said stays for a while, whatever becomes of the loop.
  let answered = 0;
  const answer = (text) => { answered = Date.now(); say(text); };
  const post = (path, body) => fetch(path, { method: "POST", body, headers: { "X-Pawl-Token": token } });

  if ("lock" in document.body.dataset && token) {
    post("/session", new URLSearchParams()).then((r) => {
      if (r.ok) { location.reload(); } else { say("This token is no longer the right one."); }
    });
    return;
  }

  // update replaces what is live with what the server draws now, and leaves alone where
  // the user types, and which details are open.
  const update = async () => {
    const r = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!r.ok) { return; }
    const next = new DOMParser().parseFromString(await r.text(), "text/html");
    const before = document.querySelector("h1")?.textContent;
    for (const old of document.querySelectorAll("[data-live]")) {
      const now = next.getElementById(old.id);
      const typing = old.contains(document.activeElement) && document.activeElement.matches("input, textarea");
      if (!now || typing) { continue; }
      for (const d of old.querySelectorAll("details")) {
        const same = d.id && now.querySelector("#" + CSS.escape(d.id));
        if (same) { same.open = d.open; }
      }
      if (now.innerHTML === old.innerHTML) { continue; }
      const focused = old.contains(document.activeElement) ? [...old.querySelectorAll("a, button, summary, [tabindex]")].indexOf(document.activeElement) : -1;
      old.replaceChildren(...now.childNodes);
      if (focused >= 0) { old.querySelectorAll("a, button, summary, [tabindex]")[focused]?.focus({ preventScroll: true }); }
    }
    document.title = next.title;
    const after = document.querySelector("h1")?.textContent;
    if (after && after !== before && Date.now() - answered > 10000) { say(after); }
  };

  // A button that were disabled meanwhile would lose the focus.
  const sending = new WeakSet();
  document.addEventListener("submit", async (e) => {
    if (!(e.target instanceof HTMLFormElement) || !("act" in e.target.dataset)) { return; }
    e.preventDefault();
    if (!token) { say("To act, open the address that pawl serve printed: it has the token."); return; }
    if (sending.has(e.target)) { return; }
    const question = e.submitter?.dataset.confirm;
    if (question && !confirm(question)) { return; }
    const body = new URLSearchParams(new FormData(e.target, e.submitter));
    sending.add(e.target);
    say("…");
    try {
      const r = await post(e.target.action, body);
      answer((await r.text()) || r.statusText);
      if (r.ok) { e.target.reset(); }
    } catch {
      answer("pawl serve does not answer.");
    }
    sending.delete(e.target);
    update();
  });

  if ("follow" in document.body.dataset) {
    let events = null, waits = false;
    const changed = () => {
      if (waits) { return; }
      waits = true;
      setTimeout(() => { waits = false; update().catch(() => say("pawl serve does not answer.")); }, 300);
    };
    // A browser keeps few connections to one server, so a page that nobody sees has none.
    const follow = () => {
      events?.close();
      events = null;
      if (document.hidden) { return; }
      events = new EventSource("/events?loop=" + encodeURIComponent(document.body.dataset.follow));
      events.onmessage = changed;
      events.onopen = changed; // what changed before it began is told to nobody
    };
    document.addEventListener("visibilitychange", () => { follow(); if (!document.hidden) { changed(); } });
    follow();
  }
})();
