// Tables that are sorted by a click on a heading. Without this, a page is the same and its tables stay as they are.
(() => {
  const rank = text => {
    const plain = text.replaceAll(",", "").replaceAll("−", "-")
    if (/∞$/.test(plain)) return plain.startsWith("-") ? -Infinity : Infinity
    const [, first, second] = /(-?\d*\.?\d+(?:e-?\d+)?)(?:(?:\/| in )(\d[\d.]*))?/.exec(plain) ?? []
    const side = /^(just )?(under|below)/.test(plain) ? -1e-9 : /^(just )?over/.test(plain) ? 1e-9 : 0
    return first === undefined ? NaN : Number(first) / Number(second ?? 1) + side
  }
  const compare = (numeric, down) => (one, other) => {
    const missing = text => (numeric ? isNaN(rank(text)) : text === "")
    if (missing(one) || missing(other)) return missing(one) - missing(other)
    const [a, b] = [rank(one), rank(other)]
    return (numeric ? (a > b) - (a < b) : one.localeCompare(other, "en", { numeric: true })) * (down ? -1 : 1)
  }
  const sort = (table, place) => {
    const heading = table.tHead.rows[0].cells[place], numeric = heading.classList.contains("number")
    const down = heading.ariaSort ? heading.ariaSort === "ascending" : numeric
    const further = table.parentElement.nextElementSibling
    if (further?.matches("details:has(> .table)")) {
      table.tBodies[0].append(...further.querySelector("tbody").rows)
      further.remove()
    }
    const order = compare(numeric, down), text = row => row.cells[place].textContent
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort((one, other) => order(text(one), text(other))))
    table.querySelectorAll("th").forEach(one => one.removeAttribute("aria-sort"))
    heading.ariaSort = down ? "descending" : "ascending"
  }
  for (const table of document.querySelectorAll(".table > table:not(.table + details table)")) {
    const rows = [...table.tBodies[0].rows] // those with … continue the row above them
    if (rows.length < 3 || rows.some(row => row.cells[0].textContent.startsWith("…"))) continue
    for (const [place, heading] of [...table.tHead.rows[0].cells].entries()) {
      const button = document.createElement("button")
      button.type = "button"
      button.append(...heading.childNodes)
      button.addEventListener("click", () => sort(table, place))
      heading.append(button)
    }
  }
})()
