// All screens work without this: it saves reloading, follows progress, and hears Ctrl+Z. It asks only its own server.
"use strict";

// Show a page that was fetched in the place of this one, with the same focus, scrolling and open parts.
function show(html, url) {
  const page = new DOMParser().parseFromString(html, "text/html");
  if (!page.querySelector("main")) return location.reload();
  const focused = document.activeElement && document.activeElement.id;
  const open = [...document.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent);
  for (const part of ["header", "main", "footer"]) {
    const [old, fresh] = [document.querySelector(part), page.querySelector(part)];
    if (!old || !fresh || old.innerHTML === fresh.innerHTML) continue;
    const [working, progress] = [old.querySelector("[data-working]"), fresh.querySelector("[data-working]")];
    if (working && progress) working.innerHTML = progress.innerHTML; // a list that is open below stays so
    if (old.innerHTML !== fresh.innerHTML) old.innerHTML = fresh.innerHTML;
  }
  for (const summary of document.querySelectorAll("details > summary"))
    if (open.includes(summary.textContent)) summary.parentElement.open = true;
  document.title = page.title;
  if (url && new URL(url).pathname !== location.pathname) history.pushState(null, "", url);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  follow();
  document.dispatchEvent(new Event("shown"));
}

// Send a form whenever something in it changes: one step of undo each. A change during a request is sent after it.
let sending = false, again = null;
async function send(form) {
  if (sending) { again = form.id; return; }
  sending = true;
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    const html = await answer.text();
    if (again) {
      const version = new DOMParser().parseFromString(html, "text/html").querySelector("[name=version]");
      for (const field of document.querySelectorAll("[name=version]")) if (version) field.value = version.value;
    } else show(html, answer.url);
  } catch { gone(); }
  sending = false;
  const next = again && document.getElementById(again);
  again = null;
  if (next) send(next);
}

// A slider sets the list of levels that it stands for. What stands beside levels is never older than they are.
document.documentElement.classList.add("has-js");
function moved(event) {
  if (event.target.form?.hasAttribute("data-beside")) {
    const beside = document.getElementById("beside");
    if (beside) beside.textContent = "Checking these levels …";
    for (const button of document.querySelectorAll(".primary")) button.disabled = true;
  }
  const list = document.getElementById(event.target.dataset.of ?? "");
  if (!list) return;
  list.value = event.target.value;
  const text = list.selectedOptions[0].textContent;
  event.target.setAttribute("aria-valuetext", text);
  event.target.nextElementSibling.textContent = text;
}
document.addEventListener("input", moved);
document.addEventListener("change", (event) => {
  moved(event);
  const form = event.target.form;
  if (form?.hasAttribute("data-live") && form.checkValidity()) send(form);
});
document.addEventListener("submit", (event) => {
  if (again || sending) event.preventDefault(); // the change that is under way comes first
});

// Follow a computation that runs.
let timer = 0;
function follow() {
  clearTimeout(timer);
  if (document.querySelector("[data-working]")) timer = setTimeout(refresh, 400);
}
async function refresh() {
  if (sending) return follow();
  try {
    const answer = await fetch(location.href);
    if (!sending) show(await answer.text(), answer.url);
  } catch { gone(); }
}

function gone() {
  const main = document.querySelector("main");
  if (main) main.textContent = "The window has ended. Start it again: sqlaudit app";
}

document.addEventListener("keydown", (event) => {
  const isText = event.target.matches?.("input[type=text], input[type=number], textarea");
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || isText) return;
  const button = document.getElementById(event.shiftKey ? "redo" : "undo");
  if (button && !button.disabled) { event.preventDefault(); button.click(); }
});
setInterval(() => { fetch("/alive").catch(gone); }, 60000);
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
addEventListener("popstate", () => location.reload());
follow();
