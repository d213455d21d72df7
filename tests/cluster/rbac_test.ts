/**
 * Every right of the programs is needed, those included that components add: with all of them each act
 * succeeds, and without its own one it is refused. Done by accounts of the test's own, with the
 * product's adapters.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { AccessRule } from "../../adapters/kube/client/api_checks.ts";
import {
  accessRuleText,
  type ActOutcome,
  assertDone,
  assertRefused,
  performAct,
  type RoleAct,
  unmatched,
} from "./rbac/role_act.ts";
import { configMapListWatch } from "../../adapters/kube/kinds/config_maps.ts";
import { createDesiredWriter } from "../../adapters/kube/writers/allocation_writers.ts";
import { connectKubeconfig } from "../../adapters/kube/client/connect.ts";
import {
  createEndpointSliceStore,
  createSecretStore,
  createTrustStore,
} from "../../adapters/kube/writers/webhook_stores.ts";
import { createLeaseStore } from "../../adapters/kube/writers/lease_writers.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { sampleDesired } from "../contract/support/sample_objects.ts";
import { createKubectl, type Kubectl } from "./kubectl.ts";
import { AGENT_ACTS } from "./rbac/agent_acts.ts";
import { CONTROLLER_ACTS } from "./rbac/controller_acts.ts";
import { grantedRights, type PolicyRule } from "./rbac/granted_right.ts";
import { PLACEMENT_ACTS, setVolume } from "./rbac/placement_acts.ts";
import { refusedByRBAC } from "./rbac/rbac_refusal.ts";
import { createRoleCopies, type RoleCopies } from "./rbac/role_copies.ts";
import { type RoleStage, setRoleStage } from "./rbac/role_stage.ts";
import { RIGHTSIZING_ACTS } from "./rbac/rightsizing_acts.ts";
import { CERTIFICATE_ACTS, setWebhookConfiguration, WEBHOOK_ACTS } from "./rbac/webhook_acts.ts";
import {
  applyRights,
  componentNames,
  type ManifestObject,
  renderManifests,
  renderWith,
} from "./rendered_manifests.ts";
import { tokenConnector } from "./scene/product/account_token.ts";

/** Stands in for what the admission policy grants to the programs' accounts by their names. */
const EXEMPT: PolicyRule = {
  apiGroups: ["allocation.mbcas.io"],
  resources: ["podallocations"],
  verbs: ["administer"],
};

/** The component that takes rights away, of another one. */
const WITHOUT_CERTIFICATES = "webhook-cert-manager";

/** A program's service account, as the manifests name it. */
type Account = "mbcas-agent" | "mbcas-controller";

/** The accounts with the rights that are tried, one after the other. */
interface Part {
  readonly name: string;
  readonly acts: readonly RoleAct[];
  /** Those that are tried. */
  readonly rights: readonly AccessRule[];
  /** Those that it has beside them: another part's. */
  readonly others: readonly AccessRule[];
}

/**
 * Components that add rights, by what is tried at once: of rightsizing and placement each needs the
 * ConfigMaps, so that the right of one would not be missed beside the other's.
 */
const ADDED = [
  { components: ["rightsizing", "webhook"], acts: [...RIGHTSIZING_ACTS, ...WEBHOOK_ACTS] },
  { components: ["placement"], acts: PLACEMENT_ACTS },
] as const;

/** The manifests as they are rendered. */
interface Rendered {
  /** Without components. */
  readonly base: readonly ManifestObject[];
  /** With all components but the one that takes rights away. */
  readonly whole: readonly ManifestObject[];
  /** With that one, too. */
  readonly certified: readonly ManifestObject[];
  /** With each of {@linkcode ADDED}. */
  readonly added: readonly (readonly ManifestObject[])[];
}

async function render(kubectl: Kubectl): Promise<Rendered> {
  const overlay = "overlays/release";
  const components = componentNames().filter((name) => name !== WITHOUT_CERTIFICATES);
  const [base, whole, certified, ...added] = await Promise.all([
    renderManifests(kubectl, overlay),
    renderWith(kubectl, { overlay, components }),
    // It stands behind the one that it changes.
    renderWith(kubectl, { overlay, components: [...components, WITHOUT_CERTIFICATES] }),
    ...ADDED.map(({ components }) => renderWith(kubectl, { overlay, components })),
  ]);
  return { base, whole, certified, added };
}

/**
 * The programs, and what components add to the controller's rights. Without components the base is
 * tried by itself: one of them has a right for all ConfigMaps, beside which that for one is not missed.
 */
function partsOf({ base, added }: Rendered): readonly Part[] {
  const agent = grantedRights(base, "mbcas-agent");
  const controller = grantedRights(base, "mbcas-controller");
  const before = controller.map(accessRuleText);
  return [
    { name: "mbcas-agent", acts: AGENT_ACTS, rights: agent, others: [] },
    { name: "mbcas-controller", acts: CONTROLLER_ACTS, rights: controller, others: [] },
    ...ADDED.map(({ components, acts }, place) => ({
      name: `mbcas-controller with ${components.join(" and ")}`,
      acts,
      rights: grantedRights(added[place] ?? [], "mbcas-controller")
        .filter((right) => !before.includes(accessRuleText(right))),
      others: controller,
    })),
  ];
}

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
}

