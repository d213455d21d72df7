/** The controller's pods meet Pod Security "restricted"; the agent's do not, and why. */
import assert from "node:assert/strict";
import { createKubectl, type KubectlAnswer } from "./kubectl.ts";
import { type ManifestObject, renderManifests } from "./rendered_manifests.ts";
import { PRODUCT_NAMESPACE } from "./scene/product.ts";

const kubectl = createKubectl();

/** Levels of the Pod Security Standards, the strictest first. */
const LEVELS = ["restricted", "baseline", "privileged"] as const;
type Level = (typeof LEVELS)[number];

function labels(level: Level): Record<string, string> {
  return { "pod-security.kubernetes.io/enforce": level };
}

/** A namespace that enforces this level. Pods are refused until it has its default account. */
async function createNamespace(name: string, level: Level): Promise<void> {
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: labels(level) } };
  await kubectl.must(["create", "-f", "-"], object);
  const made = ["wait", "--for=create", "serviceaccount/default", "-n", name, "--timeout=30s"];
  await kubectl.must(made);
}

/** Tries a workload's pod in a namespace, without an account and a priority class of its own. */
function tryPod(
  objects: readonly ManifestObject[],
  { kind, namespace }: { readonly kind: "DaemonSet" | "Deployment"; readonly namespace: string },
): Promise<KubectlAnswer> {
  const workload = objects.find((object) => object.kind === kind);
  const { template } = workload?.["spec"] as { template: { spec: Record<string, unknown> } };
  const { priorityClassName: _class, serviceAccountName: _account, ...spec } = template.spec;
  const metadata = { name: "candidate", namespace };
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec };
  return kubectl.run(["create", "--dry-run=server", "-f", "-"], pod);
}

/** What a level has against the pod. */
function reasons({ ok, stderr }: KubectlAnswer, level: Level): string {
  assert.equal(ok, false, "it was taken");
  return new RegExp(`violates PodSecurity "${level}:latest": (.*)`).exec(stderr)?.[1] ?? stderr;
}

Deno.test("Pod Security of the programs on a real API server", async (t) => {
  const suffix = crypto.randomUUID().slice(0, 8);
  const namespaceOf = (level: Level): string => `try-${level}-${suffix}`;
  const objects = await renderManifests(kubectl, "overlays/release");
  const attempt = (kind: "DaemonSet" | "Deployment", level: Level): Promise<KubectlAnswer> =>
    tryPod(objects, { kind, namespace: namespaceOf(level) });
  try {
    await Promise.all(LEVELS.map((level) => createNamespace(namespaceOf(level), level)));

    for (const level of LEVELS) {
      await t.step(`the controller's pod is taken in a ${level} namespace`, async () => {
        const { ok, stderr } = await attempt("Deployment", level);
        assert.ok(ok, stderr);
      });
    }
    await t.step("the agent's pod is refused by restricted for its hostPath alone", async () => {
      assert.match(
        reasons(await attempt("DaemonSet", "restricted"), "restricted"),
        /^restricted volume types \(volumes "cgroup", "kernel" use .*"hostPath"\)$/,
      );
    });
    await t.step("the agent's pod is refused by baseline for its hostPath alone", async () => {
      const why = reasons(await attempt("DaemonSet", "baseline"), "baseline");
      assert.match(why, /^hostPath volumes \(volumes "cgroup", "kernel"\)$/);
    });
    await t.step("the agent's pod is taken in a privileged namespace", async () => {
      const { ok, stderr } = await attempt("DaemonSet", "privileged");
      assert.ok(ok, stderr);
    });
    await t.step("the product's namespace says that it is privileged, for all modes", async () => {
      const stated = Object.fromEntries(
        ["enforce", "warn", "audit"].map((mode) =>
          [`pod-security.kubernetes.io/${mode}`, "privileged"] as const
        ),
      );
      const rendered = objects.filter(({ kind }) => kind === "Namespace");
      assert.deepEqual(rendered.map(({ metadata }) => metadata.name), [PRODUCT_NAMESPACE]);
      const read = ["get", "namespace", PRODUCT_NAMESPACE, "-o", "json"];
      const installed: ManifestObject = JSON.parse(await kubectl.must(read));
      for (const { metadata } of [...rendered, installed]) {
        const own = Object.entries(metadata.labels ?? {})
          .filter(([key]) => key.startsWith("pod-security."));
        assert.deepEqual(Object.fromEntries(own), stated);
      }
    });
  } finally {
    const made = LEVELS.map(namespaceOf);
    await kubectl.must(["delete", "namespace", ...made, "--wait=false", "--ignore-not-found"]);
  }
});
