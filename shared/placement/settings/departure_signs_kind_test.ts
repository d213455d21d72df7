import assert from "node:assert/strict";
import { DEFAULT_DEPARTURE_SIGNS, DEPARTURE_PRESETS } from "../node_departure.ts";
import { departureSignsKind as kind } from "./departure_signs_kind.ts";
import { PLACEMENT_ROWS } from "./placement_settings.ts";

Deno.test({
  name: "departureSignsKind reads names of those who take nodes away, by default all of them",
  permissions: "none",
  fn() {
    assert.deepEqual(kind.parse(PLACEMENT_ROWS.departureSigns.default), DEFAULT_DEPARTURE_SIGNS);
    assert.deepEqual(kind.parse("aks"), DEPARTURE_PRESETS.aks);
    assert.deepEqual(kind.parse(""), { taints: [], conditions: [] });
  },
});

Deno.test({
  name: "departureSignsKind reads signs of one's own, alone or beside those of presets",
  permissions: "none",
  fn() {
    const taints = [
      { key: "example.com/going", effect: "NoSchedule" },
      { key: "example.com/drained", drained: true },
    ];
    const own = { taints, conditions: ["Going"] };
    assert.deepEqual(kind.parse(JSON.stringify(own)), own);
    assert.deepEqual(kind.parse(JSON.stringify({ ...own, presets: ["aks"] })), {
      taints,
      conditions: [...DEPARTURE_PRESETS.aks.conditions, "Going"],
    });
  },
});

Deno.test({
  name: "departureSignsKind names what does not fit",
  permissions: "none",
  fn() {
    for (
      const [text, fault] of [
        ["karpentr", /^presets\[0\] is "karpentr": .*karpenter, /],
        ['{"taint": []}', /^taint /],
        ['{"taints": [{"value": "x"}]}', /^taints\[0\]\.key is missing: /],
        [
          '{"conditions": ["Going", "MemoryPressure"]}',
          /^conditions\[1\] is "MemoryPressure": .* Ready, /,
        ],
        ['{"conditions": ["Ready"]}', /^conditions\[0\] is "Ready": .* Ready, /],
        ['{"conditions": [""]}', /^conditions\[0\] is "": .*1 /],
      ] as const
    ) {
      assert.equal(kind.parse(text), undefined);
      assert.match(kind.explain?.(text) ?? "", fault);
    }
  },
});
