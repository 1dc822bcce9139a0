"""A calibration as a page: one file, no script, nothing from elsewhere.

What is told of one source stands in blocks of the class of its number; the choice at the head of
the page shows those of one, by CSS alone.
"""

import itertools
from collections.abc import Iterator
from html import escape

from corpusmill.mill.filters.limits import shown
from corpusmill.mill.report.pages import page, paragraph
from corpusmill.tools.tune.calibrate.account import Calibration
from corpusmill.tools.tune.calibrate.example_texts import examples_block, visible
from corpusmill.tools.tune.calibrate.figures import Overlap, RuleFigures, Threshold
from corpusmill.tools.tune.calibrate.measured import Group, Rule
from corpusmill.tools.tune.calibrate.page_style import head
from corpusmill.tools.tune.calibrate.picture import Axis, axis_of, histogram
from corpusmill.tools.tune.calibrate.words import bound_now, facts, number, percent, sign

MOST_GROUPS = 24
"""That one can choose among; calibration.json has all."""

Cell = str | tuple[str, float]
"""What it says; with a share also how long the bar behind it is."""


def cell(one: Cell) -> str:
    if isinstance(one, str):
        return f"<td>{escape(one)}</td>"
    words, share = one
    return f'<td style="--s:{100 * share:.1f}">{escape(words)}</td>'


def share_cell(share: float) -> Cell:
    return percent(share), share


