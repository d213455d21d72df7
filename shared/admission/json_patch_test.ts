import assert from "node:assert/strict";
import fc from "fast-check";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { applyJSONPatch, type JSONPatchOperation, pointerPart } from "./json_patch.ts";

const POD = { spec: { nodeSelector: { disk: "ssd" }, containers: [{ name: "a" }, { name: "b" }] } };

function apply(...patch: readonly JSONPatchOperation[]): unknown {
  return applyJSONPatch(POD, patch);
}

pure("applyJSONPatch() adds, replaces and removes members, and leaves what it was given", () => {
  const before = structuredClone(POD);
  const after = apply(
    { op: "add", path: "/spec/tolerations", value: [] },
    { op: "replace", path: "/spec/nodeSelector/disk", value: "hdd" },
    { op: "add", path: `/spec/nodeSelector/${pointerPart("a/b~c")}`, value: "1" },
    { op: "remove", path: "/spec/containers/0" },
    { op: "add", path: "/spec/containers/0/image", value: "busybox" },
  );
  const containers = [{ name: "b", image: "busybox" }];
  const nodeSelector = { disk: "hdd", "a/b~c": "1" };
  assert.deepEqual(after, { spec: { nodeSelector, containers, tolerations: [] } });
  assert.deepEqual(POD, before);
});

pure("applyJSONPatch() adds to a list before a place and behind its end", () => {
  const path = "/spec/containers";
  const after = apply(
    { op: "add", path: `${path}/0`, value: 0 },
    { op: "add", path: `${path}/3`, value: 3 },
    { op: "add", path: `${path}/-`, value: 4 },
    { op: "replace", path: `${path}/1`, value: 1 },
  );
  assert.deepEqual(after, { spec: { ...POD.spec, containers: [0, 1, { name: "b" }, 3, 4] } });
});

pure("applyJSONPatch() names the step that can't be made", () => {
  const rows: readonly (readonly [JSONPatchOperation["op"], string, RegExp])[] = [
    ["remove", "/spec/none", /^RangeError: Cannot .*"\/spec\/none": "none" is not/],
    ["replace", "/spec/none", /"none" is not there/],
    ["add", "/metadata/labels", /"metadata" is not there/],
    ["add", "/spec/containers/3", /"3" is not a place/],
    ["replace", "/spec/containers/2", /"2" is not a place/],
    ["replace", "/spec/containers/-", /"-" is not a place/],
    ["add", "/spec/containers/01", /"01" is not a place/],
    ["add", "/spec/nodeSelector/disk/x", /nothing to hold "x"/],
    ["add", "", /names no member/],
    ["add", "spec/x", /names no member/],
    ["remove", "/toString", /"toString" is not there/],
  ];
  for (const [op, path, message] of rows) {
    assert.throws(() => apply({ op, path, value: 1 }), message);
  }
  assert.throws(() => apply({ op: "add", path: "/spec/x", value: undefined }), /no value/);
});

forAll(
  "applyJSONPatch() makes a member of any name, and changes no prototype",
  [
    fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "a/b", "~1", "")),
    fc.jsonValue(),
  ],
  (name, value) => {
    const path = `/${pointerPart(name)}`;
    const added = applyJSONPatch({}, [{ op: "add", path, value }]) as object;
    assert.deepEqual(Object.entries(added), [[name, value]]);
    assert.equal(Object.getPrototypeOf(added), Object.prototype);
    assert.deepEqual(applyJSONPatch(added, [{ op: "remove", path }]), {});
  },
  1,
);
