import assert from "node:assert/strict";
import { priorityClass, priorityClassName } from "./priority_class.ts";

Deno.test("priorityClass() bears the name that pods ask for", () => {
  const { metadata, value } = priorityClass(4000);
  assert.deepEqual(metadata, { name: priorityClassName(4000) });
  assert.equal(value, 4000);
});