def grid(caption: str, heading: list[str], rows: list[tuple[str, list[Cell]]]) -> str:
    """rows: HTML of the first cell, and the others. It scrolls by itself where it is too wide."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in heading)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(map(cell, others))}</tr>\n'
        for first, others in rows
    )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption, quote=True)}">'
        f"<table><caption>{escape(caption)}</caption>\n<thead><tr>{top}</tr></thead>\n"
        f"<tbody>{body}</tbody></table></div>\n"
    )


def in_group(number: int, html: str) -> str:
    return f'<div class="g g{number}">\n{html}</div>\n'


def anchor(rule: Rule) -> str:
    return f"{rule.filter}-{rule.limit.value}" if rule.limit else rule.filter


def choice(groups: list[Group]) -> str:
    """One radio button for each group."""
    buttons = "".join(
        f'<label><input type="radio" name="group" id="g{number}"'
        f"{' checked' if number == 0 else ''}> {escape(group.title)}</label>\n"
        for number, group in enumerate(groups)
    )
    return f'<form><fieldset id="choice"><legend>Show</legend>\n{buttons}</fieldset></form>\n'


def sample_grid(found: Calibration) -> str:
    rows: list[tuple[str, list[Cell]]] = []
    for one in found.sampled:
        about = "" if one.read_share >= 1 else "about "
        cells: list[Cell] = [
            f"{one.files:,}", percent(one.read_share), f"{one.malformed:,}",
            f"{about}{one.documents:,.0f}", f"{one.sampled:,}",
        ]  # fmt: skip
        rows.append((escape(one.name), cells))
    heading = ["source", "files", "read", "malformed", "documents", "sampled"]
    return grid("The sample", heading, rows)


def shares_grid(found: Calibration, number: int) -> str:
    """Every filter and, below it, its rules, in one group."""
    total = found.any_filter[number]
    cells: list[Cell] = [share_cell(total.documents), share_cell(total.text_bytes), "", ""]
    rows = [("all filters", ["", *cells])]
    for name, figures in found.filters.items():
        one = figures[number]
        shares = (one.drops.documents, one.drops.text_bytes, one.alone.documents)
        cells = ["", *map(share_cell, shares), share_cell(one.first.documents)]
        rows.append((f'<a href="#{name}">{name}</a>', cells))
        for rule, of_rule in zip(found.of.rules, found.rules, strict=True):
            if rule.filter == name and rule.limit:
                drops, alone = of_rule[number].drops, of_rule[number].alone
                shares = (drops.documents, drops.text_bytes, alone.documents)
                link = f'<a class="rule" href="#{anchor(rule)}">{escape(rule.name)}</a>'
                rows.append(
                    (link, [f"{sign(rule)} {bound_now(rule)}", *map(share_cell, shares), ""])
                )
    heading = ["filter and rule", "drops", "documents", "bytes", "alone", "first"]
    return grid(f"Dropped now: {found.of.groups[number].title}", heading, rows)


def distinct(thresholds: list[Threshold]) -> list[Threshold]:
    """Of several with one value the last: no more documents than that."""
    return list({one.value: one for one in thresholds}.values())


def thresholds_grid(rule: Rule, figures: RuleFigures, group: Group) -> str:
    now = bound_now(rule)
    if group.kind == "source":
        now = number(rule.bounds[group.name])
    rows: list[tuple[str, list[Cell]]] = [
        ("now", [now, share_cell(figures.drops.documents), share_cell(figures.drops.text_bytes)])
    ]
    for level, value, share in distinct(figures.thresholds):
        shares = [share_cell(share.documents), share_cell(share.text_bytes)]
        rows.append((f"at most {100 * level:g} %", [number(value), *shares]))
    caption = f"{rule.name}, {group.title}"
    heading = ["would drop", f"{rule.limit.side if rule.limit else ''}", "documents", "bytes"]
    return grid(caption, heading, rows)


def value_section(
    found: Calibration, rules: list[tuple[Rule, list[RuleFigures], str]], groups: list[Group]
) -> str:
    """Of the limits of one value of a filter: pictures and tables for each group, examples."""
    first = rules[0][0]
    assert first.limit
    on_numbers = [(rule, figures) for rule, figures, _ in rules if rule.has_threshold]
    on_texts = [(rule, figures) for rule, figures, _ in rules if rule.judges_texts]
    axis = axis_of([rule for rule, _ in on_numbers]) if on_numbers else None
    pieces = [
        f'<section id="{anchor(first)}">\n<h3>{escape(first.limit.value)}</h3>\n',
        paragraph(first.meaning),
    ]
    for place, group in enumerate(groups):
        its = [(rule, figures[place]) for rule, figures in on_numbers]
        grids = [pictured(found, its, group, axis)] if axis else []
        grids += [thresholds_grid(rule, figures, group) for rule, figures in its]
        grids += [texts_grid(rule, figures[place], group) for rule, figures in on_texts]
        pieces.append(in_group(place, f'<div class="side">{"".join(grids)}</div>'))
    return "".join([*pieces, *(examples for _, _, examples in rules), "</section>\n"])


def pictured(
    found: Calibration, rules: list[tuple[Rule, RuleFigures]], group: Group, axis: Axis
) -> str:
    """The histogram of a value with its limits."""
    figures = [one for _, one in rules]
    words = f"{group.title}: median {number(figures[0].median)}"
    if figures[0].valued < 1:
        words += f"; {percent(1 - figures[0].valued)} have no such value"
    shares = [one.drops.documents for one in figures]
    picture = histogram(found.of, [rule for rule, _ in rules], group, axis, shares)
    return f"<figure>{picture}<figcaption>{escape(words)}</figcaption></figure>\n"


def texts_grid(rule: Rule, figures: RuleFigures, group: Group) -> str:
    """The most frequent texts, and of which documents are dropped."""
    rows: list[tuple[str, list[Cell]]] = [
        (f"<bdi>{visible(shown(text))}</bdi>", [share_cell(documents), share_cell(drops)])
        for text, documents, drops in figures.texts
    ]
    return grid(f"{rule.name}, {group.title}", ["text", "documents", "dropped"], rows)


def filter_sections(found: Calibration, groups: list[Group]) -> Iterator[str]:
    rules = [
        (rule, figures, examples_block(rule, examples))
        for rule, figures, examples in zip(found.of.rules, found.rules, found.examples, strict=True)
    ]
    for name, of_filter in itertools.groupby(rules, key=lambda one: one[0].filter):
        yield f'<section id="{name}">\n<h2>{name}</h2>\n'
        of_values: dict[str, list] = {}
        for one in of_filter:
            if one[0].limit:
                of_values.setdefault(one[0].limit.value, []).append(one)
            else:
                yield paragraph("It decides by itself, without limits.") + one[2]
        for some in of_values.values():
            yield value_section(found, some, groups)
        yield "</section>\n"


def overlap_grid(kind: str, overlap: Overlap) -> str:
    """In percent. Columns have the numbers of the rows: names are long."""
    rows = []
    for row, name in enumerate(overlap.names):
        shares = [overlap.alone[row], *overlap.both[row]]
        cells: list[Cell] = [(percent(one).removesuffix(" %"), one) for one in shares]
        cells[row + 1] = ""
        rows.append((f"{row + 1} {escape(name)}", cells))
    numbers = [str(number) for number in range(1, len(overlap.names) + 1)]
    caption = f"Of what a {kind} drops, what others drop too, in %"
    heading = ["of what it drops", "alone", *numbers]
    return f'<div class="matrix">\n{grid(caption, heading, rows)}</div>\n' if rows else ""


def calibration_page(found: Calibration) -> str:
    groups = found.of.groups[:MOST_GROUPS]
    left_out = len(found.of.groups) - len(groups)
    told = [paragraph(line) for line in facts(found)]
    if left_out:
        told.append(paragraph(f"{left_out} more groups are in calibration.json."))
    return page(
        "What the filters would drop",
        "<main>\n",
        *told,
        sample_grid(found),
        choice(groups),
        "<h2>Dropped now</h2>\n",
        paragraph(
            "alone: what no other filter drops, or no other rule. first: what no filter before it "
            "in the configuration drops. A star: some sources have another limit, or none."
        ),
        *(in_group(place, shares_grid(found, place)) for place in range(len(groups))),
        "<h2>Overlap, in all sources</h2>\n",
        overlap_grid("filter", found.overlap_of_filters),
        overlap_grid("rule", found.overlap_of_rules),
        "<h2>Filter by filter</h2>\n",
        paragraph(
            "A bar is as high as its share of the documents, in powers of ten; what is dropped is "
            "orange. The first and the last bar have what is beyond the axis too. Thresholds are "
            "the strictest that drop no more documents than that. Documents nearest to a limit are "
            "of all sources."
        ),
        *filter_sections(found, groups),
        "</main>\n",
        head=head(len(groups)),
    )
