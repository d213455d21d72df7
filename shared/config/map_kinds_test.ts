import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import * as z from "zod";
import { refusalOf, valueOf } from "./kinds.ts";
import { labelSelectorKind, treeKind } from "./map_kinds.ts";

const sizeKind = treeKind({
  expects: "a size or a map",
  schema: () =>
    z.strictObject({ size: z.int(), inner: z.strictObject({ a: z.string() }).optional() }),
  shortForm: (text) => /^\d+$/.test(text) ? { size: Number(text) } : undefined,
});

pure("treeKind() reads JSON and the short form, and reports each fault with its place", () => {
  assert.deepEqual(valueOf(sizeKind, '{"size": 3}'), { size: 3 });
  assert.deepEqual(valueOf(sizeKind, "4"), { size: 4 });
  for (
    const [text, refusal] of [
      ["big", /^$/],
      ["{size: 1}", /^is not JSON: /],
      [
        '{"size": 1.5, "inner": {"a": 1, "b": 2}, "sise": 1}',
        /^size is 1\.5: [^;]*; inner\.a is 1: [^;]*; inner\.b [^;]*; sise [^;]*$/,
      ],
    ] as const
  ) {
    assert.equal(valueOf(sizeKind, text), undefined);
    assert.match(refusalOf(sizeKind, text) ?? "", refusal);
  }
});

pure("labelSelectorKind reads Kubernetes' selectors, and labels as text", () => {
  const matchLabels = { team: "shop", "example.com/stage": "" };
  assert.deepEqual(valueOf(labelSelectorKind, "team=shop, example.com/stage="), {
    matchLabels,
    matchExpressions: [],
  });
  const matchExpressions = [{ key: "tier", operator: "In", values: ["a", "b"] }];
  const text = JSON.stringify({ matchLabels, matchExpressions });
  assert.deepEqual(valueOf(labelSelectorKind, text), { matchLabels, matchExpressions });
});

pure("labelSelectorKind refuses a misspelt selector, since it would select everything", () => {
  for (
    const [text, refusal] of [
      ["team", /^$/],
      ["=shop", /^$/],
      ["team=a b", /^$/],
      ['{"matchLabel": {"a": "b"}}', /^matchLabel /],
      [
        '{"matchExpressions": [{"key": "a", "operator": "Exists", "valeus": []}]}',
        /^matchExpressions\[0\]\.valeus /,
      ],
      [
        '{"matchExpressions": [{"key": "a", "operator": "Has"}]}',
        /^matchExpressions\[0\]\.operator is "Has": .*In, NotIn, Exists, DoesNotExist$/,
      ],
      ['{"matchLabels": {"-a": "b"}}', /labels' keys/],
    ] as const
  ) {
    assert.equal(valueOf(labelSelectorKind, text), undefined, text);
    assert.match(refusalOf(labelSelectorKind, text) ?? "", refusal);
  }
});
