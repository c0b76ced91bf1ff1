#!/usr/bin/env python3
"""Writes the results of `polypath reproduce --json` into the pages about them.

write_reproduction.py RESULTS CAUSES: between marks in `docs/reproduction.md` and in the README of each experiment. In
these `<!-- claims -->` stands before the table of claims, `<!-- causes -->` before all of what the plan `causes.toml`
beside the README comes to (CAUSES), and before tables of values

    <!-- values: NAME -->                    a row for each variant, a column for each point of the axes
    <!-- values: NAME=HEADING; ... -->       a row for each variant, a column for each value, without axes
    <!-- values: NAME by AXIS -->            a row for each value on an axis, a column for each variant: the mean of the
                                             medians over the points there

A block ends with `<!-- end of BLOCK -->`. Numbers have three digits, as on the page of `--out`.
"""

import json
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = ROOT / "crates/polypath-lab/experiments"
VERDICTS = {"reproduced": "reproduced", "direction_only": "direction only", "not_reproduced": "not reproduced"}
# A value of an assumption is told if the verdict has no more than this share of what it has over the whole sample.
TELLING = 0.5


def main() -> None:
    results = json.loads(Path(sys.argv[1]).read_text())
    if results["quick"]:
        sys.exit(f"{sys.argv[1]}: of a quick run; the pages have the results of full runs")
    experiments = results["experiments"]
    causes = {plan["id"]: plan for plan in json.loads(Path(sys.argv[2]).read_text())["experiments"]}
    for experiment in experiments:
        beside = causes.get(f"{experiment['id']}-causes")
        page = EXPERIMENTS / experiment["id"].lower() / "README.md"
        write(page, lambda name: of_experiment(experiment, beside, name))
    write(ROOT / "docs/reproduction.md", lambda name: of_all(experiments, name))


def write(page: Path, block_of) -> None:
    """Writes each block of a page anew."""
    text = page.read_text()
    block = re.compile(r"<!-- ((\w+)(?:: [^>]*?)?) -->\n.*?<!-- end of \2 -->", re.DOTALL)
    if not block.search(text):
        sys.exit(f"{page}: no block such as <!-- claims --> to write into")

    def anew(match: re.Match) -> str:
        name, kind = match.groups()
        return f"<!-- {name} -->\n{block_of(name)}<!-- end of {kind} -->"

    page.write_text(block.sub(anew, text))


def of_experiment(experiment: dict, beside: dict | None, name: str) -> str:
    kind, _, what = name.partition(": ")
    match kind:
        case "claims":
            return claims(experiment)
        case "causes" if beside:
            return of_causes(beside)
        case "values" if "=" in what:
            return by_name(experiment, [part.split("=") for part in what.split("; ")])
        case "values" if " by " in what:
            return by_axis(experiment, *what.split(" by "))
        case "values":
            return by_point(experiment, what)
    sys.exit(f"{experiment['id']}: unknown block {name!r}; allowed are claims, values, and causes if a plan has them")


def of_all(experiments: list, name: str) -> str:
    match name:
        case "counts":
            return counts(experiments)
        case "verdicts":
            return summary(experiments) + "\n" + every_claim(experiments)
    sys.exit(f"docs/reproduction.md: unknown block {name!r}; allowed are counts and verdicts")


def counts(experiments: list) -> str:
    all_claims = [claim for experiment in experiments for claim in experiment["claims"]]
    count = {verdict: sum(claim["verdict"] == verdict for claim in all_claims) for verdict in VERDICTS}
    runs = sum(experiment["runs"] for experiment in experiments)
    return (
        f"Of {len(all_claims)} claims {count['reproduced']} are reproduced, {count['direction_only']} in direction "
        f"only, and {count['not_reproduced']} not, by {runs:,} runs.\n"
    )


def summary(experiments: list) -> str:
    rows = [["experiment", "subject", *VERDICTS.values()]]
    for experiment in experiments:
        letters = [
            " ".join(c["id"].removeprefix(experiment["id"]) for c in experiment["claims"] if c["verdict"] == verdict)
            for verdict in VERDICTS
        ]
        rows.append([link(experiment), experiment["title"], *letters])
    return table(rows)


def every_claim(experiments: list) -> str:
    rows = [["claim", "required", "ours", "verdict", "seeds", "stands"]]
    for claim in (claim for experiment in experiments for claim in experiment["claims"]):
        rows.append([claim["id"], with_unit(claim, claim["bounds"]), *judged(claim)])
    return table(rows)


def link(experiment: dict) -> str:
    name = experiment["id"]
    return f"[{name}](../crates/polypath-lab/experiments/{name.lower()}/README.md)"


def claims(experiment: dict) -> str:
    rows = [["claim", "paper", "required", "ours", "verdict", "seeds", "stands"]]
    notes = []
    for claim in experiment["claims"]:
        ours, verdict, *rest = judged(claim)
        name = f"{claim['id']}: {claim['meaning']}"
        rows.append([name, claim["paper"], with_unit(claim, claim["bounds"]), ours, f"**{verdict}**", *rest])
        notes += of_readings(claim) + of_sample(claim)
    text = f"{experiment['seeds']} seeds, {experiment['runs']:,} runs.\n\n{table(rows)}"
    return text + ("\n" + "".join(f"- {note}\n" for note in notes) if notes else "")


