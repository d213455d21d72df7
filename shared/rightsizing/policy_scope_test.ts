import assert from "node:assert/strict";
import fc from "fast-check";
import {
  LABELS,
  NAMESPACE_LABELS,
  SELECTORS,
  WORKLOADS,
} from "../../tests/fixtures/policy_scene.ts";
import { labelsMatch } from "./label_match.ts";
import { isInScope, reachesNamespace, type WorkloadView } from "./policy_scope.ts";
import type { PolicySelector } from "./policy_spec.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const KINDS = ["Deployment", "StatefulSet", "DaemonSet"] as const;
const WEB: WorkloadView = {
  kind: "Deployment",
  metadata: { namespace: "shop", name: "web", labels: { app: "web" } },
};
const ALL: PolicySelector = { workloadKinds: KINDS };

function inScope(selector: Partial<PolicySelector>, namespaceLabels = { env: "prod" }): boolean {
  return isInScope(WEB, { selector: { ...ALL, ...selector }, namespaceLabels });
}

pure("isInScope() lets deny win over allow, and takes an empty allow for all", () => {
  const names = (allow: string[], deny: string[]) => inScope({ namespaces: { allow, deny } });
  assert.equal(names([], []), true);
  assert.equal(names(["shop"], []), true);
  assert.equal(names(["other"], []), false);
  assert.equal(names([], ["shop"]), false);
  assert.equal(names(["shop"], ["shop"]), false);
  assert.equal(names(["shop"], ["other"]), true);
});

pure(
  "isInScope() reads the labels of the namespace and of the workload, each by its selector",
  () => {
    const app = { matchLabels: { app: "web" }, matchExpressions: [] };
    const env = { matchLabels: { env: "prod" }, matchExpressions: [] };
    assert.equal(inScope({ workloadSelector: app }), true);
    assert.equal(inScope({ workloadSelector: env }), false);
    assert.equal(inScope({ namespaceSelector: env }), true);
    assert.equal(inScope({ namespaceSelector: app }), false);
    assert.equal(inScope({ workloadSelector: app, namespaceSelector: env }), true);
  },
);

pure("isInScope() wants one of the kinds; none is valid, and nothing's", () => {
  assert.equal(inScope({ workloadKinds: ["Deployment"] }), true);
  assert.equal(inScope({ workloadKinds: ["StatefulSet", "DaemonSet"] }), false);
  assert.equal(inScope({ workloadKinds: [] }), false);
});

pure("isInScope() holds of no namespace whose labels are not known, if they are asked for", () => {
  const absent = {
    matchLabels: {},
    matchExpressions: [{ key: "frozen", operator: "DoesNotExist", values: [] } as const],
  };
  const unknown = { namespaceLabels: undefined };
  assert.equal(
    isInScope(WEB, { selector: { ...ALL, namespaceSelector: absent }, ...unknown }),
    false,
  );
  assert.equal(isInScope(WEB, { selector: ALL, ...unknown }), true);
});

pure("property 27: isInScope() is namespaceSelector ∧ workloadSelector ∧ allow ∧ ¬deny", () => {
  const outcomes = new Set<boolean>();
  fc.assert(
    fc.property(SELECTORS, WORKLOADS, LABELS, (selector, workloads, namespaceLabels) => {
      for (const workload of workloads) {
        const { namespace, labels = {} } = workload.metadata;
        const facts = [
          selector.namespaceSelector === undefined ||
          labelsMatch(namespaceLabels, selector.namespaceSelector),
          selector.workloadSelector === undefined ||
          labelsMatch(labels, selector.workloadSelector),
          (selector.namespaces?.allow ?? []).length === 0 ||
          selector.namespaces?.allow.includes(namespace),
          !selector.namespaces?.deny.includes(namespace),
          selector.workloadKinds.includes(workload.kind),
        ];
        const found = isInScope(workload, { selector, namespaceLabels });
        assert.equal(found, !facts.includes(false));
        outcomes.add(found);
      }
    }),
  );
  assert.equal(outcomes.size, 2);
});

pure("property 27: isInScope() never holds for a namespace that is denied, allowed or not", () => {
  fc.assert(fc.property(SELECTORS, WORKLOADS, NAMESPACE_LABELS, (selector, workloads, known) => {
    for (const workload of workloads) {
      const { namespace } = workload.metadata;
      const namespaces = { allow: [namespace], deny: [namespace] };
      const namespaceLabels = known.get(namespace);
      assert.equal(
        isInScope(workload, { selector: { ...selector, namespaces }, namespaceLabels }),
        false,
      );
    }
  }));
});

pure("reachesNamespace() lets a policy out of its own namespace only where that is listed", () => {
  const reach = (policyNamespace: string, policyNamespaces: string[] = []) =>
    reachesNamespace("shop", { policyNamespace, policyNamespaces });
  assert.equal(reach("shop"), true);
  assert.equal(reach("tenant"), false);
  assert.equal(reach("tenant", ["policies"]), false);
  assert.equal(reach("policies", ["policies"]), true);
  // To be listed gives a namespace's policies a reach; it takes none from others.
  assert.equal(reach("tenant", ["shop"]), false);
});
