/** The controller's pods meet Pod Security "restricted"; the agent's do not, and why. */
import assert from "node:assert/strict";
import { createKubectl } from "./kubectl.ts";
import { renderManifests } from "./rendered_manifests.ts";

const kubectl = createKubectl();

/** The pod of a workload, in a namespace of its own choice and without an account of its own. */
async function podOf(kind: string, namespace: string): Promise<Record<string, unknown>> {
  const objects = await renderManifests(kubectl, "overlays/release");
  const workload = objects.find((object) => object.kind === kind);
  const { template } = workload?.["spec"] as { template: { spec: Record<string, unknown> } };
  const { priorityClassName: _class, serviceAccountName: _account, ...spec } = template.spec;
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "candidate", namespace }, spec };
}

Deno.test("Pod Security of the programs on a real API server", async (t) => {
  const namespace = `mbcas-security-${crypto.randomUUID().slice(0, 8)}`;
  await kubectl.must(["create", "-f", "-"], {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: namespace,
      labels: { "pod-security.kubernetes.io/enforce": "restricted" },
    },
  });
  // Pods are refused until the namespace has its default account.
  const made = ["wait", "--for=create", "serviceaccount/default", "-n", namespace, "--timeout=30s"];
  await kubectl.must(made);
  const dry = ["create", "--dry-run=server", "-f", "-"];
  try {
    await t.step("the controller's pod is taken in a restricted namespace", async () => {
      const { ok, stderr } = await kubectl.run(dry, await podOf("Deployment", namespace));
      assert.ok(ok, stderr);
    });
    await t.step("the agent's pod is refused for its hostPath and nothing else", async () => {
      const { ok, stderr } = await kubectl.run(dry, await podOf("DaemonSet", namespace));
      assert.equal(ok, false);
      const [, reasons = ""] = /violates PodSecurity "restricted:latest": (.*)/.exec(stderr) ?? [];
      assert.match(reasons, /^restricted volume types \(volume "cgroup" uses .*"hostPath"\)$/);
    });
  } finally {
    await kubectl.must(["delete", "namespace", namespace, "--wait=false"]);
  }
});
