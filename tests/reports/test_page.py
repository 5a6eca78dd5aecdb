"""Pages: the same document as everywhere, self-contained, with names and values as data."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import InputError
from sqlaudit.reports import charts
from sqlaudit.reports.document import (
    About,
    Bullets,
    Code,
    Column,
    Document,
    Facts,
    KeyFigure,
    Panel,
    Paragraph,
    Picture,
    ProposedCommand,
    Section,
    Strip,
    Table,
    Toned,
    compose,
    facts,
    panels,
    section,
    strips,
    table,
)
from sqlaudit.reports.glossary import explained, in_markdown
from sqlaudit.reports.markdown import render_markdown
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.page import render_html
from sqlaudit.reports.stored import from_json, to_json
from sqlaudit.reports.text import render_text
from tests.cli.runner import patients, run, write_csv

NASTY = "<script>alert(1)</script>\x1b[31m & \"quoted\" $\\alpha$ 'x'"
GRAPH = {
    "nodes": [{"name": "0", "x": 0, "y": 0, "kind": "unsafe"}, {"name": NASTY, "x": 0, "y": 1, "kind": "best"}],
    "edges": [["0", NASTY]],
    "y": NASTY,
}
PICTURES = (
    Picture("sizes", NASTY, {"labels": ["1", NASTY], "from": [1, 2], "values": [3, 0], "safe": 2, "x": "a", "y": "b"}),
    Picture("curves", "c", {"curves": {NASTY: [[0, 0.1], [1, 1]], "n": [[0, 0]]}, "limit": 0.5, "x": "k", "y": NASTY}),
    Picture("bars", "b", {"names": [NASTY], "series": {"one": [1], "two": [2]}, "x": "rows", "share": True}),
    Picture("matrix", "m", {"columns": ["a", NASTY], "sets": [[NASTY], ["a", NASTY]], "labels": ["1", "2"], "x": "s"}),
    Picture(
        "heat",
        "h",
        {"rows": ["r"], "columns": [NASTY, "y"], "values": [[0.5, None]], "texts": [["1", ""]], "x": "x", "y": "y"},
    ),
    Picture("graph", "g", GRAPH),
    strips("s", {NASTY: [Strip(NASTY, [1, 2], ["whole", NASTY]), Strip("x", [3, 0])]}, ("one", NASTY), rest=True),
    panels("p", [Panel(NASTY, NASTY, [0.5, 0.5], [1, 0]), Panel("b", "", [1], [0])], ("one", NASTY)),
)
EVERYTHING = Document(
    Toned(NASTY, "bad"),
    (Paragraph(NASTY), Bullets((Toned(NASTY, "good"), "b"))),
    (
        Section(NASTY, (Facts(((NASTY, Toned(NASTY, "warn")),)), Table((Column(NASTY, True),), ((NASTY,),), NASTY))),
        Section("pictures", PICTURES),
        Section("code", (Code(NASTY, "SELECT 1\nFROM x -- " + NASTY),)),
        Section("command", (ProposedCommand(NASTY, ("sqlaudit", NASTY)),)),
    ),
    (KeyFigure(NASTY, NASTY, "bad"), KeyFigure("1", "plain")),
)


def test_whatever_a_name_or_value_holds_stays_text() -> None:
    page = render_html(EVERYTHING)
    script = resources.files("sqlaudit.reports").joinpath("page.js").read_text(encoding="utf-8")
    assert "<script" not in page.replace(f"<script>{script}</script>", "", 1)
    checksum = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{checksum}'\">" in page
    assert "\x1b" not in page
    shown = "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[31m &amp; &quot;quoted&quot; $\\alpha$ &#x27;x&#x27;"
    widths = (charts.WIDTH, charts.NARROW)
    in_pictures = sum(charts.draw(picture, width).count(shown) for picture in PICTURES for width in widths)
    assert in_pictures > 0
    assert page.count(shown) == 20 + in_pictures
    assert f"<h1>{shown}</h1>" in page
    assert f"SELECT 1\nFROM x -- {shown}</pre>" in page


def test_a_page_asks_for_nothing_and_allows_nothing() -> None:
    page = render_html(EVERYTHING)
    references = re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?([^\"') >]*)", page)
    assert {reference for reference in references if not reference.startswith("#")} == set()
    assert "default-src 'none'" in page
    assert page.count("<svg") == 2 * len(PICTURES)
    assert "var(--series-1)" in page


def test_pictures_have_a_name_and_are_whole_files_too() -> None:
    for picture in PICTURES:
        svg = charts.draw(picture)
        assert svg is not None
        ET.fromstring(svg)
        file = charts.draw_file([picture])
        assert file == charts.draw_file([picture])
        assert b"var(" not in file, picture.kind  # in colours, not in names that a page's style has
        ET.fromstring(file)
    both = [charts.draw_file([picture]) for picture in PICTURES[:2]]
    heights = [float(ET.fromstring(file).get("height", "0")) for file in both]
    stacked = ET.fromstring(charts.draw_file(PICTURES[:2]))
    assert float(stacked.get("height", "0")) == sum(heights)


def test_the_page_of_a_frame_has_its_first_picture_at_the_top_and_no_script() -> None:
    page = render_html(EVERYTHING, framed=True)
    assert "<script" not in page
    assert "script-src" not in page
    assert page.count("<figure") == len(PICTURES)
    assert page.index("<figure") < page.index("<nav") < page.index("<figure", page.index("<figure") + 1)


def test_a_section_begins_with_its_picture_and_a_headline_without_the_table() -> None:
    about = About("adult.csv", kind="Attacks")
    figures = table(("Name", "#Nothing", "#Zero"), [("a", "", "0"), ("b", None, 0)])
    document = compose("adult.csv: 2 attacks expose people", (), section("Attacks", figures, PICTURES[0]), about=about)
    page = render_html(document)
    assert page.index("<figure") < page.index("<table>")
    assert "<h1>2 attacks expose people</h1>" in page
    assert "Nothing" not in page
    assert "Zero" in page  # no attack succeeds: the zero is the message


def test_every_kind_of_picture_stays_inside_its_frame() -> None:
    page = render_html(EVERYTHING)
    assert 2 * page.count("<figure") == page.count("<svg") == 2 * len(PICTURES)  # one for wide screens, one for phones
    assert "<table>" in page
    assert {picture.kind for picture in PICTURES} == set(charts.KINDS)
    for picture in PICTURES:
        drawn = ET.fromstring(charts.draw(picture))
        assert drawn.get("aria-hidden") == "true"
        height = float(drawn.get("height", "0"))
        names = ("x", "y", "width")
        boxes = [{name: float(box.get(name, "0")) for name in names} for box in drawn]
        assert all(0 <= box.get("y", 0) <= height for box in boxes)
        assert all(box.get("x", 0) + box.get("width", 0) <= charts.WIDTH for box in boxes)
        with pytest.raises(InputError, match="damaged"):
            charts.draw(replace(picture, data={"x": 1}))
    with pytest.raises(InputError, match="of a kind that this version cannot draw"):
        charts.draw(Picture("pie", "", {"x": 1}))


def test_commands_are_code_in_the_banner_and_names_break_at_underscores() -> None:
    page = render_html(compose("Rules", ("Require one with `sqlaudit audit --preset NAME`.", facts(("a_b", "c_d")))))
    banner = page[page.index("<header") : page.index("</header>")]
    assert "<code>sqlaudit audit --preset NAME</code>" in banner
    assert "`" not in banner
    assert "A_<wbr>b</dt>" in page
    assert "c_d</dd>" in page


def test_what_introduces_a_list_is_not_in_the_banner() -> None:
    page = render_html(compose("Accepted", ("Tests fail if they get worse.", "claims:", ("no role",))))
    banner, rest = page.split("</header>")
    assert "get worse" in banner
    assert "claims:" not in banner
    assert rest.index("claims:") < rest.index("no role")


def test_labels_of_a_crowded_row_take_turns() -> None:
    def above(nodes: list[dict[str, Any]], distance: float) -> list[bool | None]:
        return charts._labels_above(nodes, {node["name"]: (distance * node["x"], 64 * node["y"]) for node in nodes})

    nodes: list[dict[str, Any]] = [{"name": str(place), "x": place, "y": 1, "kind": "safe"} for place in range(10)]
    nodes += [{"name": "top", "x": 5, "y": 2, "kind": "best"}]
    assert above(nodes, 20) == [True] * 11
    assert above(nodes, 8) == [True, False] * 5 + [True]
    long = [{**node, "name": f"0,1,2,3,4,5,6,{node['name']}"} for node in nodes]
    assert above(long, 70) == [True, False] * 5 + [True]
    assert above(long, 40) == [True, False, None] * 3 + [True, True]  # no label covers another
    crowded = [{**node, "kind": "best" if node["name"].endswith("1") else "safe"} for node in long]
    assert above(crowded, 40)[1] is True  # the chosen node has its label whatever happens
    many = [{"name": str(place), "x": 0, "y": place, "kind": "safe"} for place in range(61)]
    assert above([*many, {**nodes[-1], "y": 70}], 20) == [None] * 61 + [True]


def test_a_plain_bar_is_as_long_as_its_number() -> None:
    data = {"labels": ["1", "2"], "from": [1, 2], "values": [26, 3974], "safe": 2, "x": "class size", "y": "rows"}
    drawn = ET.fromstring(charts.draw(Picture("sizes", "", data)))
    short, long = [float(one.get("width", "")) for one in drawn if one.tag.endswith("rect")]
    assert short / long == pytest.approx(26 / 3974, abs=1e-3)
    assert [one.text for one in drawn if one.text and one.text.strip()][-1] == "3,974"


ABOUT = About(
    'in"jury</style>.csv',
    "2026-05-04T10:15:00+00:00",
    "sqlaudit audit injury.csv",
    "ab12",
    "Yearly check",
    "Jo",
    "Why",
    ("DPO",),
)


def test_what_commands_are_for_stands_at_the_end_of_a_page() -> None:
    document = Document(
        "PASS",
        (Bullets((Toned("zip looks known.", "warn", "Name it with --qi."), Toned("A.", hint="--show shows it."))),),
        (
            *section("What to do", Bullets(("Try --qi.",)), repeating=True),
            *section(
                "Facts",
                Paragraph("One class of two rows."),
                ProposedCommand("Look again:", ("sqlaudit", "profile", "--x")),
            ),
            *section("The SQL", Code("1. open", "SELECT 1"), Code("2. read", "SELECT 2")),
        ),
        about=ABOUT,
    )
    page = render_html(document)
    head, _, end = page.partition("How to repeat this</h2>")
    assert "--" not in head.partition("<main")[2]
    hints = ("<li>zip looks known. Name it with --qi.</li>", "<li>--show shows it.</li>")
    command = "sqlaudit profile <span>--x</span></pre>"
    wanted = ("sqlaudit audit injury.csv", "ab12", *hints, "Try --qi.", "Look again:", command)
    places = [end.index(said) for said in wanted]
    assert places == sorted(places)
    titles = re.findall("<h2 id=[^>]*>(.*?)</h2>", page)
    assert titles == ["Facts", "How to repeat this", "Sign-off", "Words on this page", "The SQL"]
    assert "<details><summary>Show all 2</summary>" in page
    assert "zip looks known. Name it with --qi." in render_text(document)


def test_a_page_says_for_whom_it_is_and_who_signs() -> None:
    document = Document("PASS", about=ABOUT)
    page = render_html(document)
    assert "<title>Yearly check: PASS</title>" in page
    assert '<p class="title">Yearly check</p>' in page
    assert "<dt>Owner</dt><dd>Jo</dd>" in page.replace("\n", "")
    assert "<td>DPO</td>" in page
    assert page.count("</style>") == 1
    assert '@top-left { content: "Yearly check \\2013  in\\22 jury\\3c \\2f style\\3e .csv";' in page
    assert '@top-right { content: "2026-05-04 10:15 UTC";' in page
    assert 'counter(page) " of " counter(pages)' in page
    lines = render_text(document).splitlines()
    assert lines[:4] == ["Yearly check", "PASS", "  Owner    Jo", "  Purpose  Why"]
    assert lines[-1].split() == ["DPO", "_" * 12, "_" * 24]
    marked = render_markdown(document)
    assert marked.startswith("Yearly check\n\n# PASS\n\n- **Owner**: Jo\n- **Purpose**: Why\n")
    assert from_json(json.loads(json.dumps(to_json(document)))) == document


def test_figures_stand_between_the_opening_and_the_rest_of_the_lead() -> None:
    document = compose("FAIL", ["a.csv: 9 rows.", ["a notice"]], figures=[KeyFigure("1 row", "Smallest group", "bad")])
    assert render_text(document, glossary=False).splitlines() == [
        "FAIL",
        "  a.csv: 9 rows.",
        "",
        "  Smallest group  1 row",
        "",
        "  • a notice",
    ]
    assert render_markdown(document).startswith(
        "# FAIL\n\na.csv: 9 rows.\n\n- **Smallest group**: 1 row\n\n- a notice\n"
    )
    page = render_html(document).replace("\n", "")
    shown = (
        '</header><dl class="figures"><div class="bad"><dt>Smallest group</dt><dd>1 row</dd></div></dl><ul><li>a notice'
    )
    assert shown in page


def test_words_that_occur_are_explained_on_the_page_and_all_in_the_docs() -> None:
    page = render_html(Document("k-anonymity is 1", (Paragraph("There are two nodes."),)))
    assert re.findall("<dt>(.*?)</dt>", page) == ["k-anonymity", "Node"]
    assert "at least one person is unique and can be singled out" in page
    assert "Words on this page" not in render_html(Document("Nothing", (Paragraph("Only electrode lossless."),)))
    written = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text("utf-8")
    assert written.endswith(in_markdown())
    assert [term.name for term in explained(["(c,k)-safety … negated, δ-disclosure privacy"])] == [
        "δ-disclosure",
        "(c,k)-safety",
        "Negated",
    ]


def test_short_logarithmic_axes_have_several_numbers() -> None:
    data = {"curves": {"rows": [[2, 0.5], [3, 0.6], [9, 1]]}, "log_x": True, "x": "class size", "y": "share"}
    drawn = ET.fromstring(charts.draw(Picture("curves", "", data)))
    texts = {one.text for one in drawn.iter() if one.tag.endswith("text")}
    assert {"2", "5"} <= texts


def test_a_stored_document_comes_back_as_it_was() -> None:
    assert from_json(json.loads(json.dumps(to_json(EVERYTHING)))) == EVERYTHING
    with pytest.raises(InputError, match="damaged"):
        from_json({"headline": "x"})
    with pytest.raises(InputError, match="damaged"):
        from_json({**to_json(EVERYTHING), "worst": [{"text": "x", "tone": "loud"}]})


def test_pictures_and_code_are_for_pages_only() -> None:
    assert "pictures" not in render_text(EVERYTHING)
    assert "SELECT" not in render_text(EVERYTHING)


def test_report_lays_out_what_a_command_found(tmp_path: Path) -> None:
    asked = ["audit", patients(tmp_path), "--qi", "age,sex", "--sensitive", "disease", "--require", "k=3"]
    stored = tmp_path / "result.json"
    assert run(*asked, "--format", "json", "--output", stored).code == 1
    ran = run("report", stored)
    assert (ran.code, ran.out) == (0, "")
    page = (tmp_path / "result.html").read_text("utf-8")
    assert "<h1>FAIL: the requirement is not met</h1>" in page
    assert page.count("<figure") == 3
    assert "GROUP BY" in page
    assert "ulcer" not in page
    direct = tmp_path / "direct.html"
    assert run(*asked, "--output", direct).code == 1
    assert direct.read_text("utf-8").count("<figure") == 3
    assert run("report", stored, "--format", "text").out.splitlines()[0] == run(*asked).out.splitlines()[0]


def test_report_writes_the_pictures_as_files(tmp_path: Path) -> None:
    stored = tmp_path / "result.json"
    run("audit", patients(tmp_path), "--qi", "age,sex", "--format", "json", "--output", stored)
    folder = tmp_path / "new" / "figures"
    ran = run("report", stored, "--pictures", folder)
    assert ran.code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["01-curves.svg", "02-sizes.svg"]
    assert ran.err.splitlines()[1:] == [
        f"sqlaudit: wrote {str(folder / name)!r}" for name in ("01-curves.svg", "02-sizes.svg")
    ]
    ET.fromstring((folder / "02-sizes.svg").read_bytes())
    picture = folder / "01-curves.svg"
    ran = run("report", stored, "--pictures", picture)
    assert (ran.code, ran.err.splitlines()[-1]) == (
        2,
        f"sqlaudit: {str(picture)!r} cannot be made a folder: File exists.",
    )
    assert "is an input" in run("report", stored, "--pictures", stored).err
    (tmp_path / "counts.csv").write_text("region,n\nnorth,2\nsouth,30\n", "utf-8")
    cells = ["--by", "region", "--count", "n", "--require", "threshold=5"]
    run("aggregates", tmp_path / "counts.csv", *cells, "--format", "json", "--output", stored)
    ran = run("report", stored, "--pictures", folder)
    assert ran.err.splitlines()[-1] == f"sqlaudit: The report has no pictures: nothing was written to {str(folder)!r}."


def test_report_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    assert run("report", tmp_path / "none.json").err.endswith("cannot be read (No such file or directory).\n")
    text = write_csv(tmp_path / "a.json", "age", "1")
    assert run("report", text).code == 2
    assert "is not JSON" in run("report", text).err
    (tmp_path / "b.json").write_text("{}")
    assert "is not a stored report" in run("report", tmp_path / "b.json").err
    (tmp_path / "c.json").write_text('{"report": {}}')
    assert "damaged" in run("report", tmp_path / "c.json").err
    for picture in ({"drawing": "sizes", "data": {"labels": 1}}, {"drawing": "pie", "data": {"x": 1}}):
        block = {"kind": "picture", "title": "t", **picture}
        report = {"headline": "h", "lead": [], "worst": [], "sections": [{"title": "s", "blocks": [block]}]}
        (tmp_path / "d.json").write_text(json.dumps({"report": report}))
        ran = run("report", tmp_path / "d.json")
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "sqlaudit: A picture in this file is " in ran.err


def test_notebooks_show_the_page_in_a_frame_that_may_do_nothing() -> None:
    people = pd.DataFrame({"age": [31, 31, 52], "<b>sex": ["f", "f", "m"], "ill": ["x", "secret", "x"]})
    asked: dict[str, Any] = {"qi": ["age", "<b>sex"]}
    results = {
        "AuditResult": sqlaudit.audit(people, **asked, sensitive=["ill"], require={"k": 2}),
        "ProfileResult": sqlaudit.profile(people),
        "ColumnSets": sqlaudit.columns(people),
        "RecordRisk": sqlaudit.records(people, **asked),
        "DisclosureResult": sqlaudit.disclosure_curve(people, **asked, sensitive="ill", knowledge=2),
        "LatticeResult": sqlaudit.lattice(people, **asked, require={"k": 2}, hierarchies={"age": {"widths": [50]}}),
        "AttackResult": sqlaudit.attack(people, **asked, sensitive=["ill"]),
    }
    for name, result in results.items():
        assert type(result).__name__ == name
        frame = result._repr_html_()
        assert frame.startswith('<iframe title="sqlaudit report" sandbox="" ')
        page = html.unescape(frame[frame.index('srcdoc="') + 8 : -len('"></iframe>')])
        assert page == render_html(document_of(result), framed=True)
        assert "<b>sex" not in page
        assert "secret" not in page
    with pytest.raises(TypeError, match="dict has no report"):
        document_of({})


def test_axes_group_thousands_as_sentences_do() -> None:
    sizes = {"labels": ["1", "2"], "from": [1, 2], "to": [1, 2], "values": [7_150, 2], "x": "class size", "y": "rows"}
    bars = {"names": ["a"], "series": {"rows": [2_000_000]}, "x": "rows"}
    for kind, data, wanted in (("sizes", sizes, "7,150"), ("bars", bars, "2,000,000")):
        texts = [one.text or "" for one in ET.fromstring(charts.draw(Picture(kind, "", data))).iter()]
        assert wanted in texts
        assert [text for text in texts if re.search(r"\d{4}|e\+", text)] == []


def test_what_is_counted_in_whole_numbers_has_whole_numbers_at_its_axis() -> None:
    names = ("exposed: fewer than 5 share them", "singled out by the most telling")
    curves = {name: [[1, 0.1], [2, 0.9], [3, 1]] for name in names}
    picture = Picture("curves", "", {"curves": curves, "x": "known events", "y": "share"})
    texts = [one.text or "" for one in ET.fromstring(charts.draw(picture)).iter()]
    assert {*names, "1", "2", "3"} <= set(texts)
    assert [text for text in texts if re.fullmatch(r"[12]\.[1-9]+", text.strip())] == []


def texts_of(picture: Picture) -> list[str]:
    return [one.text or "" for one in ET.fromstring(charts.draw(picture)).iter() if one.tag.endswith("text")]


def test_axes_end_where_their_data_end() -> None:
    points = {"rows": [[1, 0.01], [2, 0.03], [3, 0.06]]}
    texts = texts_of(Picture("curves", "", {"curves": points, "x": "k", "y": "share of rows"}))
    assert [text for text in texts if text.endswith("%")] == ["0%", "2%", "4%", "6%"]
    limited = {"curves": points, "x": "k", "y": "share of rows", "limit": 0.5}
    assert "50%" in texts_of(Picture("curves", "", limited))  # the limit is inside


def test_two_points_are_bars() -> None:
    data = {"curves": {"inside": [[1, 0.5], [2, 0.25]]}, "x": "events", "y": "share of people"}
    assert texts_of(Picture("curves", "", data)) == ["events 1", "50.0%", "events 2", "25.0%", "share of people"]
    drawn = ET.fromstring(charts.draw(Picture("curves", "", data)))
    long, short = [float(one.get("width", "")) for one in drawn if one.tag.endswith("rect")]
    assert long == pytest.approx(2 * short, abs=0.2)


def test_rows_of_long_tables_are_folded_and_shares_have_bars() -> None:
    rows = tuple((f"c{number}", f"{number}.5%", "under 0.1%") for number in range(20))
    table = Table((Column("Column"), Column("Share", True), Column("Other", True)), rows)
    page = render_html(Document("head", (), (Section("s", (table,)),)))
    assert page.count("<details><summary>8 more rows</summary>") == 1
    assert page.index("c11</td>") < page.index("8 more rows") < page.index("c12</td>")
    assert 'style="background-size:1.4% .2rem" class="number">1.5%</td>' in page
    assert page.count("background-size") == 20
    short = render_html(Document("head", (), (Section("s", (Table(table.columns, rows[:18]),)),)))
    assert "<details>" not in short


def test_method_is_folded_at_the_end_and_the_first_line_says_what_it_is() -> None:
    about = About("a.csv", "2026-05-04T10:15:00+00:00", owner="Ann", kind="Audit")
    sections = (
        Section("Method", (Facts((("engine", "DuckDB"),)),), folded=True),
        Section("Findings", (Paragraph("nothing"),)),
    )
    page = render_html(Document("head", (), sections, about=about))
    spans = "<span>Audit</span> <span>a.csv</span> <span>2026-05-04 10:15 UTC</span> <span>Owner: Ann</span>"
    assert f'<p class="masthead">{spans}</p>' in page
    assert page.index("Findings</h2>") < page.index("Method</h2>") < page.index("<details><summary>Show</summary>")
    assert from_json(json.loads(json.dumps(to_json(Document("head", (), sections, about=about))))).sections == sections
