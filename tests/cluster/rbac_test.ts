/**
 * Every right of the programs is needed, those included that components add: with all of them no act is
 * refused, and without its own one each is. Done by accounts of the test's own, with the product's
 * adapters.
 */
import assert from "node:assert/strict";
import type { AccessRule } from "../../adapters/kube/client/api_checks.ts";
import { createKubectl } from "./kubectl.ts";
import {
  AGENT_ACTS,
  CERTIFICATE_ACTS,
  CONTROLLER_ACTS,
  PLACEMENT_ACTS,
  RIGHTSIZING_ACTS,
  type RoleActs,
  WEBHOOK_ACTS,
} from "./rbac/acts.ts";
import {
  accessRuleText,
  createRoleCopies,
  grantedRights,
  type PolicyRule,
  refusalsIn,
  type RoleCopies,
} from "./rbac/rights.ts";
import {
  applyRights,
  componentNames,
  type ManifestObject,
  renderManifests,
  renderWith,
} from "./rendered_manifests.ts";
import { openRealNode, scratchNamespace } from "./scene/real_node.ts";

/** Stands in for what the admission policy grants to the programs' accounts by their names. */
const EXEMPT: PolicyRule = {
  apiGroups: ["allocation.mbcas.io"],
  resources: ["podallocations"],
  verbs: ["administer"],
};

/** The component that takes rights away, of another one. */
const WITHOUT_CERTIFICATES = "webhook-cert-manager";

/**
 * Components that add rights, by what is tried at once: of rightsizing and placement each needs the
 * ConfigMaps, so that the right of one would not be missed beside the other's.
 */
const ADDED: readonly (readonly [components: readonly string[], acts: RoleActs])[] = [
  [["rightsizing", "webhook"], { ...RIGHTSIZING_ACTS, ...WEBHOOK_ACTS }],
  [["placement"], PLACEMENT_ACTS],
];

/** The manifests without components, with all but the one that takes rights away, and with it too. */
interface Rendered {
  readonly base: readonly ManifestObject[];
  readonly whole: readonly ManifestObject[];
  readonly certified: readonly ManifestObject[];
  readonly added: readonly (readonly ManifestObject[])[];
}

async function render(): Promise<Rendered> {
  const overlay = "overlays/release";
  const all = componentNames().filter((name) => name !== WITHOUT_CERTIFICATES);
  const [base, whole, certified, ...added] = await Promise.all([
    renderManifests(overlay),
    renderWith(overlay, { components: all }),
    // It stands behind the one that it changes.
    renderWith(overlay, { components: [...all, WITHOUT_CERTIFICATES] }),
    ...ADDED.map(([components]) => renderWith(overlay, { components })),
  ]);
  return { base, whole, certified, added };
}

function rightTexts(objects: readonly ManifestObject[], account: string): readonly string[] {
  return grantedRights(objects, account).map(accessRuleText);
}

/** Refusals of each act with all rights but its own, and with all. */
async function tryActs(
  acts: RoleActs,
  { rights, others, namespace, copies }: {
    readonly rights: readonly AccessRule[];
    /** Rights of the account beside those that are tried: another part's. */
    readonly others: readonly AccessRule[];
    readonly namespace: string;
    readonly copies: RoleCopies;
  },
): Promise<readonly (readonly [right: string, less: readonly string[], all: readonly string[]])[]> {
  const whole = await copies.copy({ rights: [...others, ...rights], beside: [EXEMPT] });
  return await Promise.all(
    Object.entries(acts).map(async ([own, perform]) => {
      const less = rights.filter((right) => accessRuleText(right) !== own);
      const connection = await copies.copy({ rights: [...others, ...less], beside: [EXEMPT] });
      return [
        own,
        await refusalsIn(connection, (noting) => perform(noting, namespace)),
        await refusalsIn(whole, (noting) => perform(noting, namespace)),
      ] as const;
    }),
  );
}

Deno.test("each right of the manifests is needed, on a real API server", async (t) => {
  const kubectl = createKubectl();
  await applyRights(kubectl);
  const { base, whole, certified, added } = await render();
  using node = await openRealNode();
  const { connection: admin } = node;
  // Out of the market: the installed controller takes no interest in what is made here.
  const marks = { annotations: { "mbcas.io/managed": "false" } };
  await using scratch = await scratchNamespace(admin, marks);
  const { name: namespace } = scratch;
  await using copies = createRoleCopies({ admin, namespace });

  await t.step("no other account is given rights", () => {
    const subjects = whole.filter(({ kind }) => /^(Cluster)?RoleBinding$/.test(kind))
      .flatMap((object) => object["subjects"] as readonly { name: string }[]);
    const names = new Set(subjects.map(({ name }) => name));
    assert.deepEqual([...names].toSorted(), ["mbcas-agent", "mbcas-controller", "mbcas-dashboard"]);
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
      assert.deepEqual(given.filter((right) => !tried.has(right)), [], "a component is not tried");
      const own = Object.keys(CERTIFICATE_ACTS);
      assert.deepEqual(
        rightTexts(certified, "mbcas-controller"),
        given.filter((right) => !own.includes(right)),
      );
    },
  );

  const controller = grantedRights(base, "mbcas-controller");
  const known = controller.map(accessRuleText);
  const parts = [
    {
      name: "mbcas-agent",
      acts: AGENT_ACTS,
      rights: grantedRights(base, "mbcas-agent"),
      others: [],
    },
    // By itself: a component's right for all ConfigMaps would hide that for one.
    {
      name: "mbcas-controller",
      acts: CONTROLLER_ACTS,
      rights: controller,
      others: [],
    },
    ...ADDED.map(([components, acts], place) => ({
      name: `mbcas-controller with ${components.join(" and ")}`,
      acts,
      rights: grantedRights(added[place] ?? [], "mbcas-controller")
        .filter((right) => !known.includes(accessRuleText(right))),
      others: controller,
    })),
  ];
  // One after the other: each copy asks the server again and again until its rights count.
  for (const { name, acts, rights, others } of parts) {
    const beside = { rights, others, namespace, copies };
    for (const [right, less, all] of await tryActs(acts, beside)) {
      await t.step(`${name} needs "${right}"`, () => {
        assert.deepEqual(all, []);
        const [named = ""] = right.split(/ "| in /);
        assert.deepEqual(less, [named]);
      });
    }
  }
});
