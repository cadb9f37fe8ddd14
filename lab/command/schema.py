"""The JSON Schemas of the files that users write. `experiments/schema/` holds them for editors."""

import json
from collections.abc import Mapping

from lab.analysis.claims.spec import ClaimsFile
from lab.spec.experiment import ExperimentFile
from lab.spec.model import Shape
from lab.target.mesh.topology import Topology

SCHEMAS: Mapping[str, type[Shape]] = {"experiment": ExperimentFile, "topology": Topology, "claims": ClaimsFile}


def schema_text(name: str) -> str:
    """Return the text of `experiments/schema/<name>.schema.json`."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **SCHEMAS[name].model_json_schema()}
    return json.dumps(schema, indent=2) + "\n"
