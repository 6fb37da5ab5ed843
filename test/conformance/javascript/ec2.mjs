// Instance types, which come in pages, and regions, which do not.
import assert from "node:assert/strict";

import { DescribeInstanceTypesCommand, DescribeRegionsCommand, EC2Client, paginateDescribeInstanceTypes } from "@aws-sdk/client-ec2";

import { inPages } from "./iam.mjs";
import { keys, refused } from "./world.mjs";

const client = new EC2Client({ credentials: keys });

export const checks = {
  "instance types come in pages": async () => {
    const { found, count } = await inPages(paginateDescribeInstanceTypes({ client, pageSize: 100 }, {}), (page) => page.InstanceTypes);
    assert.ok(found.length >= 600, `${found.length} instance types`);
    assert.equal(count, Math.ceil(found.length / 100));
    assert.equal(new Set(found.map((type) => type.InstanceType)).size, found.length, "no type comes twice");
    const large = found.find((type) => type.InstanceType === "p4d.24xlarge");
    assert.equal(large.VCpuInfo.DefaultVCpus, 96);
    assert.equal(large.MemoryInfo.SizeInMiB, 1179648);
    assert.equal(large.GpuInfo.Gpus[0].Count, 8);
    await refused(client.send(new DescribeInstanceTypesCommand({ InstanceTypes: ["m5.tiny"] })), "InvalidInstanceType", "[m5.tiny]");
  },

  "regions are listed": async () => {
    const { Regions: regions } = await client.send(new DescribeRegionsCommand({ RegionNames: ["eu-west-1"] }));
    assert.deepEqual(regions.map((region) => region.Endpoint), ["ec2.eu-west-1.amazonaws.com"]);
  },
};
