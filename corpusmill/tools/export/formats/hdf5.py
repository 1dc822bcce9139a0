"""HDF5 for Cerebras' GPT data processor: ids, mask and labels for each sample."""

from pathlib import Path

import numpy as np

from corpusmill.reader.segments import loss_mask, segments_of
from corpusmill.tools.export.declaration import Exported, Format
from corpusmill.tools.export.target import Target

FILE_BYTES = 1 << 26


def write(exported: Exported, target: Target) -> None:
    length = exported.length
    step = max(FILE_BYTES // (3 * 4 * length), 1)
    for split in exported.splits:
        for number, block in enumerate(split.samples(length, step, ahead=1)):
            name = f"{split.name}/data-{number:05}.h5"
            if target.wants(name, len(block) * length * split.dtype.itemsize):
                # In a packed row, the padding and the first token of a document are no targets.
                end = None if split.packed is None else exported.vocabulary.end_of_text
                mask = None if end is None else loss_mask(segments_of(block, end))
                with target.path(name) as path:
                    write_samples(block, mask, path)


def write_samples(block: np.ndarray, mask: np.ndarray | None, path: Path) -> None:
    """Write samples. block: (samples, length + 1); each row gives inputs and shifted labels. mask:
    (samples, length), which labels count; None: all."""
    import h5py  # only this format needs it

    samples, length = len(block), block.shape[1] - 1
    data = np.ones((samples, 3, length), "<i4")
    data[:, 0], data[:, 2] = block[:, :-1], block[:, 1:]
    if mask is not None:
        data[:, 1] = mask
    with h5py.File(path, "w") as file:
        file.attrs["n_examples"] = samples
        file.create_dataset(
            "data", data=data, chunks=(1, 3, length), compression="gzip", compression_opts=1,
            track_times=False,
        )  # fmt: skip


FORMAT = Format(
    read_by="Cerebras Model Zoo",
    layout="{split}/data-00000.h5: `data` int32 (samples, 3, length): ids, mask, labels",
    ids="int32, three arrays",
    files="copied, gzip",
    write=write,
    share=0.8,
    samples=True,
    ahead=1,
    needs="h5py",
)
