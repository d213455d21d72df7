import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { parsePodDisruptionBudget } from "./pod_disruption_budgets.ts";

const namespaced = { name: "a", namespace: "shop", uid: "u", resourceVersion: "1" };

pure("parsePodDisruptionBudget() reads its selector, and what it allows", () => {
  const raw = {
    metadata: { ...namespaced, generation: 2 },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
    status: { observedGeneration: 2, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 },
  };
  const budget = parsePodDisruptionBudget(raw);
  assert.deepEqual(budget, {
    metadata: namespaced,
    selector: { matchLabels: { app: "web" }, matchExpressions: [] },
    disruptionsAllowed: 1,
    current: true,
    freesUnready: true,
  });
  const change = (spec: object, status: object) =>
    parsePodDisruptionBudget({
      ...raw,
      spec: { ...raw.spec, ...spec },
      status: { ...raw.status, ...status },
    });
  assert.equal(change({}, { currentHealthy: 0 }).freesUnready, false);
  assert.equal(change({}, { desiredHealthy: 0 }).freesUnready, false);
  const always = { unhealthyPodEvictionPolicy: "AlwaysAllow" };
  assert.equal(change(always, { currentHealthy: 0 }).freesUnready, true);
  assert.equal(change({}, { observedGeneration: 1 }).current, false);
  assert.ok(!("selector" in change({ selector: undefined }, {})));
  assert.deepEqual(change({ selector: {} }, {}).selector, {
    matchLabels: {},
    matchExpressions: [],
  });
});
