import fc from "fast-check";
import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { othersPods, podNamePattern } from "./pod_names.ts";

const SAFE = "bcdfghjklmnpqrstvwxz2456789";
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

function text(alphabet: string, minLength: number, maxLength: number) {
  return fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });
}

function matches(workload: Parameters<typeof podNamePattern>[0], pod: string): boolean {
  return new RegExp(`^(?:${podNamePattern(workload)})$`).test(pod);
}

/** As the API server makes a name of `metadata.generateName`. */
function generated(base: string, end: string): string {
  return base.slice(0, 58) + end;
}

pure("podNamePattern() is the rule of each kind", () => {
  const rules = {
    Deployment: ["web-6d4cf56db6-x2b7z", "web-6-x2b7z"],
    StatefulSet: ["web-0", "web-17"],
    DaemonSet: ["web-x2b7z"],
  };
  const none = [
    ...["web", "web-", "web-a1b2c", "web-6d4cf56db6-x2b7", "web-6d4cf56db6-x2b7ze", "web-01"],
    ...["web-6d4cf56db62-x2b7z", "web-b-6d4cf56db6-x2b7z", "webs-6d4cf56db6-x2b7z", "web--1"],
    ...["my-web-6d4cf56db6-x2b7z", "wxb-0"],
  ];
  for (const pod of [...Object.values(rules).flat(), ...none]) {
    for (const kind of ["Deployment", "StatefulSet", "DaemonSet"] as const) {
      assert.equal(matches({ kind, name: "web" }, pod), rules[kind].includes(pod), pod);
    }
  }
});

pure("podNamePattern() holds for all names that Kubernetes makes, however long, with dots", () => {
  const name = fc.oneof(text(`${LETTERS}-.`, 1, 63), text(LETTERS, 44, 63))
    .filter((one) => /^[a-z0-9].*[a-z0-9]$|^[a-z0-9]$/.test(one));
  const [hash, random] = [text(SAFE, 1, 10), text(SAFE, 5, 5)];
  fc.assert(
    fc.property(name, hash, random, fc.nat(1000), (name, hash, random, ordinal) => {
      const deployed = generated(`${name}-${hash}-`, random);
      assert.ok(matches({ kind: "Deployment", name }, deployed), deployed);
      assert.ok(matches({ kind: "DaemonSet", name }, generated(`${name}-`, random)));
      assert.ok(matches({ kind: "StatefulSet", name }, `${name}-${ordinal}`));
      // A dot stands for itself.
      const other = `${name.replaceAll(".", "x")}-${ordinal}`;
      assert.equal(matches({ kind: "StatefulSet", name }, other), !name.includes("."));
    }),
  );
});

pure("othersPods() knows others' pods, and those of the same maker that are gone", () => {
  const isOthers = othersPods({
    pods: ["web-6d4cf56db6-x2b7z"],
    otherPods: ["web-bcd-x2b7z", "web-6d4cf56db6-bbbbb", "alone"],
  });
  const rows: readonly (readonly [string, boolean])[] = [
    ["web-6d4cf56db6-x2b7z", false],
    ["web-6d4cf56db6-zzzzz", false],
    ["web-55555-zzzzz", false],
    ["web-6d4cf56db6-bbbbb", true],
    ["web-bcd-x2b7z", true],
    ["web-bcd-zzzzz", true],
    ["alone", true],
  ];
  for (const [pod, expected] of rows) assert.equal(isOthers(pod), expected, pod);
});
