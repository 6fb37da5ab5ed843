// Roles and policies, lists in pages, waiters, and refusals by class.
import assert from "node:assert/strict";

import {
  CreateRoleCommand, DeleteRoleCommand, GetRoleCommand, IAMClient, NoSuchEntityException, paginateListPolicies, paginateListRoles,
  waitUntilRoleExists,
} from "@aws-sdk/client-iam";

import { assume } from "./sts.mjs";
import { administrator, keys, refused, role, session } from "./world.mjs";

const client = new IAMClient({ credentials: keys });

const trust = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { AWS: administrator }, Action: "sts:AssumeRole" }],
});

/** inPages takes all pages of a list. */
export async function inPages(pages, items) {
  const found = [];
  let count = 0;
  for await (const page of pages) {
    found.push(...(items(page) ?? []));
    count++;
  }
  return { found, count };
}

export const checks = {
  "a role is written and read": async () => {
    const made = await client.send(new CreateRoleCommand({
      RoleName: "written", Path: "/js/", AssumeRolePolicyDocument: trust, Description: "für alle & <jeden>", MaxSessionDuration: 7200,
      Tags: [{ Key: "team", Value: "a b+c" }],
    }));
    assert.equal(made.Role.Arn, role("js/written"));
    const { Role: read } = await client.send(new GetRoleCommand({ RoleName: "written" }));
    assert.equal(decodeURIComponent(read.AssumeRolePolicyDocument), trust);
    assert.equal(read.Description, "für alle & <jeden>");
    assert.equal(read.MaxSessionDuration, 7200);
    assert.deepEqual(read.Tags, [{ Key: "team", Value: "a b+c" }]);
    assert.ok(read.CreateDate instanceof Date, "the creation date is a date");
    await client.send(new DeleteRoleCommand({ RoleName: "written" }));
    await refused(client.send(new GetRoleCommand({ RoleName: "written" })), "NoSuchEntityException");
  },

  "roles come in pages": async () => {
    const pages = paginateListRoles({ client, pageSize: 10 }, { PathPrefix: "/pages/" });
    const { found, count } = await inPages(pages, (page) => page.Roles);
    assert.equal(found.length, 25);
    assert.equal(count, 3);
    assert.equal(found[24].RoleName, "page-24");
  },

  "policies come in pages": async () => {
    const pages = paginateListPolicies({ client, pageSize: 10 }, { Scope: "Local", PathPrefix: "/pages/" });
    const { found, count } = await inPages(pages, (page) => page.Policies);
    assert.equal(found.length, 25);
    assert.equal(count, 3);
  },

  "a role is waited for": async () => {
    const waiting = waitUntilRoleExists({ client, maxWaitTime: 60, minDelay: 1, maxDelay: 1 }, { RoleName: "awaited" });
    await refused(client.send(new GetRoleCommand({ RoleName: "awaited" })), "NoSuchEntityException");
    await client.send(new CreateRoleCommand({ RoleName: "awaited", AssumeRolePolicyDocument: trust }));
    assert.equal((await waiting).state, "SUCCESS");
  },

  "a role that is missing is NoSuchEntity": () =>
    assert.rejects(client.send(new GetRoleCommand({ RoleName: "none" })), (error) => {
      assert.ok(error instanceof NoSuchEntityException, `the error is ${error.name}`);
      assert.equal(error.message, "The role with name none cannot be found.");
      assert.equal(error.$metadata.httpStatusCode, 404);
      return true;
    }),

  "a call without permission is AccessDenied": async () => {
    const operator = new IAMClient({ credentials: await assume() });
    await refused(
      operator.send(new GetRoleCommand({ RoleName: "pod" })),
      "AccessDenied",
      `User: ${session("operator", "js")} is not authorized to perform: iam:GetRole on resource: ${role("pod")} because no identity-based policy allows the iam:GetRole action`,
    );
  },
};
