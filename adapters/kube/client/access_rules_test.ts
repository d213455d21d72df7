import assert from "node:assert/strict";
import { accessRuleText } from "../../../tests/cluster/rbac/rights.ts";

Deno.test("accessRuleText() names verb, resource, name and namespace", () => {
  const rule = { verb: "patch", group: "", resource: "pods", subresource: "resize" };
  const lease = {
    verb: "update",
    group: "coordination.k8s.io",
    resource: "leases",
    namespace: "mbcas-system",
    name: "mbcas-controller",
  };
  assert.equal(accessRuleText(rule), "patch pods/resize");
  assert.equal(
    accessRuleText(lease),
    'update leases.coordination.k8s.io "mbcas-controller" in mbcas-system',
  );
});
