import assert from "node:assert/strict";
import { defined, mapDefined } from "./defined.ts";

Deno.test({
  name: "defined() leaves out what is undefined, and nothing else",
  permissions: "none",
  fn() {
    const found: {
      readonly a?: number;
      readonly b: string;
      readonly c?: null;
      readonly d?: string;
    } = defined({
      ...{ d: undefined as string | undefined, b: "" },
      ...{ a: 0 as number | undefined, c: null },
    });
    assert.deepEqual(Object.entries(found), [["b", ""], ["a", 0], ["c", null]]);
  },
});

Deno.test({
  name: "mapDefined() maps any value but undefined",
  permissions: "none",
  fn() {
    const count = (text: string): number => text.length;
    assert.deepEqual([mapDefined("", count), mapDefined(undefined, count)], [0, undefined]);
  },
});
