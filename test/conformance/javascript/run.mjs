// Runs every check against the local AWS that the environment names, and prints
// one line of JSON for each: {"name", "ok", "detail"}. The first line names the
// client. The exit code is 0 even where checks fail: the lines tell.
import { readFileSync } from "node:fs";

import * as chain from "./chain.mjs";
import * as ec2 from "./ec2.mjs";
import * as eks from "./eks.mjs";
import * as iam from "./iam.mjs";
import * as s3 from "./s3.mjs";
import * as sts from "./sts.mjs";

const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");

const sdk = JSON.parse(readFileSync(new URL("./node_modules/@aws-sdk/client-sts/package.json", import.meta.url)));
print({ client: `AWS SDK for JavaScript ${sdk.version}, Node.js ${process.version}` });

for (const group of [sts, chain, iam, s3, eks, ec2]) {
  for (const [name, check] of Object.entries(group.checks)) {
    try {
      await check();
      print({ name, ok: true, detail: "" });
    } catch (error) {
      print({ name, ok: false, detail: error.stack ?? String(error) });
    }
  }
}
