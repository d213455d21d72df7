import assert from "node:assert/strict";
import { budgetRefusal, type PodBudget } from "./pod_budget.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const POD = { labels: { app: "web" }, ready: true } as const;

function budget(changes: Partial<PodBudget> = {}): PodBudget {
  return {
    name: "web",
    selector: { matchLabels: { app: "web" }, matchExpressions: [] },
    disruptionsAllowed: 0,
    current: true,
    freesUnready: false,
    ...changes,
  };
}

test("budgetRefusal() minds a budget that allows no disruption", () => {
  assert.match(budgetRefusal(POD, [budget()]) ?? "", /web.* disruption/);
  assert.equal(budgetRefusal(POD, [budget({ disruptionsAllowed: 1 })]), undefined);
});

test("budgetRefusal() minds budgets for the pod alone", () => {
  const { selector: _, ...none } = budget();
  const other = budget({ selector: { matchLabels: { app: "db" }, matchExpressions: [] } });
  assert.equal(budgetRefusal(POD, [none, other]), undefined);
  const all = budget({ selector: { matchLabels: {}, matchExpressions: [] } });
  assert.match(budgetRefusal(POD, [all]) ?? "", /disruption/);
});

test("budgetRefusal() knows that a pod of several budgets can't be evicted", () => {
  const generous = [
    budget({ disruptionsAllowed: 3 }),
    budget({ name: "b", disruptionsAllowed: 3 }),
  ];
  assert.match(budgetRefusal(POD, generous) ?? "", /web, b/);
});

test("budgetRefusal() waits for a budget that is not counted yet", () => {
  const stale = budget({ disruptionsAllowed: 1, current: false });
  assert.match(budgetRefusal(POD, [stale]) ?? "", /not counted yet/);
});

test("budgetRefusal() frees pods that are not Ready where the budget does", () => {
  const unready = { ...POD, ready: false };
  assert.match(budgetRefusal(unready, [budget()]) ?? "", /disruption/);
  assert.equal(budgetRefusal(unready, [budget({ freesUnready: true })]), undefined);
  assert.match(budgetRefusal(POD, [budget({ freesUnready: true })]) ?? "", /disruption/);
});
