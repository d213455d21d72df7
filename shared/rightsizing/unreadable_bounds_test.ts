import assert from "node:assert/strict";
import { sampleQuota } from "../../tests/contract/sample_objects.ts";
import { unreadableBounds } from "./unreadable_bounds.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const metadata = { name: "r", namespace: "shop", uid: "", resourceVersion: "" };
const range = { metadata, items: [] };

test("unreadableBounds() names each object that can't be read, and is silent about the others", () => {
  assert.deepEqual(unreadableBounds({ limitRanges: [range], quotas: [sampleQuota()] }), []);
  const unreadable = "its limits are no list";
  const unreadableMemory = "its memory is no number";
  assert.deepEqual(
    unreadableBounds({
      limitRanges: [{ ...range, unreadable }, range, { ...range, unreadableMemory }],
      quotas: [sampleQuota({ unreadableMemory }), sampleQuota({ unreadable }), sampleQuota()],
    }),
    [
      `LimitRange r: ${unreadable}`,
      `LimitRange r: ${unreadableMemory}`,
      `ResourceQuota cpu: ${unreadableMemory}`,
      `ResourceQuota cpu: ${unreadable}`,
    ],
  );
});
