/**
 * What the shipped programs can do and can't: their own pods with image, account and permissions, in
 * which only the script is another one, and the agent's token by itself. The controller's pods meet Pod
 * Security "restricted"; the agent's do not, and why.
 */
import { PROGRAMS } from "../../tools/build/programs.ts";
import { programEntrypoint } from "./images/program_image.ts";
import { connectKubeconfig } from "../../adapters/kube/client/connect.ts";
import { createKubectl, type KubectlAnswer } from "./kubectl.ts";
import { requestToken, tokenKubeconfig } from "./scene/account_token.ts";
import { applyRights, type ManifestObject, renderManifests } from "./rendered_manifests.ts";
import { PRODUCT_NAMESPACE } from "./scene/product.ts";
import assert from "node:assert/strict";

const kubectl = createKubectl();
const system = "mbcas-system";
const name = `mbcas-probe-${crypto.randomUUID().slice(0, 8)}`;

/** What a program is to be asked, and the outcome: what it needs, and what it must not be able to do. */
interface Proof {
  /** As in {@linkcode PROGRAMS}, and of the workload. */
  readonly program: string;
  readonly kind: "DaemonSet" | "Deployment";
  readonly outcomes: Readonly<Record<string, string>>;
}

/** Refused by Deno to both. */
const NEVER: Readonly<Record<string, string>> = {
  "read /etc/passwd": "NotCapable",
  "read /proc/self/environ": "NotCapable",
  "read through a link": "NotCapable",
  "read beside its settings": "NotCapable",
  "write a cgroup file": "NotCapable",
  "write its settings": "NotCapable",
  "write /tmp": "NotCapable",
  "run a program": "NotCapable",
  "load a library": "NotCapable",
  "read the whole environment": "NotCapable",
  "ask for more": "denied",
  // By the API server; a controller lists pods, and reads none by itself.
  "read a pod": "403",
  "patch a pod": "403",
  "delete a pod": "403",
  "read secrets": "403",
};

const AGENT: Proof = {
  program: "mbcas-agent",
  kind: "DaemonSet",
  outcomes: {
    ...NEVER,
    "read a cgroup file": "allowed",
    "list the cgroup tree": "allowed",
    "read its settings": "allowed",
    "read its token": "allowed",
    "list allocations": "200",
    "reach another host": "NotCapable",
    "reach the node": "NotCapable",
    "reach the server's address": "NotCapable",
    "look a name up": "NotCapable",
    "listen elsewhere": "NotCapable",
    "list nodes": "403",
    "list pods": "403",
    "resize a pod": "403",
  },
};

/** Which hosts it reaches is for its NetworkPolicy: a Prometheus may be anywhere. */
const CONTROLLER: Proof = {
  program: "mbcas-controller",
  kind: "Deployment",
  outcomes: {
    ...NEVER,
    "read a cgroup file": "NotCapable",
    "list the cgroup tree": "NotCapable",
    "read its settings": "allowed",
    "read its token": "allowed",
    "list allocations": "200",
    "list nodes": "200",
    "list pods": "200",
    "resize a pod": "200",
  },
};

interface PodTemplate {
  readonly spec: {
    readonly containers: readonly [Record<string, unknown> & { volumeMounts: unknown[] }];
    readonly volumes: readonly unknown[];
  };
}

/** The pod of the program's workload with the probe for its script. */
async function probePod(
  { program, kind, outcomes }: Proof,
  serverAddress: string,
): Promise<Record<string, unknown>> {
  const objects = await renderManifests(kubectl, "overlays/kind");
  const workload = objects.find((one) => one.kind === kind && one.metadata.name === program);
  const { template } = workload?.["spec"] as { template: PodTemplate };
  const known = PROGRAMS.find((one) => one.name === program);
  const config = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  assert.ok(known);
  const entrypoint = programEntrypoint(known, config.permissions[known.permissions]);
  const { livenessProbe: _alive, readinessProbe: _ready, ...container } =
    template.spec.containers[0];
  return {
    apiVersion: "v1",
    kind: "Pod",
    // Without the program's labels: its workload would take it for its own.
    metadata: { name, namespace: system },
    spec: {
      ...template.spec,
      restartPolicy: "Never",
      containers: [{
        ...container,
        command: [...entrypoint.slice(0, -1), "/probe/permission_probe.js"],
        args: [system, name, serverAddress, ...Object.keys(outcomes)],
        volumeMounts: [...container.volumeMounts, { name: "probe", mountPath: "/probe" }],
      }],
      volumes: [...template.spec.volumes, { name: "probe", configMap: { name } }],
    },
  };
}

async function runProbe(proof: Proof): Promise<unknown> {
  const address = ["get", "service", "kubernetes", "-o", "jsonpath={.spec.clusterIP}"];
  const pod = await probePod(proof, await kubectl.must(address));
  await kubectl.must(["create", "-f", "-"], pod);
  try {
    const done = "--for=jsonpath={.status.phase}=Succeeded";
    const { ok } = await kubectl.run(["wait", "pod", name, "-n", system, done, "--timeout=60s"]);
    const logs = await kubectl.must(["logs", name, "-n", system]);
    assert.ok(ok, `the probe did not end: ${logs}`);
    return JSON.parse(logs);
  } finally {
    await kubectl.run(["delete", "pod", name, "-n", system, "--now"]);
  }
}

Deno.test("the shipped agent and controller do what they must and nothing else", async (t) => {
  await applyRights(kubectl);
  const script = new URL("images/permission_probe.js", import.meta.url).pathname;
  // The pod mounts the settings of the installation.
  const settings = (await renderManifests(kubectl, "overlays/kind")).filter(
    ({ kind }) => kind === "ConfigMap",
  );
  for (const object of settings) await kubectl.run(["create", "-f", "-"], object);
  try {
    await kubectl.must(["create", "configmap", name, "-n", system, `--from-file=${script}`]);
    await t.step(
      "the controller in its pod: reads pods and resizes them; no cgroups, files, programs",
      async () => assert.deepEqual(await runProbe(CONTROLLER), CONTROLLER.outcomes),
    );
    await t.step(
      "the agent in its pod: reads cgroups and allocations; no files, hosts, programs, pods",
      async () => assert.deepEqual(await runProbe(AGENT), AGENT.outcomes),
    );

    const connection = await connectKubeconfig();
    const account = { namespace: system, account: "mbcas-agent" };
    const token = await requestToken(connection, account).finally(() => connection.close());
    {
      await using kubeconfig = await tokenKubeconfig(token);
      const agent = createKubectl({ kubeconfig: kubeconfig.path });
      await t.step("the agent by its token: no access to pods, whatever the verb", async () => {
        for (const verb of ["get", "list", "watch", "create", "update", "patch", "delete"]) {
          for (
            const resource of ["pods", "pods/resize", "pods/exec", "pods/log", "pods/eviction"]
          ) {
            const { stdout } = await agent.run(["auth", "can-i", verb, resource, "-A"]);
            assert.equal(stdout.trim(), "no", `${verb} ${resource}`);
          }
        }
      });

      await t.step("the agent by its token: a pod can neither be read nor patched", async () => {
        const read = await agent.run(["get", "pod", name, "-n", system]);
        assert.match(read.stderr, /Forbidden.*cannot get resource "pods"/);
        const request = ["-n", system, "--type=merge", "-p", '{"metadata":{"labels":{"a":"b"}}}'];
        const patched = await agent.run(["patch", "pod", name, ...request]);
        assert.match(patched.stderr, /Forbidden.*resource "pods"/);
      });
    }
  } finally {
    await kubectl.run(["delete", "configmap", name, "-n", system]);
  }
});

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
