import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import {
  AGENT_ACTS,
  CONTROLLER_ACTS,
  PLACEMENT_ACTS,
  RIGHTSIZING_ACTS,
  WEBHOOK_ACTS,
} from "./acts.ts";
import { accessRuleText, grantedRights } from "./rights.ts";

Deno.test("the manifests give the rights that acts need, and no others", async () => {
  for (
    const [folder, account, acts] of [
      ["base/agent", "mbcas-agent", AGENT_ACTS],
      ["base/controller", "mbcas-controller", CONTROLLER_ACTS],
      ["components/rightsizing", "mbcas-controller", RIGHTSIZING_ACTS],
      ["components/webhook", "mbcas-controller", WEBHOOK_ACTS],
      ["components/placement", "mbcas-controller", PLACEMENT_ACTS],
    ] as const
  ) {
    const path = new URL(`../../../manifests/${folder}/rbac.yaml`, import.meta.url);
    const objects = parseAllDocuments(await Deno.readTextFile(path)).map((one) => one.toJS());
    const rights = grantedRights(objects, account).map(accessRuleText);
    assert.deepEqual(rights.toSorted(), Object.keys(acts).toSorted(), folder);
  }
});

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
