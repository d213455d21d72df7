/**
 * Every right of the programs is needed: with all of them each act succeeds, and without its own one
 * it is refused. Done by accounts of the test's own, with the product's adapters.
 *
 * @module
 */
import assert from "node:assert/strict";
import { type AccessRule, accessRuleText } from "../../adapters/kube/api_checks.ts";
import { configMapListWatch } from "../../adapters/kube/config_maps.ts";
import { createDesiredWriter } from "../../adapters/kube/desired_writer.ts";
import { connectKubeconfig } from "../../adapters/kube/kubeconfig_connection.ts";
import { createLeaseStore } from "../../adapters/kube/leases.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { sampleDesired } from "../contract/sample_objects.ts";
import { createKubectl } from "./kubectl.ts";
import { AGENT_ACTS } from "./rbac/agent_acts.ts";
import { CONTROLLER_ACTS } from "./rbac/controller_acts.ts";
import { grantedRights, type PolicyRule } from "./rbac/granted_right.ts";
import { refusedByRBAC } from "./rbac/rbac_refusal.ts";
import {
  type ActOutcome,
  assertDone,
  assertRefused,
  performAct,
  type RoleAct,
  unmatched,
} from "./rbac/role_act.ts";
import { createRoleCopies, type RoleCopies } from "./rbac/role_copies.ts";
import { type RoleStage, setRoleStage } from "./rbac/role_stage.ts";
import { applyRights, type ManifestObject, renderManifests } from "./rendered_manifests.ts";
import { tokenConnector } from "./scene/account_token.ts";

/** Stands in for what the admission policy grants to the programs' accounts by their names. */
const EXEMPT: PolicyRule = {
  apiGroups: ["allocation.mbcas.io"],
  resources: ["podallocations"],
  verbs: ["administer"],
};

const PROGRAMS = [
  { program: "mbcas-agent", acts: AGENT_ACTS },
  { program: "mbcas-controller", acts: CONTROLLER_ACTS },
] as const;

type Program = (typeof PROGRAMS)[number];

/** An act with all rights, and with all but its own. */
interface Trial {
  readonly act: RoleAct;
  readonly right: AccessRule;
  readonly less: ActOutcome;
  readonly whole: ActOutcome;
}

interface Scene {
  readonly stage: RoleStage;
  readonly copies: RoleCopies;
  readonly rights: readonly AccessRule[];
}

async function tryProgram(
  { acts }: Program,
  { stage, copies, rights }: Scene,
): Promise<readonly Trial[]> {
  const pairs = acts.flatMap((act) => {
    const right = rights.find((one) => accessRuleText(one) === act.right);
    return right === undefined ? [] : [{ act, right }];
  });
  const wholeCopy = copies.copy({ rights, beside: [EXEMPT] });
  // First those that are refused: they find nothing that the others have made.
  const refused = await Promise.all(pairs.map(async ({ act, right }) => {
    const others = rights.filter((one) => one !== right);
    const connection = await copies.copy({ rights: others, beside: [EXEMPT] });
    return { act, right, less: await performAct(act, { connection, stage }) };
  }));
  const connection = await wholeCopy;
  const trials: Trial[] = [];
  for (const one of refused) {
    trials.push({ ...one, whole: await performAct(one.act, { connection, stage }) });
  }
  return trials;
}

/** Bindings of the manifests that are none of the two programs'. */
function strangers(objects: readonly ManifestObject[]): readonly string[] {
  const names: readonly string[] = PROGRAMS.map(({ program }) => program);
  return objects.filter(({ kind }) => /^(Cluster)?RoleBinding$/.test(kind))
    .flatMap((object) => object["subjects"] as readonly { name: string }[])
    .map(({ name }) => name)
    .filter((name) => !names.includes(name));
}

Deno.test("each right of the manifests is needed, on a real API server", async (t) => {
  const kubectl = createKubectl();
  await applyRights(kubectl);
  const objects = await renderManifests(kubectl, "overlays/release");
  const connect = await tokenConnector(kubectl);
  const admin = await connectKubeconfig();
  try {
    await using stage = await setRoleStage(admin);
    await using copies = createRoleCopies(stage, connect);
    const tried = await Promise.all(PROGRAMS.map(async (one) => {
      const rights = grantedRights(objects, one.program);
      return { ...one, rights, trials: await tryProgram(one, { stage, copies, rights }) };
    }));

    await t.step("no other account is given rights", () => {
      assert.deepEqual(strangers(objects), []);
    });

    for (const { program, acts, rights, trials } of tried) {
      await t.step(`${program} has no right that no act needs, and each act its right`, () => {
        assert.deepEqual(unmatched(rights, acts), { unused: [], missing: [] });
        assert.ok(trials.length > 0 && trials.length === rights.length);
      });
      for (const { act, right, whole, less } of trials) {
        await t.step(`${program} without "${act.right}" can't ${act.deed}`, () => {
          assertDone(whole);
          assertRefused(less, right);
        });
      }
    }

    await t.step("a right that names its object counts for no other", async () => {
      const rights = grantedRights(objects, "mbcas-controller");
      const connection = await copies.copy({ rights });
      const { namespace } = stage;
      const settings = configMapListWatch(connection, { namespace, name: "another" });
      const lease = createLeaseStore(connection, { namespace, name: "another" });
      const { signal } = new AbortController();
      for (const act of [() => settings.list(signal), lease.read]) {
        await assert.rejects(act, (error) => error instanceof ApiError && error.status === 403);
      }
    });

    await t.step("what an admission policy refuses is no want of rights", async () => {
      const rights = grantedRights(objects, "mbcas-agent");
      const connection = await copies.copy({ rights, onNode: true });
      const { metadata } = stage.own;
      const write = createDesiredWriter(connection).writeDesired(metadata, sampleDesired("400m"));
      await assert.rejects(write, (error) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.status, 403);
        assert.match(error.message, /ValidatingAdmissionPolicy 'mbcas-agent-allocations'/);
        return refusedByRBAC(error) === undefined;
      });
    });
  } finally {
    admin.close();
  }
});
