"""Writes polypath/objects.py from the schema of scenario files: `make generate`.

The schema comes from the declarations that the reader of scenarios is made of, so that objects have
exactly its keys.
"""

from __future__ import annotations

import json
import keyword
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT.parent / "scenarios" / "polypath.schema.json"
OBJECTS = ROOT / "polypath" / "objects.py"

# Names of classes where those of the schema say too little on their own.
NAMES = {"Link": "OneWay", "LinkItem": "Link", "Preset": "Network", "SizeDistribution": "Sizes"}
HEAD = '''"""Objects that scenarios are built of, each with the keys of its table (docs/scenario.md).

Written by tools/write_objects.py from the schema of scenario files; change that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ._build import Item, scenario_of
from .scenario import Scenario
'''


def main() -> None:
    OBJECTS.write_text(text())


def text() -> str:
    """What polypath/objects.py should be."""
    schema: dict[str, Any] = json.loads(SCHEMA.read_text())
    parts = [HEAD]
    names = ["build"]
    # Groups of keys that several tables have: their classes are bases of those of the tables.
    definitions = sorted(schema["definitions"].items(), key=lambda item: not is_group(item[0]))
    for name, definition in definitions:
        if is_group(name):
            parts.append(class_of(name, definition, "Keys that several tables have."))
            continue
        for title, table in tables(name, definition):
            names.append(title)
            parts.append(class_of(title, table, table["description"]))
        if "oneOf" in definition:
            variants = " | ".join(title for title, _ in tables(name, definition))
            parts.append(
                wrapped(f"{class_name(name)} = {variants}")
                + f'\n"""{definition["description"]}"""\n'
            )
            names.append(class_name(name))
    parts.append(build_function(schema))
    listed = "".join(f'    "{name}",\n' for name in sorted(names))
    parts.insert(1, f"__all__ = [\n{listed}]\n")
    return "\n\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def tables(name: str, definition: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The tables that a definition allows, with the names of their classes."""
    if "oneOf" not in definition:
        return [(class_name(name), definition)]
    base = class_name(name).removesuffix("Settings")
    return [(camel(table["title"]) + base, table) for table in definition["oneOf"]]


def class_name(name: str) -> str:
    return NAMES.get(name, name)


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def is_group(name: str) -> bool:
    return name.endswith("Keys")


def group_of(value: dict[str, Any]) -> str | None:
    """The shared group that a key is of."""
    match value.get("$ref", "").split("/"):
        case [_, _, group, "properties", _]:
            return group
        case _:
            return None


def class_of(name: str, table: dict[str, Any], told: str) -> str:
    groups = dict.fromkeys(group_of(value) for value in table["properties"].values())
    bases = [group for group in groups if group] or ["Item"]
    lines = ["@dataclass(frozen=True, kw_only=True)", f"class {name}({', '.join(bases)}):"]
    lines += docstring(told)
    for key, value in ordered(table):
        if group_of(value):
            continue
        lines.append("")
        lines += field(key, value, key in table["required"])
    return "\n".join(lines)


def ordered(table: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The keys of a table: the required ones first."""
    return sorted(table["properties"].items(), key=lambda item: item[0] not in table["required"])


def field(key: str, value: dict[str, Any], required: bool) -> list[str]:
    name = python_name(key)
    if "const" in value:
        line = f"    {name}: Literal[{json.dumps(value['const'])}] = {json.dumps(value['const'])}"
    elif required:
        line = f"    {name}: {type_of(value)}"
    else:
        line = f"    {name}: {type_of(value)} | None = None"
    return [wrapped(line), *docstring(description(value))]


def python_name(key: str) -> str:
    return key + "_" if keyword.iskeyword(key) else key


def description(value: dict[str, Any]) -> str:
    told = value["description"]
    if "default" in value and value["default"] not in ([], {}):
        told += f" Default: {json.dumps(value['default'])}."
    return told


def type_of(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return class_name(value["$ref"].rsplit("/", 1)[1])
    if "anyOf" in value:
        return " | ".join(dict.fromkeys(type_of(choice) for choice in value["anyOf"]))
    if "allOf" in value:
        return type_of(value["allOf"][0])
    if "enum" in value:
        return f"Literal[{', '.join(json.dumps(choice) for choice in value['enum'])}]"
    if value["type"] == "array":
        return f"Sequence[{type_of(value['items'])}]"
    return {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}[value["type"]]


def wrapped(line: str) -> str:
    """A line that fits, or one with its choices below each other."""
    if len(line) <= 100:
        return line
    head, _, choices = line.partition(" = " if " = " in line and ":" not in line else ": ")
    if ":" not in line.split("=")[0]:
        body = "\n    | ".join(choices.split(" | "))
        return f"{head} = (\n    {body}\n)"
    choices, _, default = choices.partition(" = ")
    body = textwrap.fill(choices, 92, break_long_words=False, break_on_hyphens=False)
    body = textwrap.indent(body, "        ")
    tail = f" = {default}" if default else ""
    return f"{head}: (\n{body}\n    ){tail}"


def docstring(told: str, indent: str = "    ") -> list[str]:
    lines = textwrap.wrap(told.replace("\\", "\\\\"), 92, break_long_words=False)
    if len(lines) == 1:
        return [
            f'{indent}"""{lines[0]}"""'
            if not lines[0].endswith('"')
            else f'{indent}"""{lines[0]} """'
        ]
    return [
        f'{indent}"""{lines[0]}',
        *(indent + line for line in lines[1:-1]),
        f'{indent}{lines[-1]}"""',
    ]


def build_function(schema: dict[str, Any]) -> str:
    keys = schema["properties"].items()
    lines = ["def build(", "    *,"]
    lines += [
        wrapped(f"    {python_name(key)}: {type_of(value)} | None = None,") for key, value in keys
    ]
    lines += ["    folder: str | os.PathLike[str] | None = None,", ") -> Scenario:"]
    lines.append(
        '    """Builds a scenario. It is rendered as TOML and read like a file, with the same checks.'
    )
    lines += [
        "",
        "    ``folder`` is where traces are looked for; if not given, the present one.",
        "",
    ]
    for key, value in keys:
        told = textwrap.wrap(f"{python_name(key)}: {description(value)}", 88)
        lines += ["    " + told[0], *("        " + line for line in told[1:])]
    lines += ['    """', "    document: Mapping[str, object] = {"]
    lines += [f'        "{key}": {python_name(key)},' for key, _ in keys]
    lines += ["    }", "    return scenario_of(document, folder)"]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
