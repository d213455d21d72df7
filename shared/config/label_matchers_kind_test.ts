import assert from "node:assert/strict";
import { labelMatchersKind } from "./label_matchers_kind.ts";

Deno.test("labelMatchersKind reads matchers, and writes them without what stands between", () => {
  const read: Readonly<Record<string, readonly string[]>> = {
    "": [],
    'cluster="prod"': ['cluster="prod"'],
    ' cluster = "prod" , stage !~ "dev|te.t" ': ['cluster="prod"', 'stage!~"dev|te.t"'],
    'a!="x",b=~"y,z"': ['a!="x"', 'b=~"y,z"'],
    'cluster="say \\"hi\\" \\\\d"': ['cluster="say \\"hi\\" \\\\d"'],
  };
  for (const [text, expected] of Object.entries(read)) {
    assert.deepEqual(labelMatchersKind.parse(text), expected, text);
  }
});

Deno.test("labelMatchersKind reads nothing that could say more than a matcher, or what is said already", () => {
  for (
    const text of [
      "cluster=prod",
      'cluster="prod"} or up{a="b"',
      'cluster="prod",',
      ',cluster="prod"',
      'cluster="prod" stage="live"',
      "cluster='prod'",
      'cluster=="prod"',
      '1cluster="prod"',
      'cluster="a\nb"',
      'namespace="shop"',
      'cluster="prod",pod=~".*"',
      '__name__="up"',
      " ",
      "prod",
    ]
  ) assert.equal(labelMatchersKind.parse(text), undefined, text);
});
