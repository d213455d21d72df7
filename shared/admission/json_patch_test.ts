import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import fc from "fast-check";
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
  assert.deepEqual(after, {
    spec: {
      nodeSelector: { disk: "hdd", "a/b~c": "1" },
      containers: [{ name: "b", image: "busybox" }],
      tolerations: [],
    },
  });
  assert.deepEqual(POD, before);
});

pure("applyJSONPatch() adds to a list before a place and behind its end", () => {
  const path = "/spec/containers";
  assert.deepEqual(
    apply(
      { op: "add", path: `${path}/0`, value: 0 },
      { op: "add", path: `${path}/3`, value: 3 },
      { op: "add", path: `${path}/-`, value: 4 },
      { op: "replace", path: `${path}/1`, value: 1 },
    ),
    { spec: { ...POD.spec, containers: [0, 1, { name: "b" }, 3, 4] } },
  );
});

pure("applyJSONPatch() tests values without an eye for the order of members", () => {
  const path = "/spec";
  const value = { containers: [{ name: "a" }, { name: "b" }], nodeSelector: { disk: "ssd" } };
  assert.deepEqual(apply({ op: "test", path, value }), POD);
  for (const other of [{ ...value, x: 1 }, { ...value, containers: [] }, null, []]) {
    assert.throws(() => apply({ op: "test", path, value: other }), /another value/);
  }
});

pure("applyJSONPatch() names the step that can't be made", () => {
  const steps: readonly (readonly [JSONPatchOperation, RegExp])[] = [
    [{ op: "remove", path: "/spec/none" }, /^RangeError: Cannot .*"\/spec\/none": "none" is not/],
    [{ op: "replace", path: "/spec/none", value: 1 }, /"none" is not there/],
    [{ op: "add", path: "/metadata/labels", value: 1 }, /"metadata" is not there/],
    [{ op: "add", path: "/spec/containers/3", value: 1 }, /"3" is no place/],
    [{ op: "replace", path: "/spec/containers/2", value: 1 }, /"2" is no place/],
    [{ op: "replace", path: "/spec/containers/-", value: 1 }, /"-" is no place/],
    [{ op: "add", path: "/spec/containers/01", value: 1 }, /"01" is no place/],
    [{ op: "add", path: "/spec/nodeSelector/disk/x", value: 1 }, /nothing to hold "x"/],
    [{ op: "add", path: "", value: 1 }, /names no member/],
    [{ op: "add", path: "spec/x", value: 1 }, /names no member/],
    [{ op: "add", path: "/spec/x", value: undefined }, /no value/],
    [{ op: "remove", path: "/toString" }, /"toString" is not there/],
  ];
  for (const [step, message] of steps) assert.throws(() => apply(step), message);
});

forAll("applyJSONPatch() makes a member of any name, and changes no prototype", [
  fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "a/b", "~1", "")),
  fc.jsonValue(),
], (name, value) => {
  const path = `/${pointerPart(name)}`;
  const added = applyJSONPatch({}, [{ op: "add", path, value }]) as object;
  assert.deepEqual(Object.entries(added), [[name, value]]);
  assert.equal(Object.getPrototypeOf(added), Object.prototype);
  assert.doesNotThrow(() => applyJSONPatch(added, [{ op: "test", path, value }]));
  assert.deepEqual(applyJSONPatch(added, [{ op: "remove", path }]), {});
}, 1);
