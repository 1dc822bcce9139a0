"""How the page of a calibration looks: light, dark, narrow, printed."""

HEAD = """<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
:root { --page: #fff; --ink: #222; --quiet: #555; --line: #ddd; --kept: #a9b4c2; --drop: #d55e00;
  --bar: #f6dcc8; --box: #f6f6f4; --link: #0057a3 }
@media (prefers-color-scheme: dark) {
  :root { --page: #17181a; --ink: #e8e8e8; --quiet: #aaa; --line: #3c3e42; --kept: #5b6878;
    --drop: #ff8c3b; --bar: #5a3517; --box: #222427; --link: #8ec5ff } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--page);
  margin: 0 auto; padding: 16px; max-width: 1040px }
a { color: var(--link) }
h2 { margin: 36px 0 8px; border-top: 2px solid var(--line); padding-top: 16px }
h3 { margin: 28px 0 0 }
p { margin: 6px 0 }
h2, h3, section { scroll-margin-top: 126px }
#choice { display: flex; gap: 4px 14px; flex-wrap: wrap; border: 1px solid var(--line);
  border-radius: 6px; margin: 0; padding: 2px 10px 6px; min-width: 0; max-height: 84px;
  overflow: auto }
form { position: sticky; top: 0; background: var(--page); padding: 6px 0; z-index: 1 }
label { white-space: nowrap; padding: 4px 0 }
:focus-visible { outline: 3px solid var(--link); outline-offset: 1px }
.wide { overflow-x: auto; margin: 12px 0 }
table { margin: 0; font-variant-numeric: tabular-nums }
caption { text-align: left; font-weight: bold; padding: 4px 0 }
th, td { border-bottom: 1px solid var(--line); padding: 3px 10px; text-align: right;
  white-space: nowrap; vertical-align: bottom }
th:first-child { text-align: left; padding-left: 0 }
tbody th { font-weight: normal }
th:first-child { position: sticky; left: 0; background: var(--page) }
thead th { font-weight: normal; color: var(--quiet) }
td:first-child { min-width: 0 }
.rule { padding-left: 16px }
td[style] { background: linear-gradient(90deg, var(--bar) calc(var(--s) * 1%), transparent 0) }
.side { display: flex; flex-wrap: wrap; gap: 0 28px }
.side .wide { max-width: 100% }
figure { margin: 12px 0; flex: 0 1 560px }
figcaption { color: var(--quiet) }
figure svg { display: block; width: 100%; height: auto }
svg text { font: 13px system-ui, sans-serif; fill: var(--quiet) }
svg text.limit { fill: var(--ink) }
.grid { stroke: var(--line) } .axis { stroke: var(--quiet) }
line.limit { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 4 3 }
path.kept { fill: var(--kept) } path.dropped { fill: var(--drop) }
details { margin: 10px 0 }
summary { cursor: pointer; padding: 4px 0 }
article { border-left: 4px solid var(--kept); background: var(--box); padding: 6px 12px;
  margin: 8px 0 }
article.dropped { border-color: var(--drop) }
article p { overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 14em; overflow-y: auto;
  margin: 6px 0; font: 13px/1.5 ui-monospace, monospace; unicode-bidi: plaintext }
pre span { color: var(--drop); unicode-bidi: isolate }
@media (max-width: 640px) {
  body { padding: 10px; font-size: 14px }
  h1 { font-size: 1.5em }
  #choice { flex-wrap: nowrap; overflow-x: auto }
  th, td { padding: 3px 5px }
  th:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 7.5em }
  .rule { padding-left: 8px } }
@media print {
  form { display: none }
  section, figure, article, tr { break-inside: avoid }
  section { break-inside: auto }
  h2, h3, section > p { break-after: avoid }
  pre { max-height: none }
  .wide { overflow: visible }
  .matrix { font-size: 8px } .matrix th, .matrix td { padding: 1px 2px }
  path, td[style] { print-color-adjust: exact; -webkit-print-color-adjust: exact } }
"""


def head(groups: int) -> str:
    """Of a page with so many groups: one is shown. A browser that cannot choose shows all."""
    shown = "\n".join(
        f"body:has(#g{number}:checked) .g{number} {{ display: block }}" for number in range(groups)
    )
    return f"{HEAD}@supports selector(:has(a)) {{\n.g {{ display: none }}\n{shown}\n}}\n</style>\n"
