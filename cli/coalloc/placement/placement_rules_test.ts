import assert from "node:assert/strict";
import { NODE_CLASS_PRESETS } from "../../../shared/placement/node_classes.ts";
import { placementRules } from "./placement_rules.ts";

const ON = { MBCAS_PLACEMENT: "on" };

Deno.test("placementRules() are the controller's defaults where nothing is said", () => {
  const { rules, notes } = placementRules({ text: "", variables: ON });
  assert.deepEqual(notes, []);
  assert.deepEqual(rules.scope, { ownNamespace: "mbcas-system" });
  assert.deepEqual(rules.classes, NODE_CLASS_PRESETS.karpenter);
  assert.deepEqual([rules.cooldownMs, rules.shortage.scheduleTimeoutMs], [10_000, 60_000]);
});

Deno.test("placementRules() take variables before the file, whatever else stands in that", () => {
  const text = `
market: off
placement:
  nodeClassifier: aks
  cooldown: 30s
  namespaceSelector: { matchLabels: { team: shop } }
  disruptionWindow: { schedule: "0 2 * * *", duration: 1h }
  unheardOf: 1
`;
  const variables = { ...ON, SPOTALIS_NODE_CLASSIFIER: "eks", SPOTALIS_COOLDOWN: "" };
  const { rules, notes } = placementRules({ text, variables });
  assert.deepEqual(notes, []);
  assert.deepEqual(rules.classes, NODE_CLASS_PRESETS.eks);
  assert.equal(rules.cooldownMs, 30_000);
  assert.deepEqual(rules.scope, {
    ownNamespace: "mbcas-system",
    namespaceSelector: { matchLabels: { team: "shop" }, matchExpressions: [] },
    window: { schedule: "0 2 * * *", durationMs: 3_600_000 },
  });
});

Deno.test("placementRules() say what can't be read, and assume its default", () => {
  const text = "placement: { cooldown: soon, disruptionWindow: { duration: 1h } }";
  const { rules, notes } = placementRules({ text, variables: ON });
  assert.equal(rules.cooldownMs, 10_000);
  assert.match(
    notes[0] ?? "",
    /^placement\.cooldown .*"soon"/,
  );
  assert.match(
    notes[1] ?? "",
    /^placement\.disruptionWindow\.duration .*schedule/,
  );
  const odd = placementRules({ text: "", variables: { ...ON, SPOTALIS_COOLDOWN: "-1" } });
  assert.match(
    odd.notes[0] ?? "",
    / SPOTALIS_COOLDOWN .*"-1"/,
  );
});

Deno.test("placementRules() say when nothing is done, and nothing of what nobody knows", () => {
  const notesOf = (text: string, variables?: Readonly<Record<string, string>>) =>
    placementRules({ text, variables }).notes.join();
  assert.match(notesOf("", {}), /^Placement is off \(placement\.enabled\)/);
  assert.match(notesOf("placement: { enabled: false }"), /^Placement is off/);
  assert.equal(notesOf(""), "");
  assert.match(notesOf("controller: { dryRun: true }", ON), /^Placement only reads/);
});
