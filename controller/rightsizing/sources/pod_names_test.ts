import assert from "node:assert/strict";
import fc from "fast-check";
import { othersPods, podNamePattern } from "./pod_names.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const SAFE = "bcdfghjklmnpqrstvwxz2456789";
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

function text(alphabet: string, lengths: { minLength: number; maxLength: number }) {
  return fc.string({ unit: fc.constantFrom(...alphabet), ...lengths });
}

const random = text(SAFE, { minLength: 5, maxLength: 5 });
const hash = text(SAFE, { minLength: 1, maxLength: 10 });

function matches(workload: Parameters<typeof podNamePattern>[0], pod: string): boolean {
  return new RegExp(`^(?:${podNamePattern(workload)})$`).test(pod);
}

/** As the API server makes a name of `metadata.generateName`. */
function generated(base: string, end: string): string {
  return base.slice(0, 58) + end;
}

test("podNamePattern() is the rule of each kind", () => {
  const web = (kind: "Deployment" | "StatefulSet" | "DaemonSet") => ({ kind, name: "web" });
  const deployment = ["web-6d4cf56db6-x2b7z", "web-6-x2b7z"];
  const statefulSet = ["web-0", "web-17"];
  const daemonSet = ["web-x2b7z"];
  const nobody = [
    "web",
    "web-",
    "web-a1b2c",
    "web-6d4cf56db6-x2b7",
    "web-6d4cf56db6-x2b7ze",
    "web-6d4cf56db62-x2b7z",
    "web-b-6d4cf56db6-x2b7z",
    "webs-6d4cf56db6-x2b7z",
    "my-web-6d4cf56db6-x2b7z",
    "web-01",
    "web--1",
    "wxb-0",
  ];
  for (const pod of [...deployment, ...statefulSet, ...daemonSet, ...nobody]) {
    assert.equal(matches(web("Deployment"), pod), deployment.includes(pod), pod);
    assert.equal(matches(web("StatefulSet"), pod), statefulSet.includes(pod), pod);
    assert.equal(matches(web("DaemonSet"), pod), daemonSet.includes(pod), pod);
  }
});

test("podNamePattern() holds for all names that Kubernetes makes, however long, with dots", () => {
  const name = fc.oneof(
    text(`${LETTERS}-.`, { minLength: 1, maxLength: 63 }),
    text(LETTERS, { minLength: 44, maxLength: 63 }),
  ).filter((one) => /^[a-z0-9].*[a-z0-9]$|^[a-z0-9]$/.test(one));
  fc.assert(
    fc.property(name, hash, random, fc.nat(1000), (name, hash, random, ordinal) => {
      const deployed = generated(`${name}-${hash}-`, random);
      assert.ok(matches({ kind: "Deployment", name }, deployed), deployed);
      assert.ok(matches({ kind: "DaemonSet", name }, generated(`${name}-`, random)));
      assert.ok(matches({ kind: "StatefulSet", name }, `${name}-${ordinal}`));
      // A dot is no wildcard.
      const other = `${name.replaceAll(".", "x")}-${ordinal}`;
      assert.equal(matches({ kind: "StatefulSet", name }, other), !name.includes("."));
    }),
  );
});

test("othersPods() knows others' pods, and those of the same maker that are gone", () => {
  const isOthers = othersPods({
    pods: ["web-6d4cf56db6-x2b7z"],
    otherPods: ["web-bcd-x2b7z", "web-6d4cf56db6-bbbbb", "alone"],
  });
  assert.equal(isOthers("web-6d4cf56db6-x2b7z"), false);
  assert.equal(isOthers("web-6d4cf56db6-zzzzz"), false, "gone, of the same ReplicaSet");
  assert.equal(isOthers("web-55555-zzzzz"), false, "gone, of an older ReplicaSet");
  assert.equal(isOthers("web-6d4cf56db6-bbbbb"), true);
  assert.equal(isOthers("web-bcd-x2b7z"), true);
  assert.equal(isOthers("web-bcd-zzzzz"), true, "gone, of the DaemonSet web-bcd");
  assert.equal(isOthers("alone"), true);
});
