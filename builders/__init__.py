"""Source parsing: one module a source, and the one table of them."""

from builders import (
    cwq,
    hotpotqa,
    mmlu,
    musique,
    nq,
    pararel,
    popqa,
    squad,
    triviaqa,
    twowiki,
    webquestions,
)
from builders.base import SourceBuilder

_MODULES = (nq, triviaqa, hotpotqa, twowiki, pararel, squad, webquestions, cwq, musique, popqa, mmlu)

BUILDERS: dict[str, SourceBuilder] = {module.BUILDER.key: module.BUILDER for module in _MODULES}
"""Source key -> builder: the command line's choices, the tests' parameters, the tables' rows."""
