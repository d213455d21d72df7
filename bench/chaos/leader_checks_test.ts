import assert from "node:assert/strict";
import { parseAudit, type ResizeAnswer } from "../audit_log.ts";
import { otherWriters } from "./leader_checks.ts";

const test = (name: string, fn: () => void): void => Deno.test({ name, permissions: "none", fn });

const TERMS = [{ pod: "c-1", sinceMs: 1000 }, { pod: "c-2", sinceMs: 20_000 }];

function answer(writer: string, atMs: number, code = 200): ResizeAnswer {
  const event = {
    requestReceivedTimestamp: new Date(atMs).toISOString(),
    user: { username: "sa", extra: { "authentication.kubernetes.io/pod-name": [writer] } },
    objectRef: { namespace: "shop", name: "web" },
    responseStatus: { code },
  };
  const [parsed] = parseAudit(`${JSON.stringify(event)}\n`);
  assert.ok(parsed !== undefined);
  return parsed;
}

test("otherWriters() finds whoever resized while another pod held the Lease", () => {
  const late = answer("c-1", 21_000);
  const found = otherWriters([answer("c-1", 15_000), late, answer("c-2", 21_000)], TERMS);
  assert.deepEqual(found.map(({ promise }) => promise), ["OneLeader"]);
  assert.match(found[0]?.message ?? "", /c-1 resized shop\/web .* while c-2 leads/);
  assert.equal(otherWriters([answer("c-2", 15_000)], TERMS).length, 1, "too early");
});

test("otherWriters() passes refusals, a request under way at the change, and other users", () => {
  const answers = [answer("c-1", 21_000, 409), answer("c-1", 20_400), answer("", 21_000)];
  assert.deepEqual(otherWriters(answers, TERMS), []);
});
