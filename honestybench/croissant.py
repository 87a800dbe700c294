"""Describe a release in Croissant, the JSON-LD vocabulary that dataset searches read."""

import json

import pyarrow as pa

from honestybench.card import CITATION, PAPER_URL
from honestybench.release import Manifest, schema_of

CROISSANT_NAME = "croissant.json"

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileSet": "cr:fileSet",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "recordSet": "cr:recordSet",
    "source": "cr:source",
}


def croissant_json(manifest: Manifest) -> str:
    """Write the Croissant description as text."""
    return json.dumps(croissant(manifest), ensure_ascii=False, indent=2) + "\n"


def croissant(manifest: Manifest) -> dict[str, object]:
    """Describe the release in Croissant 1.1 (JSON-LD); paths are relative to the release folder."""
    content = manifest.content
    files: list[object] = [
        {
            "@type": "cr:FileObject",
            "@id": shard["path"],
            "name": shard["path"],
            "contentUrl": shard["path"],
            "contentSize": f"{shard['size_bytes']} B",
            "encodingFormat": "application/x-parquet",
            "sha256": shard["sha256"],
        }
        for shard in content["shards"]
    ]
    for config in manifest.configs:
        files.append(
            {
                "@type": "cr:FileSet",
                "@id": f"{config}-files",
                "name": f"{config}-files",
                "encodingFormat": "application/x-parquet",
                "includes": f"data/{config}/*.parquet",
            }
        )
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": "HonestyBench",
        "description": "Questions with gold answers, answers of large language models and verdicts on them.",
        "license": sorted({source["spdx"] for source in content["sources"].values()}),
        "url": PAPER_URL,
        "version": f"{content['schema_version']}.0.0+{manifest.release_id[:12]}",
        "citeAs": CITATION,
        "distribution": files,
        "recordSet": [_record_set(config) for config in manifest.configs],
    }


def _record_set(config: str) -> dict[str, object]:
    return {
        "@type": "cr:RecordSet",
        "@id": config,
        "name": config,
        "field": [_croissant_field(config, field) for field in schema_of(config)],
    }


def _croissant_field(config: str, field: pa.Field) -> dict[str, object]:
    nested = pa.types.is_nested(field.type)
    inner = field.type.value_type if nested else field.type
    kind = "sc:Text" if pa.types.is_string(inner) else "sc:Float" if pa.types.is_floating(inner) else "sc:Integer"
    length = field.type.list_size if pa.types.is_fixed_size_list(field.type) else -1
    return {
        "@type": "cr:Field",
        "@id": f"{config}/{field.name}",
        "name": field.name,
        "dataType": kind,
        **({"isArray": True, "arrayShape": str(length)} if nested else {}),
        "source": {"fileSet": {"@id": f"{config}-files"}, "extract": {"column": field.name}},
    }
