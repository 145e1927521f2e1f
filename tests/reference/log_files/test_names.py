from __future__ import annotations

import pytest

from kafka_reference.log_files.names import DELETED, LOG, file_name, offset_of_file


@pytest.mark.parametrize("offset", [0, 97, 2**63 - 1, -3])
def test_offset_of_file_name_round_trips(offset: int) -> None:
    assert offset_of_file(file_name(offset, LOG, DELETED)) == offset


def test_file_name_pads_offset_to_twenty_digits() -> None:
    assert file_name(97, LOG) == "00000000000000000097.log"


@pytest.mark.parametrize("name", ["leader-epoch-checkpoint", "97", "x.log", ""])
def test_file_name_that_is_no_log_segment_file_raises_value_error(name: str) -> None:
    with pytest.raises(ValueError, match="no file of a segment"):
        offset_of_file(name)
