"""Buckets and objects: checksums, ranges, pages, presigned URLs, transfers."""

import io

import boto3
import botocore
from botocore.config import Config

from world import ENDPOINT, IS_TLS, KEYS, REGION, ask, client, equal, refused

BUCKET = "conformance"
CONTENT = b"every byte counts\n" * 20_000
# Since 1.36 botocore sends a checksum with what it writes, unless told not to.
SENDS_CHECKSUMS = tuple(int(part) for part in botocore.__version__.split(".")[:2]) >= (1, 36)

sent = []
s3 = client("s3")
s3.meta.events.register("before-send.s3.PutObject", lambda request, **_: sent.append(dict(request.headers)))


def read(key, **arguments):
    answer = s3.get_object(Bucket=BUCKET, Key=key, **arguments)
    return answer, answer["Body"].read()


def written_and_read():
    for key in ("plain", "dir/a b+é", "q?x=%41"):
        written = s3.put_object(Bucket=BUCKET, Key=key, Body=CONTENT, ContentType="text/x-test", Metadata={"team": "a"})
        answer, body = read(key, ChecksumMode="ENABLED")
        equal(body, CONTENT)
        equal(answer["ETag"], written["ETag"])
        equal(answer.get("ChecksumCRC32"), written.get("ChecksumCRC32"))
        equal(answer["ContentType"], "text/x-test")
        equal(answer["Metadata"], {"team": "a"})


def stream_with_checksum():
    """Over TLS the checksum follows the body; over plain HTTP the body's own
    hash is signed and the checksum goes ahead."""
    s3.put_object(Bucket=BUCKET, Key="stream", Body=io.BytesIO(CONTENT), ChecksumAlgorithm="CRC32")
    headers = {name.lower(): text(value) for name, value in sent[-1].items()}
    if IS_TLS:
        equal(headers["x-amz-content-sha256"], "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
        equal(headers["x-amz-trailer"], "x-amz-checksum-crc32")
    else:
        equal(len(headers["x-amz-content-sha256"]), 64)
        equal("x-amz-checksum-crc32" in headers, True)
    answer, body = read("stream", ChecksumMode="ENABLED")
    equal(body, CONTENT)
    equal("aws-chunked" in answer.get("ContentEncoding", ""), False)
    equal(len(answer["ChecksumCRC32"]), 8)
    if SENDS_CHECKSUMS:
        s3.put_object(Bucket=BUCKET, Key="stream", Body=CONTENT)
        equal("x-amz-trailer" in {name.lower() for name in sent[-1]}, IS_TLS)


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def range_of_an_object():
    s3.put_object(Bucket=BUCKET, Key="range", Body=b"0123456789")
    answer, body = read("range", Range="bytes=2-4")
    equal((body, answer["ContentRange"]), (b"234", "bytes 2-4/10"))
    with refused("InvalidRange"):
        read("range", Range="bytes=20-")


def objects_in_pages():
    pages = list(s3.get_paginator("list_objects_v2").paginate(Bucket="pages", PaginationConfig={"PageSize": 10}))
    found = [one["Key"] for page in pages for one in page["Contents"]]
    equal((found, len(pages)), ([f"page {i:02}" for i in range(25)], 3))


def presigner():
    """A client that signs URLs as S3 wants them in every region."""
    config = Config(signature_version="s3v4")
    return boto3.client("s3", region_name=REGION, endpoint_url=ENDPOINT, config=config, **KEYS)


def presigned_reading():
    s3.put_object(Bucket=BUCKET, Key="presigned", Body=b"read me")
    url = presigner().generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "presigned"}, ExpiresIn=60)
    equal(ask(url), (200, "read me"))
    equal(ask(url.replace("/presigned?", "/range?"))[0], 403)


def presigned_writing():
    url = presigner().generate_presigned_url("put_object", Params={"Bucket": BUCKET, "Key": "uploaded"}, ExpiresIn=60)
    equal(ask(url, "PUT", b"written without an SDK", {"Content-Type": ""})[0], 200)
    equal(read("uploaded")[1], b"written without an SDK")


def bucket_is_waited_for():
    quickly = {"Delay": 1, "MaxAttempts": 60}
    s3.create_bucket(Bucket="awaited")
    s3.get_waiter("bucket_exists").wait(Bucket="awaited", WaiterConfig=quickly)
    s3.put_object(Bucket="awaited", Key="a", Body=b"x")
    s3.get_waiter("object_exists").wait(Bucket="awaited", Key="a", WaiterConfig=quickly)
    s3.delete_object(Bucket="awaited", Key="a")
    s3.get_waiter("object_not_exists").wait(Bucket="awaited", Key="a", WaiterConfig=quickly)
    s3.delete_bucket(Bucket="awaited")
    s3.get_waiter("bucket_not_exists").wait(Bucket="awaited", WaiterConfig=quickly)


def missing_object():
    try:
        read("none")
    except s3.exceptions.NoSuchKey as error:
        equal(error.response["ResponseMetadata"]["HTTPStatusCode"], 404)
    else:
        raise AssertionError("an object that is missing was read")
    try:
        s3.list_objects_v2(Bucket="no-such-bucket")
    except s3.exceptions.NoSuchBucket:
        return
    raise AssertionError("a bucket that is missing was listed")


def transfer():
    """Below eight megabytes the transfer manager sends one piece."""
    s3.upload_fileobj(io.BytesIO(CONTENT), BUCKET, "transferred", ExtraArgs={"ContentType": "text/x-test"})
    target = io.BytesIO()
    s3.download_fileobj(BUCKET, "transferred", target)
    equal(target.getvalue(), CONTENT)


CHECKS = {
    "an object comes back as it was written": written_and_read,
    "a stream is written with a checksum": stream_with_checksum,
    "a range of an object is read": range_of_an_object,
    "objects come in pages": objects_in_pages,
    "a presigned URL reads an object": presigned_reading,
    "a presigned URL writes an object": presigned_writing,
    "a bucket is waited for": bucket_is_waited_for,
    "an object that is missing is NoSuchKey": missing_object,
    "a file is uploaded and downloaded": transfer,
}
