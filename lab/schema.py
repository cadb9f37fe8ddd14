"""The JSON Schemas of the files that users write. `experiments/schema/` holds them for editors."""

import json
from collections.abc import Mapping

from lab.claims.spec import ClaimsFile
from lab.shape import Shape
from lab.spec import ExperimentFile
from lab.topology import Topology

SCHEMAS: Mapping[str, type[Shape]] = {"experiment": ExperimentFile, "topology": Topology, "claims": ClaimsFile}


def schema_text(name: str) -> str:
    """Return the text of `experiments/schema/<name>.schema.json`."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **SCHEMAS[name].model_json_schema()}
    return json.dumps(schema, indent=2) + "\n"
