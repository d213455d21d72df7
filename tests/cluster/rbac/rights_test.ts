import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import {
  AGENT_ACTS,
  CONTROLLER_ACTS,
  PLACEMENT_ACTS,
  RIGHTSIZING_ACTS,
  WEBHOOK_ACTS,
} from "./acts.ts";
import { DASHBOARD_ACTS } from "./dashboard_acts.ts";
import { accessRuleText, grantedRights, ruleOfRight } from "./rights.ts";

for (
  const [folder, account, acts] of [
    ["base/agent", "mbcas-agent", AGENT_ACTS],
    ["base/controller", "mbcas-controller", { ...CONTROLLER_ACTS, ...DASHBOARD_ACTS }],
    ["components/rightsizing", "mbcas-controller", RIGHTSIZING_ACTS],
    ["components/webhook", "mbcas-controller", WEBHOOK_ACTS],
    ["components/placement", "mbcas-controller", PLACEMENT_ACTS],
  ] as const
) {
  Deno.test(`manifests/${folder} gives the rights that acts need, and no others`, async () => {
    const path = new URL(`../../../manifests/${folder}/rbac.yaml`, import.meta.url);
    const objects = parseAllDocuments(await Deno.readTextFile(path)).map((one) => one.toJS());
    const rights = grantedRights(objects, account);
    assert.deepEqual(rights.map(accessRuleText).toSorted(), Object.keys(acts).toSorted());
    for (const right of rights) {
      const { namespace } = right;
      const metadata = { name: "one", ...(namespace === undefined ? {} : { namespace }) };
      const role = { apiVersion: "", kind: "Role", metadata, rules: [ruleOfRight(right)] };
      const subjects = [{ kind: "ServiceAccount", name: account }];
      const binding = { ...role, kind: "RoleBinding", roleRef: role, subjects };
      const one = { ...binding, roleRef: { kind: "Role", name: "one" } };
      assert.deepEqual(grantedRights([role, one], account), [right]);
      assert.throws(() => grantedRights([one], account), /no Role one/);
    }
  });
}

Deno.test("the controller changes pods by resizes alone, the webhook only objects of its own names", () => {
  const ofPods = Object.keys(CONTROLLER_ACTS).filter((one) =>
    /^(create|update|patch|delete) pods\b/.test(one)
  );
  assert.deepEqual(ofPods, ["patch pods/resize"]);
  // RBAC gives a creation no name.
  const unnamed = Object.keys(WEBHOOK_ACTS).filter((one) =>
    !one.startsWith("create ") && !/ "[^"]+"/.test(one)
  );
  assert.deepEqual(unnamed, []);
});