def of_causes(plan: dict) -> str:
    """What a plan beside an experiment comes to: its claims, and the medians of its quantities."""
    rows = [["cause", "required", "ours", "verdict", "seeds"]]
    for claim in plan["claims"]:
        rows.append([claim["says"], with_unit(claim, claim["bounds"]), *judged(claim)[:3]])
    labels = {quantity["name"]: quantity["label"] for quantity in plan["quantities"]}
    if any(cell["at"] for cell in plan["cells"]):
        values = [f"Medians of {label}:\n\n{by_point(plan, name)}" for name, label in labels.items()]
    else:
        values = [f"Medians:\n\n{by_name(plan, labels.items())}"]
    return "\n".join([f"{plan['title']}, {plan['seeds']} seeds, {plan['runs']:,} runs.\n", table(rows), *values])


def judged(claim: dict) -> list:
    """The value, the verdict, how many seeds and how many points of the sample have it."""
    seeds = claim["per_seed"]
    sample = claim["sensitivity"]
    stands = f"{sample['same']} of {sample['points']}" if sample else ""
    return [value_of(claim, claim), VERDICTS[claim["verdict"]], f"{claim['agreeing']} of {len(seeds)}", stands]


def of_readings(claim: dict) -> list:
    return [
        f"{claim['id']} with {reading['name']}: {VERDICTS[reading['verdict']]}, {value_of(claim, reading)}."
        for reading in claim["readings"]
    ]


def of_sample(claim: dict) -> list:
    """The values of assumptions with which the verdict is seldom what it is."""
    sample = claim["sensitivity"]
    if not sample or sample["same"] in (0, sample["points"]):
        return []
    usual = sample["same"] / sample["points"]
    telling = [
        f"{value['assumption']} = {value['value'].replace('|', 'and')} ({value['same']} of {value['points']})"
        for value in sample["by_value"]
        if value["points"] and value["same"] / value["points"] <= TELLING * usual
    ]
    value = value_of(claim, sample) if sample["value"] else "not observed at every point"
    over = f"{claim['id']} over the sample: {value}"
    return [over + (f"; the verdict is seldom the same with {'; '.join(telling)}." if telling else ".")]


def value_of(claim: dict, judgement: dict) -> str:
    value = judgement["value"]
    return with_unit(claim, interval(value)) if value else "none"


def with_unit(claim: dict, text: str) -> str:
    return f"{text} {claim['unit']}".strip()


def by_point(experiment: dict, name: str) -> str:
    points = list(dict.fromkeys(place(cell) for cell in experiment["cells"]))
    rows = [["", *(points if points != [""] else ["value"])]]
    for variant in variants(experiment):
        cells = {place(cell): cell for cell in experiment["cells"] if cell["variant"] == variant}
        rows.append([title(cells), *(reached(cells.get(point), name) for point in points)])
    return table(rows)


def by_name(experiment: dict, names: list) -> str:
    rows = [["", *(heading for _, heading in names)]]
    for variant in variants(experiment):
        cells = {place(cell): cell for cell in experiment["cells"] if cell["variant"] == variant}
        if len(cells) != 1:
            sys.exit(f"{experiment['id']}: several values need an experiment without axes")
        rows.append([title(cells), *(reached(cell, name) for cell in cells.values() for name, _ in names)])
    return table(rows)


def by_axis(experiment: dict, name: str, axis: str) -> str:
    ticks = list(dict.fromkeys(cell["at"][axis] for cell in experiment["cells"]))
    rows = [[axis.replace("_", " "), *variants(experiment)]]
    for tick in ticks:
        at = [cell for cell in experiment["cells"] if cell["at"][axis] == tick]
        of = lambda variant: [cell["values"][name]["median"] for cell in at if cell["variant"] == variant]
        rows.append([tick, *(number(statistics.fmean(of(variant))) for variant in variants(experiment))])
    return table(rows)


def variants(experiment: dict) -> list:
    return list(dict.fromkeys(cell["variant"] for cell in experiment["cells"]))


def title(cells: dict) -> str:
    cell = next(iter(cells.values()))
    return cell["variant"] + (" *" if cell["beyond"] else "")


def place(cell: dict) -> str:
    return ", ".join(f"{axis.replace('_', ' ')} {value}" for axis, value in cell["at"].items())


def reached(cell: dict | None, name: str) -> str:
    value = cell and cell["values"].get(name)
    return number(value["median"]) if value else ""


def interval(value: dict) -> str:
    median, low, high = (number(value[key]) for key in ("median", "low", "high"))
    return median if median == low == high else f"{median} ({low} to {high})"


def number(value: float) -> str:
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:.{digits}f}"


def table(rows: list) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "".join("|" + "|".join(f" {cell} " if cell else " " for cell in line) + "|\n" for line in lines)


if __name__ == "__main__":
    main()
