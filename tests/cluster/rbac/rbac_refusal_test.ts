import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { refusedByRBAC } from "./rbac_refusal.ts";

function refusal(message: string, status = 403): ApiError {
  return new ApiError(status, "Forbidden", message);
}

Deno.test({
  name: "refusedByRBAC() reads the missing right from the server's message",
  permissions: "none",
  fn() {
    const user = 'User "system:serviceaccount:mbcas-system:mbcas-controller" cannot';
    assert.deepEqual(
      refusedByRBAC(refusal(
        `pods "web-0" is forbidden: ${user} patch resource "pods/resize" in API group "" in the ` +
          'namespace "shop"',
      )),
      { verb: "patch", resource: "pods/resize", group: "" },
    );
    const everywhere = refusal(
      `deployments.apps is forbidden: ${user} watch resource "deployments" in API group "apps" ` +
        "at the cluster scope",
    );
    assert.deepEqual(refusedByRBAC(everywhere), {
      verb: "watch",
      resource: "deployments",
      group: "apps",
    });
  },
});

Deno.test({
  name: "refusedByRBAC() takes no other refusal for one of RBAC",
  permissions: "none",
  fn() {
    const others = [
      'podallocations.allocation.mbcas.io "own" is forbidden: ValidatingAdmissionPolicy ' +
      "'mbcas-agent-allocations' with binding 'mbcas-agent-allocations' denied request: an agent " +
      "may not change metadata.labels",
      'pods "web-0" is forbidden: exceeded quota: sum, requested: limits.cpu=2',
    ];
    for (const message of others) assert.equal(refusedByRBAC(refusal(message)), undefined, message);
    const message =
      'pods is forbidden: User "x" cannot list resource "pods" in API group "" at the ' +
      "cluster scope";
    assert.ok(refusedByRBAC(refusal(message)) !== undefined);
    assert.equal(refusedByRBAC(refusal(message, 409)), undefined);
  },
});
