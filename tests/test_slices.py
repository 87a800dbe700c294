import pytest

from honestybench.records import FLAGS
from honestybench.slices import POPULARITY_EDGES, SLICES, UNCLEAN_FLAGS, slice_label, slice_rows

COLUMNS = {
    "id": ["a", "b", "c", "d"],
    "source": ["nq", "popqa", "popqa", "cwq"],
    "flags": [[], ["duplicate"], ["yes_no"], ["short_gold", "homonym"]],
    "hops": [None, None, None, 2],
    "relation": [None, "P36", "P19", None],
    "popularity": [None, 99, 123456, None],
    "answer_type": [None, None, None, None],
}


def test_slices_by_hand() -> None:
    assert slice_rows(COLUMNS) == {
        "all": [0, 1, 2, 3],
        "clean": [0, 2],
        "source:cwq": [3],
        "source:nq": [0],
        "source:popqa": [1, 2],
        "hops:2": [3],
        "relation:P19": [2],
        "relation:P36": [1],
        "popularity:0-99": [1],
        "popularity:100000+": [2],
    }


@pytest.mark.parametrize(
    ("views", "band"),
    [
        (0, "0-99"),
        (100, "100-999"),
        (999, "100-999"),
        (1000, "1000-9999"),
        (10**5 - 1, "10000-99999"),
        (10**5, "100000+"),
    ],
)
def test_bands_of_popularity(views: int, band: str) -> None:
    assert list(slice_rows({"popularity": [views]})) == [f"popularity:{band}"]


def test_members_are_ordered_by_number() -> None:
    assert list(slice_rows({"hops": [10, 2, 4]})) == ["hops:2", "hops:4", "hops:10"]
    bands = list(slice_rows({"popularity": [0, *POPULARITY_EDGES][::-1]}))
    assert [band.split(":")[1] for band in bands] == ["0-99", "100-999", "1000-9999", "10000-99999", "100000+"]


def test_a_missing_column_has_no_slices() -> None:
    assert slice_rows({"id": ["a"], "source": ["mine"]}) == {"all": [0], "source:mine": [0]}


def test_labels_are_for_people() -> None:
    assert slice_label("all") == "All"
    assert slice_label("answer_type:FreeForm") == "Answer type: FreeForm"


def test_clean_is_told_in_flags_that_exist() -> None:
    assert FLAGS.keys() >= UNCLEAN_FLAGS
    assert list(SLICES)[:2] == ["all", "clean"]
