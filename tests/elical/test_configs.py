"""The launch configurations of the docs, as accelerate reads them."""

from pathlib import Path

from accelerate.commands.config.config_args import load_config_from_file


def test_the_gpu_configuration_is_one_that_accelerate_knows(checkout: Path) -> None:
    found = load_config_from_file(str(checkout / "docs" / "accelerate" / "gpus.yaml"))
    assert (found.distributed_type.value, found.num_processes, found.mixed_precision) == ("MULTI_GPU", 8, "no")
