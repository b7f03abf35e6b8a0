"""Holds dashboards against Grafana's schema, as its foundation SDK has it: each name known, each value of its type.

grafana_schema.py DASHBOARD...    ends with 1 and the places when one of them is not what Grafana understands
"""

import enum
import json
import pathlib
import sys
import types
import typing

from grafana_foundation_sdk.cog import encoder, plugins
from grafana_foundation_sdk.models import dashboard


def fits(value, wanted):
    """Whether a value is of the type an annotation names."""
    origin, parts = typing.get_origin(wanted), typing.get_args(wanted)
    if wanted in (typing.Any, object) or isinstance(wanted, (typing.ForwardRef, str)):
        return True
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is typing.Literal:
        return value in parts
    if origin is list:
        return isinstance(value, list) and all(fits(item, parts[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits(item, parts[1]) for item in value.values())
    if isinstance(wanted, enum.EnumType):
        return any(value == member.value for member in wanted)
    if wanted in (int, float):
        return isinstance(value, (int, wanted)) and not isinstance(value, bool)
    return isinstance(value, wanted)


def wrong_types(model, path):
    """Yields the places at which a model holds what its class does not allow."""
    if isinstance(model, list):
        for i, item in enumerate(model):
            yield from wrong_types(item, f"{path}/{i}")
    if not hasattr(type(model), "__annotations__") or isinstance(model, enum.Enum):
        return
    for name, wanted in typing.get_type_hints(type(model)).items():
        value = getattr(model, name, None)
        if value is not None and not fits(value, wanted):
            yield f"{path}/{name}: {value!r:.60} is no {wanted}"
        else:
            yield from wrong_types(value, f"{path}/{name}")


def lost(given, understood, path):
    """Yields the places of what is given and not understood."""
    if isinstance(given, dict) and isinstance(understood, dict):
        for key, value in given.items():
            if key in understood:
                yield from lost(value, understood[key], f"{path}/{key}")
            else:
                yield f"{path}/{key}: Grafana knows no such field"
    elif isinstance(given, list) and isinstance(understood, list) and len(given) == len(understood):
        for i, (one, other) in enumerate(zip(given, understood, strict=True)):
            yield from lost(one, other, f"{path}/{i}")
    elif given != understood:
        yield f"{path}: {given!r:.60} is understood as {understood!r:.60}"


def problems(content):
    """What is wrong with a dashboard."""
    try:
        model = dashboard.Dashboard.from_json(content)
    except (TypeError, ValueError, KeyError, AttributeError) as e:
        return [f"not readable: {e}"]
    understood = json.loads(json.dumps(model, cls=encoder.JSONEncoder))
    return [*wrong_types(model, ""), *lost(content, understood, "")]


def main(paths):
    if not paths:
        raise SystemExit(__doc__)
    plugins.register_default_plugins()
    found = [f"{path}{problem}" for path in paths for problem in problems(json.loads(pathlib.Path(path).read_text()))]
    if found:
        raise SystemExit("\n".join(found))


if __name__ == "__main__":
    main(sys.argv[1:])
