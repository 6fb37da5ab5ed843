// Where the SDK finds credentials when a program names none.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { fromHttp } from "@aws-sdk/credential-providers";

import { administrator, agent, folder, keys, moved, role, session, tokenFile, withEnvironment } from "./world.mjs";

const noKeys = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };

/** asked is a client that found its credentials by itself, and who it is. */
async function asked(variables) {
  return withEnvironment(variables, async () => {
    const client = new STSClient({});
    const answer = await client.send(new GetCallerIdentityCommand({}));
    return { client, arn: answer.Arn };
  });
}

const tokenVariables = {
  ...noKeys,
  AWS_ROLE_ARN: role("pod"),
  AWS_ROLE_SESSION_NAME: "chain",
  AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
};

export const checks = {
  "the default chain takes keys from the environment": async () => assert.equal((await asked({})).arn, administrator),

  "the default chain takes a token file": async () => assert.equal((await asked(tokenVariables)).arn, session("pod", "chain")),

  "the default chain follows source_profile": async () => {
    const file = join(folder, "profiles");
    writeFileSync(file, [
      "[profile base]", `aws_access_key_id = ${keys.accessKeyId}`, `aws_secret_access_key = ${keys.secretAccessKey}`,
      "[profile operator]", `role_arn = ${role("operator")}`, "role_session_name = profile", "source_profile = base", "",
    ].join("\n"));
    const { arn } = await asked({ ...noKeys, AWS_CONFIG_FILE: file, AWS_PROFILE: "operator" });
    assert.equal(arn, session("operator", "profile"));
  },

  "the default chain asks the container endpoint": async () => {
    const { arn } = await asked({
      ...noKeys,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: agent.uri,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: agent.tokenFile,
    });
    assert.ok(arn.startsWith(session("agent", "eks-cluster-a-app-7d9f-")), arn);
    const provider = fromHttp({ awsContainerCredentialsFullUri: agent.uri, awsContainerAuthorizationTokenFile: agent.tokenFile });
    const given = await provider();
    assert.ok(given.expiration > new Date(), "the credentials last");
  },

  // The exchange is not signed, so the server may be far behind: the session
  // that it gives has ended already by the clock of the SDK.
  "credentials that end are renewed": () =>
    withEnvironment(tokenVariables, async () => {
      const client = new STSClient({});
      const old = await moved(-61, () => client.config.credentials());
      assert.ok(old.expiration < new Date(), "the first session has ended");
      assert.equal((await client.send(new GetCallerIdentityCommand({}))).Arn, session("pod", "chain"));
      const renewed = await client.config.credentials();
      assert.notEqual(renewed.accessKeyId, old.accessKeyId);
      assert.ok(renewed.expiration > new Date(), "the second session lasts");
    }),
};
