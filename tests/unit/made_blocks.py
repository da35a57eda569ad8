"""Folders of files and Dask arrays that hold given atoms."""

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fwbench.blocks import Blocks


def cut(n, parts=4):
    """Return where to cut n atoms into parts of unlike size, one of them empty."""
    inner = [n // 7, n // 7, n // 2][: parts - 1]
    return list(zip([0, *inner], [*inner, n], strict=True))


def parquet(path, atoms, group=50):
    table = pa.table({f"x.{k}": column for k, column in enumerate(atoms.T)})
    pq.write_table(table, path, row_group_size=group)


def folder(path, atoms, how="npy"):
    """Write atoms into a folder of files and return it as blocks."""
    path.mkdir(exist_ok=True)
    for i, (first, last) in enumerate(cut(len(atoms))):
        part = atoms[first:last]
        if how == "parquet" or (how == "both" and i % 2):
            parquet(path / f"part-{i + 8}.parquet", part)
        else:
            np.save(
                path / f"part-{i + 8}.npy", np.asfortranarray(part) if how == "columns" else part
            )
    return Blocks(path)


def chunked(atoms):
    """Return atoms as a Dask array of chunks of unlike size."""
    sizes = tuple(last - first for first, last in cut(len(atoms)) if last > first)
    return da.from_array(atoms, chunks=(sizes, atoms.shape[1]))


def held(path, atoms, source):
    """Return atoms in blocks, in one of the ways there are."""
    return chunked(atoms) if source == "dask" else folder(path / "blocks", atoms, source)
