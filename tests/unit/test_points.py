"""Arrays beside the journal: the bytes are those of an archive that `zipfile` writes."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from fwbench import points

ARRAYS: dict[str, dict[str, Any]] = {
    "one": {"points": np.eye(3)},
    "empty": {"keys": np.zeros(0, dtype=np.int64), "path": np.zeros((0, 1, 2))},
    "unlike": {
        "data": np.linspace(0, 1, 7, dtype=np.float32),
        "atoms": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        "indptr": np.array([0, 7]),
        "number": np.array(0.1),
    },
}


@pytest.mark.parametrize("arrays", ARRAYS.values(), ids=ARRAYS)
def test_short_and_long_archives_have_the_same_bytes(
    arrays: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = points.packed(arrays)
    monkeypatch.setattr(points, "LONG", 0)
    assert quick == points.packed(arrays)


@pytest.mark.parametrize("arrays", ARRAYS.values(), ids=ARRAYS)
def test_numpy_reads_what_was_packed(arrays: dict[str, Any]) -> None:
    with np.load(io.BytesIO(points.packed(arrays))) as file:
        assert set(file.files) == set(arrays)
        for name, array in arrays.items():
            assert file[name].dtype == array.dtype
            np.testing.assert_array_equal(file[name], array)


def test_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="path holds objects"):
        points.packed({"path": np.array([None])})
