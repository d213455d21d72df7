import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import {
  AGENT_ACTS,
  CONTROLLER_ACTS,
  PLACEMENT_ACTS,
  RIGHTSIZING_ACTS,
  WEBHOOK_ACTS,
} from "./acts.ts";
import { DASHBOARD_ACTS } from "./dashboard_acts.ts";
import { accessRuleText, grantedRights, refusalsIn, refusedRight, ruleOfRight } from "./rights.ts";

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

const CANNOT = 'User "x" cannot patch resource "pods/resize" in API group "" in the namespace "a"';

Deno.test("refusedRight() reads the missing right, and takes no other refusal for one of RBAC", () => {
  for (
    const [status, message, expected] of [
      [403, `pods "web-0" is forbidden: ${CANNOT}`, "patch pods/resize"],
      [
        403,
        'User "x" cannot watch resource "deployments" in API group "apps" at the cluster scope',
        "watch deployments.apps",
      ],
      [403, "ValidatingAdmissionPolicy 'a' denied request: an agent may not", undefined],
      [403, "exceeded quota: sum, requested: limits.cpu=2", undefined],
      [409, CANNOT, undefined],
    ] as const
  ) {
    const error = new ApiError(status, "Forbidden", message);
    assert.equal(refusedRight(error), expected ?? message);
  }
});

Deno.test("refusalsIn() reports what an adapter keeps to itself, and throws other failures", async () => {
  const server = (error: Error): KubeConnection => ({
    request: () => Promise.reject(error),
    async *lines() {},
  });
  const silent = (connection: KubeConnection) => connection.request({ path: "/" }).catch(() => {});
  const forbidden = server(new ApiError(403, "Forbidden", CANNOT));
  assert.deepEqual(await refusalsIn(forbidden, silent), ["patch pods/resize"]);
  const gone = server(new ApiError(404, "NotFound", "no such pod"));
  assert.deepEqual(await refusalsIn(gone, (connection) => connection.request({ path: "/" })), []);
  await assert.rejects(refusalsIn(gone, () => Promise.reject(new Error("idle"))), /idle/);
});
