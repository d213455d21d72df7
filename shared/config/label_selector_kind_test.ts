import assert from "node:assert/strict";
import { labelSelectorKind } from "./label_selector_kind.ts";

Deno.test({
  name: "labelSelectorKind reads Kubernetes' selectors, and labels as text",
  permissions: "none",
  fn() {
    const matchLabels = { team: "shop", "example.com/stage": "" };
    assert.deepEqual(labelSelectorKind.parse("team=shop, example.com/stage="), {
      matchLabels,
      matchExpressions: [],
    });
    const matchExpressions = [{ key: "tier", operator: "In", values: ["a", "b"] }];
    const text = JSON.stringify({ matchLabels, matchExpressions });
    assert.deepEqual(labelSelectorKind.parse(text), { matchLabels, matchExpressions });
  },
});

Deno.test({
  name: "labelSelectorKind takes nothing that is misspelt, since it would select everything",
  permissions: "none",
  fn() {
    for (
      const [text, fault] of [
        ["team", undefined],
        ["=shop", undefined],
        ["team=a b", undefined],
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
      assert.equal(labelSelectorKind.parse(text), undefined, text);
      const explained = labelSelectorKind.explain?.(text);
      if (fault === undefined) assert.equal(explained, undefined);
      else assert.match(explained ?? "", fault);
    }
  },
});
