"""What a job took, by the file that Snakemake writes beside its log."""

from pathlib import Path


def seconds_of(benchmark: Path) -> float:
    """Seconds on the clock; of a job that was measured several times, all of them. ValueError if
    the file is garbled."""
    try:
        heading, *rows = benchmark.read_text("utf-8").splitlines()
        place = heading.split("\t").index("s")
        return sum([float(row.split("\t")[place]) for row in rows])
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"{benchmark}: expected what Snakemake measured of a job, with the column s, found "
            "something else. Remove the file: the time of that job is then left out."
        ) from error
