/**
 * Pods of the shipped programs under Pod Security: the controller's meet "restricted"; the agent's do
 * not, and why.
 */
import { createKubectl } from "./kubectl.ts";
import { type ManifestObject, renderManifests } from "./rendered_manifests.ts";
import { PRODUCT_NAMESPACE } from "./scene/product.ts";
import { openRealNode, scratchNamespace } from "./scene/real_node.ts";
import assert from "node:assert/strict";

const kubectl = createKubectl();

type ProgramKind = "DaemonSet" | "Deployment";

/** Namespaces that enforce a level, and why the program's pod is refused there; undefined: it is taken. */
const POD_SECURITY: readonly (readonly [level: string, kind: ProgramKind, why?: RegExp])[] = [
  ["restricted", "Deployment"],
  [
    "restricted",
    "DaemonSet",
    /"restricted:latest": restricted volume types \(volumes "cgroup", "kernel" use .*"hostPath"\)$/,
  ],
  ["baseline", "DaemonSet", /"baseline:latest": hostPath volumes \(volumes "cgroup", "kernel"\)$/],
  ["privileged", "DaemonSet"],
];

/** The pod of a workload, without an account and a priority class of its own. */
function candidate(
  objects: readonly ManifestObject[],
  { kind, namespace }: { readonly kind: ProgramKind; readonly namespace: string },
): Record<string, unknown> {
  const workload = objects.find((object) => object.kind === kind);
  const { template } = workload?.["spec"] as { template: { spec: Record<string, unknown> } };
  const { priorityClassName: _class, serviceAccountName: _account, ...spec } = template.spec;
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "candidate", namespace }, spec };
}

Deno.test("Pod Security of the programs on a real API server", async (t) => {
  using node = await openRealNode();
  const objects = await renderManifests("overlays/release");
  const enforce = "pod-security.kubernetes.io/enforce";
  for (const [level, kind, why] of POD_SECURITY) {
    const verb = why === undefined ? "taken" : "refused for its hostPath alone";
    await t.step(`the pod of the ${kind} is ${verb} in a ${level} namespace`, async () => {
      await using scratch = await scratchNamespace(node.connection, {
        labels: { [enforce]: level },
      });
      const pod = candidate(objects, { kind, namespace: scratch.name });
      const { ok, stderr } = await kubectl.run(["create", "--dry-run=server", "-f", "-"], pod);
      assert.equal(ok, why === undefined, stderr);
      if (why !== undefined) assert.match(stderr.trim(), why);
    });
  }
  await t.step("the product's namespace says that it is privileged, for all modes", async () => {
    const read = ["get", "namespace", PRODUCT_NAMESPACE, "-o", "json"];
    const { metadata }: ManifestObject = JSON.parse(await kubectl.must(read));
    for (const mode of ["enforce", "warn", "audit"]) {
      assert.equal(metadata.labels?.[`pod-security.kubernetes.io/${mode}`], "privileged");
    }
  });
});
