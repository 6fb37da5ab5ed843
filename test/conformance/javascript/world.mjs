// What the checks know of the world that the Go test has made, and how they
// change it: the server's clock.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const env = process.env;

export const endpoint = env.AWS_ENDPOINT_URL;
export const region = env.AWS_REGION;
export const account = env.CONFORMANCE_ACCOUNT;
export const folder = env.CONFORMANCE_FOLDER;
export const tokenFile = env.CONFORMANCE_TOKEN_FILE;
export const agent = { uri: env.CONFORMANCE_AGENT, tokenFile: env.CONFORMANCE_AGENT_TOKEN_FILE };
export const token = readFileSync(tokenFile, "utf8");
export const keys = { accessKeyId: env.AWS_ACCESS_KEY_ID, secretAccessKey: env.AWS_SECRET_ACCESS_KEY };

export const isTLS = endpoint.startsWith("https:");
export const role = (name) => `arn:aws:iam::${account}:role/${name}`;
export const session = (role, name) => `arn:aws:sts::${account}:assumed-role/${role}/${name}`;
export const administrator = `arn:aws:iam::${account}:user/administrator`;

/** moved does something while the server's clock is some minutes off. */
export async function moved(minutes, action) {
  await advance(minutes);
  try {
    return await action();
  } finally {
    await advance(-minutes);
  }
}

async function advance(minutes) {
  const answer = await fetch(`${endpoint}/_awslocal/clock`, {
    method: "POST",
    body: JSON.stringify({ advance: `${minutes}m` }),
  });
  assert.equal(answer.status, 200, await answer.text());
}

/** refused demands that a call fails with an error of AWS. */
export async function refused(call, code, text = "") {
  await assert.rejects(call, (error) => {
    const got = `${error.name}: ${error.message}`;
    assert.ok(error.name === code && error.message.includes(text), `refused with ${got}, want ${code}: ${text}`);
    return true;
  });
}

/** withEnvironment does something under other variables; undefined takes one away. */
export async function withEnvironment(variables, action) {
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, env[name]]));
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) {
        delete env[name];
      } else {
        env[name] = value;
      }
    }
  };
  set(variables);
  try {
    return await action();
  } finally {
    set(before);
  }
}

/** tampered is a text with one character in its middle replaced. */
export function tampered(text) {
  const middle = Math.floor(text.length / 2);
  return text.slice(0, middle) + (text[middle] === "A" ? "B" : "A") + text.slice(middle + 1);
}