async function tryPart(
  { acts, rights, others }: Part,
  { stage, copies }: Scene,
): Promise<readonly Trial[]> {
  const pairs = acts.flatMap((act) => {
    const right = rights.find((one) => accessRuleText(one) === act.right);
    return right === undefined ? [] : [{ act, right }];
  });
  const wholeCopy = copies.copy({ rights: [...others, ...rights], beside: [EXEMPT] });
  // First those that are refused: they find nothing that the others have made.
  const refused = await Promise.all(pairs.map(async ({ act, right }) => {
    const less = [...others, ...rights.filter((one) => one !== right)];
    const connection = await copies.copy({ rights: less, beside: [EXEMPT] });
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
function unmanaged(objects: readonly ManifestObject[]): readonly string[] {
  return objects.filter(({ kind }) => /^(Cluster)?RoleBinding$/.test(kind))
    .flatMap((object) => object["subjects"] as readonly { name: string }[])
    .map(({ name }) => name)
    .filter((name) => !["mbcas-agent", "mbcas-controller"].includes(name));
}

function rightTexts(
  objects: readonly ManifestObject[],
  account: Account,
): readonly string[] {
  return grantedRights(objects, account).map(accessRuleText);
}

Deno.test("each right of the manifests is needed, on a real API server", async (t) => {
  const kubectl = createKubectl();
  await applyRights(kubectl);
  await kubectl.must(["wait", "--for=condition=Established", "crd", "--all", "--timeout=20s"]);
  const rendered = await render(kubectl);
  const { base, whole, certified, added } = rendered;
  const connect = await tokenConnector(kubectl);
  const admin = await connectKubeconfig();
  try {
    await using stage = await setRoleStage(admin);
    await using _configuration = await setWebhookConfiguration(stage);
    await using _volume = await setVolume(stage);
    await using copies = createRoleCopies(stage, connect);
    const tried: (Part & { readonly trials: readonly Trial[] })[] = [];
    // One after the other: each copy asks the server again and again until its rights count.
    for (const part of partsOf(rendered)) {
      tried.push({ ...part, trials: await tryPart(part, { stage, copies }) });
    }

    await t.step("no other account is given rights", () => {
      assert.deepEqual(unmanaged(whole), []);
    });

    await t.step(
      "components take no right away and give the agent none, but for certificates",
      () => {
        assert.deepEqual(rightTexts(whole, "mbcas-agent"), rightTexts(base, "mbcas-agent"));
        const given = rightTexts(whole, "mbcas-controller");
        const before = rightTexts(base, "mbcas-controller");
        assert.deepEqual(before.filter((right) => !given.includes(right)), []);
        const parts = added.map((objects) => rightTexts(objects, "mbcas-controller"));
        for (const one of parts) assert.deepEqual(one, [...new Set(one)], "a right is given twice");
        const tried = new Set(parts.flat());
        assert.deepEqual(
          given.filter((right) => !tried.has(right)),
          [],
          "a component is not tried",
        );
        const own = CERTIFICATE_ACTS.map(({ right }) => right);
        assert.deepEqual(
          rightTexts(certified, "mbcas-controller"),
          given.filter((right) => !own.includes(right)),
        );
      },
    );

    for (const { name, acts, rights, trials } of tried) {
      await t.step(`${name} has no right that no act needs, and each act its right`, () => {
        assert.deepEqual(unmatched(rights, acts), { unused: [], missing: [] });
        assert.ok(trials.length > 0 && trials.length === rights.length);
      });
      for (const { act, right, whole, less } of trials) {
        await t.step(`${name} without "${act.right}" can't ${act.deed}`, () => {
          assertDone(whole);
          assertRefused(less, right);
        });
      }
    }

    await t.step("a right that names its object counts for no other", async () => {
      const connection = await copies.copy({ rights: grantedRights(base, "mbcas-controller") });
      const every = await copies.copy({ rights: grantedRights(whole, "mbcas-controller") });
      const { namespace } = stage;
      const settings = configMapListWatch(connection, { namespace, name: "another" });
      const lease = createLeaseStore(connection, { namespace, name: "another" });
      const secret = createSecretStore(every, { namespace, name: "another", labels: {} });
      const slice = createEndpointSliceStore(every, { namespace, name: "another", labels: {} });
      const trust = createTrustStore(every, { name: "another" });
      const { signal } = new AbortController();
      const named = [lease.read, secret.read, slice.read, trust.read];
      for (const act of [() => settings.list(signal), ...named]) {
        await assert.rejects(act, (error) => error instanceof ApiError && error.status === 403);
      }
    });

    await t.step("what an admission policy refuses is no want of rights", async () => {
      const rights = grantedRights(base, "mbcas-agent");
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
