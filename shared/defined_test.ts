import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { defined, mapDefined } from "./defined.ts";

pure("defined() leaves out what is undefined, and nothing else", () => {
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
});

pure("mapDefined() maps any value but undefined", () => {
  const count = (text: string): number => text.length;
  assert.deepEqual([mapDefined("", count), mapDefined(undefined, count)], [0, undefined]);
});
