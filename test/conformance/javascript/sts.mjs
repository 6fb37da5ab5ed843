// Who signs, and what STS gives and refuses.
import assert from "node:assert/strict";

import { AssumeRoleCommand, AssumeRoleWithWebIdentityCommand, GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { fromTemporaryCredentials, fromTokenFile, fromWebToken } from "@aws-sdk/credential-providers";

import { account, administrator, keys, moved, refused, role, session, tampered, token, tokenFile } from "./world.mjs";

/** caller is the ARN of whoever has these credentials. */
export async function caller(credentials, options = {}) {
  const client = new STSClient({ credentials, maxAttempts: 1, ...options });
  const answer = await client.send(new GetCallerIdentityCommand({}));
  assert.equal(answer.Account, account);
  return answer.Arn;
}

/** assume returns the credentials of a session of the role "operator". */
export async function assume(options = {}) {
  const client = new STSClient({ credentials: keys, ...options });
  const answer = await client.send(new AssumeRoleCommand({ RoleArn: role("operator"), RoleSessionName: "js", DurationSeconds: 900 }));
  assert.equal(answer.AssumedRoleUser.Arn, session("operator", "js"));
  assert.ok(answer.Credentials.Expiration instanceof Date, "the expiration is a date");
  const { AccessKeyId, SecretAccessKey, SessionToken } = answer.Credentials;
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
}

const exchange = (webToken) =>
  new STSClient({ credentials: keys, maxAttempts: 1 }).send(
    new AssumeRoleWithWebIdentityCommand({ RoleArn: role("pod"), RoleSessionName: "js", WebIdentityToken: webToken }),
  );

export const checks = {
  "the caller is the key's user": async () => assert.equal(await caller(keys), administrator),
  "a wrong secret is refused": () => refused(caller({ ...keys, secretAccessKey: "wrong" }), "SignatureDoesNotMatch"),
  "an unknown key is refused": () => refused(caller({ ...keys, accessKeyId: "AKIAAAAAAAAAAAAAAAAA" }), "InvalidClientTokenId"),

  "a role is assumed": async () => {
    assert.equal(await caller(await assume()), session("operator", "js"));
    const provider = fromTemporaryCredentials({
      masterCredentials: keys,
      params: { RoleArn: role("operator"), RoleSessionName: "provider" },
    });
    assert.equal(await caller(provider), session("operator", "provider"));
  },

  "a web identity token becomes a session": async () => {
    const answer = await exchange(token);
    assert.equal(answer.SubjectFromWebIdentityToken, "system:serviceaccount:team-a:app");
    assert.equal(answer.Audience, "sts.amazonaws.com");
    const options = { roleArn: role("pod"), roleSessionName: "js" };
    assert.equal(await caller(fromWebToken({ ...options, webIdentityToken: token })), session("pod", "js"));
    assert.equal(await caller(fromTokenFile({ ...options, webIdentityTokenFile: tokenFile })), session("pod", "js"));
  },

  // The middle of the whole token is in its claims, that of the part after the last dot in its signature.
  "a tampered web identity token is refused": async () => {
    const signature = token.lastIndexOf(".") + 1;
    await refused(exchange(tampered(token)), "InvalidIdentityTokenException");
    await refused(exchange(token.slice(0, signature) + tampered(token.slice(signature))), "InvalidIdentityTokenException");
  },

  // The session starts ten minutes ago and ends five minutes from now; ten
  // minutes on it has ended, and no signature is older than what is allowed.
  "a session that has expired is refused": async () => {
    const credentials = await moved(-10, () => assume());
    assert.equal(await caller(credentials), session("operator", "js"));
    await moved(10, () => refused(caller(credentials), "ExpiredToken", "The security token included in the request is expired"));
  },

  "a tampered session token is refused": async () => {
    const credentials = await assume();
    await refused(caller({ ...credentials, sessionToken: tampered(credentials.sessionToken) }), "InvalidClientTokenId");
    await refused(caller({ ...credentials, sessionToken: undefined }), "InvalidClientTokenId");
  },

  "a wrong clock is set right": () =>
    moved(40, async () => {
      await refused(caller(keys), "SignatureDoesNotMatch", "Signature expired");
      assert.equal(await caller(keys, { maxAttempts: 2 }), administrator);
    }),
};
