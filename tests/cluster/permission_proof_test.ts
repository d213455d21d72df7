/**
 * What the shipped agent can do and can't: its own pod with its image, account and permissions, in
 * which only the script is another one, and its token by itself.
 */
import assert from "node:assert/strict";
import { PROGRAMS } from "../../tools/build/programs.ts";
import { programEntrypoint } from "./images/program_image.ts";
import { createKubectl, kubectlAsServiceAccount } from "./kubectl.ts";
import { applyRights, renderManifests } from "./rendered_manifests.ts";

const kubectl = createKubectl();
const system = "mbcas-system";
const name = `mbcas-probe-${crypto.randomUUID().slice(0, 8)}`;

/** What the agent needs. */
const NEEDED = {
  "read a cgroup file": "allowed",
  "list the cgroup tree": "allowed",
  "read its token": "allowed",
  "list allocations": "200",
};

/** What it must not be able to do: refused by Deno, or by the API server. */
const REFUSED = {
  "read /etc/passwd": "NotCapable",
  "read /proc/self/environ": "NotCapable",
  "read through a link": "NotCapable",
  "write a cgroup file": "NotCapable",
  "write /tmp": "NotCapable",
  "reach another host": "NotCapable",
  "reach the node": "NotCapable",
  "reach the server's address": "NotCapable",
  "look a name up": "NotCapable",
  "listen elsewhere": "NotCapable",
  "run a program": "NotCapable",
  "load a library": "NotCapable",
  "read the whole environment": "NotCapable",
  "ask for more": "denied",
  "list pods": "403",
  "read a pod": "403",
  "patch a pod": "403",
  "resize a pod": "403",
  "read secrets": "403",
};

interface PodTemplate {
  readonly spec: {
    readonly containers: readonly [Record<string, unknown> & { volumeMounts: unknown[] }];
    readonly volumes: readonly unknown[];
  };
}

/** The pod of the DaemonSet with the probe for its script. */
async function probePod(serverAddress: string): Promise<Record<string, unknown>> {
  const objects = await renderManifests(kubectl, "overlays/kind");
  const daemonSet = objects.find(({ kind }) => kind === "DaemonSet");
  const { template } = daemonSet?.["spec"] as { template: PodTemplate };
  const agent = PROGRAMS.find((program) => program.name === "mbcas-agent");
  const config = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  assert.ok(agent);
  const entrypoint = programEntrypoint(agent, config.permissions[agent.permissions]);
  const { livenessProbe: _alive, readinessProbe: _ready, ...container } =
    template.spec.containers[0];
  return {
    apiVersion: "v1",
    kind: "Pod",
    // Without the agent's labels: the DaemonSet would take it for its own.
    metadata: { name, namespace: system },
    spec: {
      ...template.spec,
      restartPolicy: "Never",
      containers: [{
        ...container,
        command: [...entrypoint.slice(0, -1), "/probe/permission_probe.js"],
        args: [system, name, serverAddress],
        volumeMounts: [...container.volumeMounts, { name: "probe", mountPath: "/probe" }],
      }],
      volumes: [...template.spec.volumes, { name: "probe", configMap: { name } }],
    },
  };
}

async function runProbe(): Promise<unknown> {
  const script = new URL("images/permission_probe.js", import.meta.url).pathname;
  await kubectl.must(["create", "configmap", name, "-n", system, `--from-file=${script}`]);
  const address = ["get", "service", "kubernetes", "-o", "jsonpath={.spec.clusterIP}"];
  const pod = await probePod(await kubectl.must(address));
  await kubectl.must(["create", "-f", "-"], pod);
  const done = "--for=jsonpath={.status.phase}=Succeeded";
  const { ok } = await kubectl.run(["wait", "pod", name, "-n", system, done, "--timeout=60s"]);
  const logs = await kubectl.must(["logs", name, "-n", system]);
  assert.ok(ok, `the probe did not end: ${logs}`);
  return JSON.parse(logs);
}

Deno.test("the shipped agent does what it must and nothing else", async (t) => {
  await applyRights(kubectl);
  // The pod mounts the settings of the installation.
  const settings = (await renderManifests(kubectl, "overlays/kind")).filter(
    ({ kind }) => kind === "ConfigMap",
  );
  for (const object of settings) await kubectl.run(["create", "-f", "-"], object);
  try {
    await t.step(
      "in its pod: reads cgroups and allocations; no files, hosts, programs",
      async () => {
        assert.deepEqual(await runProbe(), { ...NEEDED, ...REFUSED });
      },
    );

    const token = { namespace: system, serviceAccount: "mbcas-agent" };
    const [agent, path] = await kubectlAsServiceAccount(kubectl, token);
    try {
      await t.step("by its token: no access to pods, whatever the verb", async () => {
        for (const verb of ["get", "list", "watch", "create", "update", "patch", "delete"]) {
          for (
            const resource of ["pods", "pods/resize", "pods/exec", "pods/log", "pods/eviction"]
          ) {
            const { stdout } = await agent.run(["auth", "can-i", verb, resource, "-A"]);
            assert.equal(stdout.trim(), "no", `${verb} ${resource}`);
          }
        }
      });

      await t.step("by its token: a pod can neither be read nor patched", async () => {
        const read = await agent.run(["get", "pod", name, "-n", system]);
        assert.match(read.stderr, /Forbidden.*cannot get resource "pods"/);
        const request = ["-n", system, "--type=merge", "-p", '{"metadata":{"labels":{"a":"b"}}}'];
        const patched = await agent.run(["patch", "pod", name, ...request]);
        assert.match(patched.stderr, /Forbidden.*resource "pods"/);
      });
    } finally {
      await Deno.remove(path);
    }
  } finally {
    await kubectl.run(["delete", "pod", name, "-n", system, "--now"]);
    await kubectl.run(["delete", "configmap", name, "-n", system]);
  }
});
