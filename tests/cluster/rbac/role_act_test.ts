import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import {
  accessRuleText,
  assertDone,
  assertRefused,
  performAct,
  type RoleAct,
  unmatched,
} from "./role_act.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { AGENT_ACTS } from "./agent_acts.ts";
import { CONTROLLER_ACTS } from "./controller_acts.ts";
import { grantedRights } from "./granted_right.ts";
import { PLACEMENT_ACTS } from "./placement_acts.ts";
import { RIGHTSIZING_ACTS } from "./rightsizing_acts.ts";
import type { RoleStage } from "./role_stage.ts";
import { WEBHOOK_ACTS } from "./webhook_acts.ts";

for (
  const [folder, account, acts] of [
    ["base/agent", "mbcas-agent", AGENT_ACTS],
    ["base/controller", "mbcas-controller", CONTROLLER_ACTS],
    ["components/rightsizing", "mbcas-controller", RIGHTSIZING_ACTS],
    ["components/webhook", "mbcas-controller", WEBHOOK_ACTS],
    ["components/placement", "mbcas-controller", PLACEMENT_ACTS],
  ] as const
) {
  Deno.test(`unmatched() finds no right in ${folder} of the manifests that no act needs`, async () => {
    const path = new URL(`../../../manifests/${folder}/rbac.yaml`, import.meta.url);
    const objects = parseAllDocuments(await Deno.readTextFile(path)).map((one) => one.toJS());
    const rights = grantedRights(objects, account);
    assert.ok(rights.length >= 5);
    assert.deepEqual(unmatched(rights, acts), { unused: [], missing: [] });
    const [first, ...others] = rights;
    assert.ok(first !== undefined);
    assert.deepEqual(unmatched(others, acts).missing, [accessRuleText(first)]);
    const more = [...rights, { verb: "get", group: "", resource: "pods" }];
    assert.deepEqual(unmatched(more, acts).unused, ["get pods"]);
  });
}

const RIGHT = { verb: "list", group: "", resource: "pods" };
const FORBIDDEN = new ApiError(
  403,
  "Forbidden",
  'pods is forbidden: User "x" cannot list resource "pods" in API group "" at the cluster scope',
);
const stage = {} as RoleStage;

function server(answer: () => Promise<unknown>): KubeConnection {
  return { request: answer, async *lines() {} };
}

function act(perform: RoleAct["perform"]): RoleAct {
  return { right: "list pods", deed: "read", perform };
}

Deno.test({
  name: "performAct() reports a refusal that the act kept to itself",
  permissions: "none",
  async fn() {
    const silent = act(async (connection) => {
      await connection.request({ path: "/api/v1/pods" }).catch(() => {});
    });
    const refused = server(() => Promise.reject(FORBIDDEN));
    const outcome = await performAct(silent, { connection: refused, stage });
    assertRefused(outcome, RIGHT);
    assert.throws(() => assertDone(outcome));
    assert.throws(() => assertRefused(outcome, { ...RIGHT, verb: "watch" }));

    const done = await performAct(silent, { connection: server(() => Promise.resolve()), stage });
    assertDone(done);
    assert.throws(() => assertRefused(done, RIGHT));
  },
});

Deno.test({
  name: "assertDone() throws what the act failed with though nothing was refused",
  permissions: "none",
  async fn() {
    const idle = act(() => Promise.reject(new Error("no effect")));
    const connection = server(() => Promise.resolve());
    const outcome = await performAct(idle, { connection, stage });
    assert.throws(() => assertDone(outcome), /no effect/);
    assert.throws(() => assertRefused(outcome, RIGHT));
  },
});
