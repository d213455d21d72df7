/**
 * Tests of the shipped programs' permissions: their own pods with image, account and permissions, in
 * which only the script is another one. The controller's pods meet Pod Security "restricted"; the
 * agent's do not, and why.
 */
import { PROGRAMS } from "../../tools/build/programs.ts";
import { programEntrypoint } from "./images/program_image.ts";
import { createKubectl } from "./kubectl.ts";
import { applyRights, type ManifestObject, renderManifests } from "./rendered_manifests.ts";
import { PRODUCT_NAMESPACE } from "./scene/product.ts";
import { openRealNode, scratchNamespace } from "./scene/real_node.ts";
import assert from "node:assert/strict";

const kubectl = createKubectl();
const system = "mbcas-system";
const name = `mbcas-probe-${crypto.randomUUID().slice(0, 8)}`;

/** Outcomes of a program's actions: those that it needs, and those that it must not be able to do. */
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
  const objects = await renderManifests("overlays/kind");
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
  const settings = (await renderManifests("overlays/kind")).filter(
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
  } finally {
    await kubectl.run(["delete", "configmap", name, "-n", system]);
  }
});

type ProgramKind = Proof["kind"];

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
