"""The JSON Schemas of the files that users write. `experiments/schema/` holds them for editors."""

import json
from collections.abc import Mapping
from typing import Any

from lab.analysis.claims.spec import ClaimsFile
from lab.analysis.lab import Lab


def schemas(lab: Lab) -> Mapping[str, Mapping[str, Any]]:
    """Return every schema by the name of its file, `<name>.schema.json`."""
    of_targets = {
        name: model.model_json_schema()
        for target in lab.targets.values()
        for name, model in target.declaration.files.items()
    }
    return {"experiment": lab.grammar.schema(), "claims": ClaimsFile.model_json_schema(), **of_targets}


def schema_text(schema: Mapping[str, Any]) -> str:
    """Return the text of a schema's file."""
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"
