"""Sends files to an object store and reads them back with another client and its defaults.

    python object_stores.py --client boto3|obstore --endpoint URL --files DIR --streams N

The last line is JSON with the seconds of both directions and the SHA-256 of what came back.
"""

import argparse
import hashlib
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.measuring import memory_mb

PART_BYTES = 16 << 20


def with_boto3(endpoint: str, streams: int):
    import boto3
    from boto3.s3.transfer import TransferConfig
    from botocore.config import Config

    client = boto3.client(
        "s3", endpoint_url=endpoint, aws_access_key_id="test", aws_secret_access_key="test",
        region_name="us-east-1", config=Config(max_pool_connections=2 * streams),
    )  # fmt: skip
    transfer = TransferConfig(PART_BYTES, streams, PART_BYTES)
    more = {"ChecksumAlgorithm": "SHA256"}
    return (
        lambda path: client.upload_file(str(path), "mill", path.name, more, Config=transfer),
        lambda name: client.get_object(Bucket="mill", Key=name)["Body"].iter_chunks(1 << 20),
    )


def with_obstore(endpoint: str, streams: int):
    import obstore
    from obstore.store import S3Store

    store = S3Store(
        "mill", endpoint=endpoint, access_key_id="test", secret_access_key="test",
        region="us-east-1", allow_http=True, virtual_hosted_style_request=False,
        checksum_algorithm="SHA256",
    )  # fmt: skip
    return (
        lambda path: obstore.put(
            store, path.name, path, chunk_size=PART_BYTES, max_concurrency=streams
        ),
        lambda name: obstore.get(store, name).stream(min_chunk_size=1 << 20),
    )


def read(blocks) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--client", choices=["boto3", "obstore"], required=True)
    arguments.add_argument("--endpoint", required=True)
    arguments.add_argument("--files", type=Path, required=True)
    arguments.add_argument("--streams", type=int, required=True)
    given = arguments.parse_args()
    make = {"boto3": with_boto3, "obstore": with_obstore}[given.client]
    put, get = make(given.endpoint, given.streams)
    files = sorted(given.files.iterdir())
    with ThreadPoolExecutor(given.streams) as pool:
        began, busy = time.perf_counter(), time.process_time()
        list(pool.map(put, files))
        sent, worked = time.perf_counter() - began, time.process_time() - busy
        began = time.perf_counter()
        digests = list(pool.map(lambda path: read(get(path.name)), files))
        back = time.perf_counter() - began
    told = {"sent": sent, "sent_cpu": worked, "back": back, "digests": digests,
            "memory": memory_mb("VmHWM")}  # fmt: skip
    print(json.dumps(told))


if __name__ == "__main__":
    main()
