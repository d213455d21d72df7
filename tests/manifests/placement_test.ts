/** The component placement: what it turns on, lets through, allows, and refuses at the source. */
import assert from "node:assert/strict";
import { RIGHTSIZING_SETTINGS } from "../../controller/rightsizing/settings.ts";
import { WEBHOOK_SETTINGS } from "../../controller/webhook/settings.ts";
import { placementRights } from "../../controller/placement/connect.ts";
import { readPlacementSpec, SYSTEM_NAMESPACES } from "../../shared/placement/eligibility.ts";
import { PLACEMENT_SETTINGS } from "../../shared/placement/settings.ts";
import { caseText, WORDED_CASES, wordedWorkload } from "../fixtures/placement/worded_workloads.ts";
import { one, render, type Rendered, renderTest, renderWith, rightsOf } from "./rendered.ts";
import { settingOf } from "../../shared/config/setting.ts";

const NAMESPACE = "mbcas-system";
const POLICY = "spotalis-annotations";

function keys(objects: readonly Rendered[]): string[] {
  return objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

const PARTS = [
  "ClusterRole mbcas-placement",
  "ClusterRoleBinding mbcas-placement",
  "Role mbcas-placement",
  "RoleBinding mbcas-placement",
  "ValidatingAdmissionPolicy mbcas-placement-pods",
  `ValidatingAdmissionPolicy ${POLICY}`,
  "ValidatingAdmissionPolicyBinding mbcas-placement-pods",
  `ValidatingAdmissionPolicyBinding ${POLICY}`,
];

function containerOf(objects: readonly Rendered[]) {
  const [container] = one(objects, "Deployment", "mbcas-controller").spec.template.spec.containers;
  return container as typeof container & { readonly ports: readonly unknown[] };
}

renderTest("component placement comes only where it is asked for", async () => {
  const usual = keys(await render("base"));
  const added = keys(await renderWith(["placement"])).filter((key) => !usual.includes(key));
  assert.deepEqual(added.sort(), PARTS);
  for (const overlay of ["base", "overlays/kind", "overlays/release"]) {
    const found = keys(await render(overlay));
    assert.deepEqual(found.filter((key) => PARTS.includes(key)), [], overlay);
  }
});

renderTest("component placement turns the setting on, and opens no port", async () => {
  const [usual, added] = await Promise.all([render("base"), renderWith(["placement"])]);
  const { placement } = PLACEMENT_SETTINGS.shape;
  const { env: name } = settingOf(placement);
  assert.deepEqual([placement.parse(undefined), placement.parse("on")], [false, true]);
  const [before, after] = [containerOf(usual), containerOf(added)];
  assert.deepEqual(after.env, [...before.env, { name, value: "on" }]);
  assert.deepEqual(after.ports, before.ports);
  const policyIn = (objects: readonly Rendered[]) =>
    one(objects, "NetworkPolicy", "mbcas-controller");
  assert.deepEqual(policyIn(added), policyIn(usual));
});

renderTest("component placement gives the rights that are asked for, and no others", async () => {
  const objects = await renderWith(["placement"]);
  const asked = placementRights(NAMESPACE);
  for (const [kind, inside] of [["ClusterRole", false], ["Role", true]] as const) {
    const rights = asked.filter(({ namespace }) => (namespace !== undefined) === inside);
    const texts = rights.map(({ verb, group, resource, subresource }) =>
      `${verb} ${group}/${[resource, subresource].filter(Boolean).join("/")}`
    );
    assert.deepEqual(rightsOf(one(objects, kind, "mbcas-placement")).sort(), texts.sort());
    const { subjects } = one(objects, `${kind}Binding`, "mbcas-placement") as unknown as {
      readonly subjects: readonly unknown[];
    };
    const account = { kind: "ServiceAccount", name: "mbcas-controller", namespace: NAMESPACE };
    assert.deepEqual(subjects, [account]);
  }
  // An account that may not delete pods passes no budget over.
  const all = keys(objects).filter((key) => /^(Cluster)?Role /.test(key)).flatMap((key) => {
    const [kind = "", name = ""] = key.split(" ");
    return rightsOf(one(objects, kind, name));
  });
  assert.deepEqual(all.filter((right) => /^delete(collection)? \/pods/.test(right)), []);
});

renderTest("component placement goes together with all the others, in any order", async () => {
  const others = [
    "rightsizing",
    "webhook",
    "webhook-cert-manager",
    "users",
    "prometheus",
    "alerts",
  ];
  const [before, behind] = await Promise.all([
    renderWith(["placement", ...others]),
    renderWith([...others, "placement"]),
  ]);
  assert.deepEqual(keys(before).sort(), keys(behind).sort());
  const found = keys(before);
  assert.equal(new Set(found).size, found.length);
  const webhooks = [before, behind].map((objects) =>
    one(objects, "MutatingWebhookConfiguration", "mbcas-webhook")
  );
  assert.deepEqual(webhooks[0], webhooks[1]);
  for (const objects of [before, behind]) {
    const { env, ports } = containerOf(objects);
    for (const list of [env, ports] as readonly (readonly { readonly name: string }[])[]) {
      const names = list.map(({ name }) => name);
      assert.equal(new Set(names).size, names.length, names.join());
    }
    assert.deepEqual(
      [
        PLACEMENT_SETTINGS.shape.placement,
        RIGHTSIZING_SETTINGS.shape.rightsizing,
        WEBHOOK_SETTINGS.shape.webhook,
        WEBHOOK_SETTINGS.shape.webhookCertificates,
      ].map((one) => settingOf(one).env).filter((variable) =>
        !(env as readonly { name: string }[]).some(({ name }) => name === variable)
      ),
      [],
    );
  }
});

/** What a policy has. */
interface RenderedPolicy {
  readonly failurePolicy: string;
  readonly matchConstraints: {
    readonly resourceRules: readonly unknown[];
    readonly namespaceSelector: unknown;
  };
  readonly validations: readonly {
    readonly expression: string;
    readonly messageExpression: string;
    readonly message: string;
  }[];
}

async function policy(): Promise<RenderedPolicy> {
  const { spec } = one(await renderWith(["placement"]), "ValidatingAdmissionPolicy", POLICY);
  return spec as unknown as RenderedPolicy;
}

renderTest(
  `policy ${POLICY} is asked about workloads alone, and never where nothing is placed`,
  async () => {
    const { failurePolicy, matchConstraints } = await policy();
    assert.deepEqual(matchConstraints.resourceRules, [{
      apiGroups: ["apps"],
      apiVersions: ["v1"],
      // Nor about their scale and status.
      resources: ["deployments", "statefulsets"],
      operations: ["CREATE", "UPDATE"],
    }]);
    assert.deepEqual(matchConstraints.namespaceSelector, {
      matchExpressions: [{
        key: "kubernetes.io/metadata.name",
        operator: "NotIn",
        values: [...SYSTEM_NAMESPACES, NAMESPACE],
      }],
    });
    assert.equal(failurePolicy, "Ignore");
    const binding = one(
      await renderWith(["placement"]),
      "ValidatingAdmissionPolicyBinding",
      POLICY,
    );
    assert.deepEqual(binding.spec as unknown, { policyName: POLICY, validationActions: ["Deny"] });
  },
);

renderTest(
  `policy ${POLICY} refuses with the parser's messages, and with all of them`,
  async () => {
    const { validations } = await policy();
    const reported = validations.map(({ messageExpression }) => messageExpression);
    const used = new Set<string>();
    for (const one of WORDED_CASES) {
      const reading = readPlacementSpec(wordedWorkload(one));
      const faults = reading.is === "invalid" ? reading.faults : [];
      for (const { of, place, key, remedy } of faults.filter(({ of }) => of === "workload")) {
        const begin = `'${place} ${key} of the ${of} is '`;
        const found = reported.filter((text) =>
          text.startsWith(begin) && text.includes(`: ${remedy}'`)
        );
        assert.equal(found.length, 1, `${caseText(one)}: ${begin} … ${remedy}`);
        for (const text of found) used.add(text);
      }
    }
    assert.deepEqual(reported.filter((text) => !used.has(text)), []);
    // The server wants a message where an expression has line breaks, and reports it where ours fails.
    for (const { expression, message } of validations) {
      assert.ok(!expression.includes("\n") && message.includes("spotalis.io/"), message);
    }
  },
);
