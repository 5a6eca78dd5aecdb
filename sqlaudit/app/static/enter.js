// Hand over the token behind the # once; it is in no request, no history and no log.
const token = location.hash.slice(1);
history.replaceState(null, "", "/enter");
fetch("/enter", { method: "POST", body: new URLSearchParams({ token }), redirect: "manual" }).then((answer) => {
  if (answer.type === "opaqueredirect") location.replace("/");
  else document.getElementById("state").textContent = "This entry was used already. Start the window again: sqlaudit app";
});
