"""The JSON Schemas of the files that users write. `experiments/schema/` holds them for editors."""

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

from lab.analysis.claims.spec import ClaimsFile
from lab.analysis.lab import Lab
from lab.errors import UserError


def schemas(lab: Lab) -> Mapping[str, Mapping[str, Any]]:
    """Return every schema by the name of its file, `<name>.schema.json`."""
    of_targets = {
        name: model.model_json_schema()
        for target in lab.targets.values()
        for name, model in target.declaration.files.items()
    }
    return {"experiment": lab.grammar.schema(), "claims": ClaimsFile.model_json_schema(), **of_targets}


def print_schema(lab: Lab, kind: str) -> None:
    """Prints the JSON Schema of a kind of file."""
    known = schemas(lab)
    if kind not in known:
        raise UserError(f"there is no schema called {kind}", f"choose one of: {', '.join(known)}")
    sys.stdout.write(schema_text(known[kind]))


def schema_text(schema: Mapping[str, Any]) -> str:
    """Return the text of a schema's file: small, as only programs read it, with a line for each definition."""
    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, separators=(",", ":"))
    # Titles repeat the names. Of all names, only those of definitions begin with a capital letter.
    return re.sub(r'"[A-Z]\w*":{', r"\n\g<0>", re.sub(r',"title":"[^"]*"|"title":"[^"]*",', "", text)) + "\n"
