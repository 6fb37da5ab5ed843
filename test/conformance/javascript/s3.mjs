// Buckets and objects: checksums of both kinds, ranges, pages, presigned URLs.
import assert from "node:assert/strict";
import { Readable } from "node:stream";

import {
  CreateBucketCommand, DeleteBucketCommand, GetObjectCommand, HeadBucketCommand, NoSuchBucket, NoSuchKey, paginateListObjectsV2,
  PutObjectCommand, S3Client, waitUntilBucketExists, waitUntilBucketNotExists,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";

import { inPages } from "./iam.mjs";
import { keys, refused } from "./world.mjs";

const sent = [];
const client = new S3Client({ credentials: keys });
client.middlewareStack.add(
  (next) => (args) => {
    sent.push(args.request.headers);
    return next(args);
  },
  { step: "finalizeRequest", priority: "low", name: "recordHeaders" },
);

const bucket = "conformance";
const content = "every byte counts\n".repeat(20_000);

const put = (key, body, more = {}) => client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ...more }));

async function get(key, more = {}) {
  const answer = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key, ...more }));
  return { answer, text: await answer.Body.transformToString() };
}

export const checks = {
  "an object comes back as it was written": async () => {
    for (const key of ["plain", "dir/a b+é", "q?x=%41"]) {
      const written = await put(key, content, { Metadata: { team: "a" }, ContentType: "text/x-test" });
      assert.match(sent.at(-1)["x-amz-checksum-crc32"], /^[\w+/]{6}==$/, "the SDK sends a checksum by default");
      const { answer, text } = await get(key, { ChecksumMode: "ENABLED" });
      assert.equal(text, content);
      assert.equal(answer.ETag, written.ETag);
      assert.equal(answer.ChecksumCRC32, written.ChecksumCRC32);
      assert.equal(answer.ContentType, "text/x-test");
      assert.deepEqual(answer.Metadata, { team: "a" });
    }
  },

  "a stream is written with a checksum": async () => {
    await put("stream", Readable.from([Buffer.from(content)]), { ContentLength: content.length });
    const headers = sent.at(-1);
    assert.equal(headers["x-amz-content-sha256"], "STREAMING-UNSIGNED-PAYLOAD-TRAILER");
    assert.equal(headers["x-amz-trailer"], "x-amz-checksum-crc32");
    const { answer, text } = await get("stream", { ChecksumMode: "ENABLED" });
    assert.equal(text, content);
    assert.equal(answer.ContentEncoding, undefined, "aws-chunked is no encoding of the content");
    assert.ok(answer.ChecksumCRC32, "the trailer's checksum is kept");
  },

  "a range of an object is read": async () => {
    await put("range", "0123456789");
    const { answer, text } = await get("range", { Range: "bytes=2-4" });
    assert.equal(text, "234");
    assert.equal(answer.ContentRange, "bytes 2-4/10");
    await refused(get("range", { Range: "bytes=20-" }), "InvalidRange");
  },

  "objects come in pages": async () => {
    const pages = paginateListObjectsV2({ client, pageSize: 10 }, { Bucket: "pages" });
    const { found, count } = await inPages(pages, (page) => page.Contents);
    assert.equal(found.length, 25);
    assert.equal(count, 3);
    assert.equal(found[24].Key, "page 24");
  },

  "a presigned URL reads an object": async () => {
    await put("presigned", "read me");
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: "presigned" }), { expiresIn: 60 });
    const answer = await fetch(url);
    assert.equal(await answer.text(), "read me");
    assert.equal((await fetch(url.replace("/presigned?", "/range?"))).status, 403);
  },

  "a presigned URL writes an object": async () => {
    const url = await getSignedUrl(client, new PutObjectCommand({ Bucket: bucket, Key: "uploaded" }), { expiresIn: 60 });
    const answer = await fetch(url, { method: "PUT", body: "written by fetch" });
    assert.equal(answer.status, 200, await answer.text());
    assert.equal((await get("uploaded")).text, "written by fetch");
  },

  "a bucket is waited for": async () => {
    const waiter = { client, maxWaitTime: 60, minDelay: 1, maxDelay: 1 };
    const appearing = waitUntilBucketExists(waiter, { Bucket: "awaited" });
    await client.send(new CreateBucketCommand({ Bucket: "awaited" }));
    assert.equal((await appearing).state, "SUCCESS");
    assert.equal((await client.send(new HeadBucketCommand({ Bucket: "awaited" }))).BucketRegion, "us-east-1");
    const vanishing = waitUntilBucketNotExists(waiter, { Bucket: "awaited" });
    await client.send(new DeleteBucketCommand({ Bucket: "awaited" }));
    assert.equal((await vanishing).state, "SUCCESS");
  },

  "an object that is missing is NoSuchKey": async () => {
    await assert.rejects(get("none"), (error) => error instanceof NoSuchKey && error.$metadata.httpStatusCode === 404);
    await assert.rejects(
      client.send(new GetObjectCommand({ Bucket: "no-such-bucket", Key: "none" })),
      (error) => error instanceof NoSuchBucket || error.name === "NoSuchBucket",
    );
  },
};
