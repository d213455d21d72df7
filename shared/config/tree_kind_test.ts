import assert from "node:assert/strict";
import * as z from "zod";
import { treeKind } from "./tree_kind.ts";

const kind = treeKind({
  expects: "a size or a map",
  schema: () =>
    z.strictObject({ size: z.int(), inner: z.strictObject({ a: z.string() }).optional() }),
  shortForm: (text) => /^\d+$/.test(text) ? { size: Number(text) } : undefined,
});

Deno.test({
  name: "treeKind() reads JSON, and the short form",
  permissions: "none",
  fn() {
    assert.deepEqual(kind.parse('{"size": 3}'), { size: 3 });
    assert.deepEqual(kind.parse("4"), { size: 4 });
    assert.equal(kind.parse("big"), undefined);
    assert.equal(kind.explain?.("big"), undefined);
  },
});

Deno.test({
  name: "treeKind() reports all faults, each with its place",
  permissions: "none",
  fn() {
    const fault = (text: string) => {
      assert.equal(kind.parse(text), undefined);
      return kind.explain?.(text);
    };
    assert.match(
      fault('{"size": 1.5, "inner": {"a": 1, "b": 2}, "sise": 1}') ?? "",
      /^size is 1\.5: [^;]*; inner\.a is 1: [^;]*; inner\.b [^;]*; sise [^;]*$/,
    );
    assert.match(fault("{size: 1}") ?? "", /^is not JSON: /);
  },
});
