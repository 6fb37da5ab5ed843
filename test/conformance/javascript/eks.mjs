// A cluster, and the associations of its pods with roles.
import assert from "node:assert/strict";

import {
  DescribeClusterCommand, EKSClient, paginateListPodIdentityAssociations, ResourceNotFoundException, waitUntilClusterActive,
} from "@aws-sdk/client-eks";

import { inPages } from "./iam.mjs";
import { account, keys, region } from "./world.mjs";

const client = new EKSClient({ credentials: keys });

export const checks = {
  "a cluster is waited for and described": async () => {
    const { state } = await waitUntilClusterActive({ client, maxWaitTime: 60 }, { name: "cluster-a" });
    assert.equal(state, "SUCCESS");
    const { cluster } = await client.send(new DescribeClusterCommand({ name: "cluster-a" }));
    assert.equal(cluster.arn, `arn:aws:eks:${region}:${account}:cluster/cluster-a`);
    assert.ok(cluster.createdAt instanceof Date, "the creation date is a date");
  },

  "a cluster that is missing is ResourceNotFound": () =>
    assert.rejects(client.send(new DescribeClusterCommand({ name: "none" })), (error) => {
      assert.ok(error instanceof ResourceNotFoundException, `the error is ${error.name}`);
      assert.equal(error.message, "No cluster found for name: none.");
      return true;
    }),

  "pod identity associations are listed": async () => {
    const { found } = await inPages(paginateListPodIdentityAssociations({ client }, { clusterName: "cluster-a" }), (page) => page.associations);
    assert.deepEqual(found.map((one) => `${one.namespace}/${one.serviceAccount}`), ["team-a/app"]);
  },
};
