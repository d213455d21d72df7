/** What tokens of agents may write, on a real API server. */
import assert from "node:assert/strict";
import { createKubectl, type Kubectl, kubectlAsServiceAccount } from "./kubectl.ts";
import { applyRights } from "./rendered_manifests.ts";

const admin = createKubectl();
const namespace = `mbcas-policy-${crypto.randomUUID().slice(0, 8)}`;

function allocation(name: string, nodeName: string): Record<string, unknown> {
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name, namespace, labels: { team: "a" }, annotations: { note: "a" } },
    spec: { podName: name, podUID: name, nodeName, namespace },
  };
}

function lease(name: string, metadata: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...metadata, name, namespace: "mbcas-system" },
    spec: { holderIdentity: "policy-test", leaseDurationSeconds: 60 },
  };
}

function limits(cpuLimit: string): unknown {
  return { spec: { desiredCPULimit: cpuLimit, containers: [{ name: "app", cpuLimit }] } };
}

function change(kubectl: Kubectl, name: string, patch: unknown): ReturnType<Kubectl["run"]> {
  const as = ["--type=merge", "-p", JSON.stringify(patch)];
  return kubectl.run(["patch", "pa", name, "-n", namespace, ...as]);
}

/**
 * Asks until the policies say what they should: a policy takes effect some moments after it was
 * made, and the server says nothing when.
 */
async function untilInForce(kubectl: Kubectl): Promise<void> {
  const deadline = Date.now() + 30_000;
  while ((await change(kubectl, "foreign", { metadata: { labels: { probe: "x" } } })).ok) {
    if (Date.now() > deadline) throw new Error("Cannot test the policies: not in force after 30 s");
  }
}

Deno.test("admission policies on a real API server", async (t) => {
  await applyRights(admin);
  const nodes = await admin.must(["get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"]);
  const [node = ""] = nodes.split(" ");
  await admin.must(["create", "namespace", namespace]);
  const token = { namespace: "mbcas-system", serviceAccount: "mbcas-agent" };
  const [agent, agentFile] = await kubectlAsServiceAccount(admin, { ...token, node });
  const [unbound, unboundFile] = await kubectlAsServiceAccount(admin, token);
  try {
    await admin.must(["create", "-f", "-"], allocation("own", node));
    await admin.must(["create", "-f", "-"], allocation("foreign", "another-node"));
    await untilInForce(agent);

    await t.step("an agent writes the desired limits of its own node", async () => {
      const spec = {
        desiredCPULimit: "500m",
        containers: [{ name: "app", cpuLimit: "500m" }],
        market: {
          mode: "uncongested",
          demand: 400,
          need: 400,
          credit: 1,
          reason: "Throttled",
          observedBounds: 1,
        },
      };
      const { ok, stderr } = await change(agent, "own", { spec });
      assert.ok(ok, stderr);
    });

    const foreignWrites: readonly [string, Kubectl, string, unknown, RegExp][] = [
      [
        "another node's limit",
        agent,
        "foreign",
        limits("400m"),
        /spec\.nodeName/,
      ],
      ["with an unbound token", unbound, "own", limits("400m"), /no node/],
      ["a label", agent, "own", { metadata: { labels: { team: "b" } } }, /metadata\.labels/],
      ["a label's removal", agent, "own", { metadata: { labels: null } }, /metadata\.labels/],
      [
        "an annotation",
        agent,
        "own",
        { metadata: { annotations: { x: "1" } } },
        /metadata\.annotations/,
      ],
      ["a finalizer", agent, "own", { metadata: { finalizers: ["mbcas.io/x"] } }, /finalizers/],
      [
        "an owner",
        agent,
        "own",
        {
          metadata: {
            ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "x" }],
          },
        },
        /ownerReferences/,
      ],
      ["the node", agent, "own", { spec: { nodeName: "another-node" } }, /nodeName/],
      ["the pod's name", agent, "own", { spec: { podName: "x" } }, /podName/],
    ];
    for (const [what, kubectl, name, patch, words] of foreignWrites) {
      await t.step(`an agent may not write ${what}`, async () => {
        const { ok, stderr } = await change(kubectl, name, patch);
        assert.equal(ok, false, "it was taken");
        assert.match(stderr, words);
      });
    }

    await t.step(
      "an agent neither creates nor deletes allocations, nor writes a status",
      async () => {
        const made = await agent.run(["create", "-f", "-"], allocation("made", node));
        assert.match(made.stderr, /cannot create resource "podallocations"/);
        const gone = await agent.run(["delete", "pa", "own", "-n", namespace]);
        assert.match(gone.stderr, /cannot delete resource "podallocations"/);
        const may = ["auth", "can-i", "patch", "podallocations", "--subresource=status"];
        assert.equal((await agent.run([...may, "-n", namespace])).stdout.trim(), "no");
      },
    );

    await t.step("an agent writes its own Lease and no other", async () => {
      const dry = ["create", "--dry-run=server", "-f", "-"];
      const uid = await admin.must(["get", "node", node, "-o", "jsonpath={.metadata.uid}"]);
      const owner = { apiVersion: "v1", kind: "Node", name: node, uid };
      const own = await agent.run(dry, lease(`mbcas-agent-${node}`, { ownerReferences: [owner] }));
      assert.ok(own.ok || /already exists/.test(own.stderr), own.stderr);
      for (const name of ["mbcas-agent-another-node", "mbcas-controller"]) {
        const { ok, stderr } = await agent.run(dry, lease(name));
        assert.equal(ok, false, `${name} was taken`);
        assert.match(stderr, /its own Lease only/);
      }
    });

    await t.step(
      "an allocation stands in the namespace of its pod, whoever writes it",
      async () => {
        const stray = { ...allocation("stray", node) };
        stray.spec = { podName: "stray", podUID: "stray", nodeName: node, namespace: "default" };
        const { ok, stderr } = await admin.run(["create", "-f", "-"], stray);
        assert.equal(ok, false, "it was taken");
        assert.match(stderr, /spec\.namespace is default/);
      },
    );

    await t.step("an administrator and the controller change what agents may not", async () => {
      const label = { metadata: { labels: { team: "c" } } };
      assert.ok((await change(admin, "own", label)).ok);
      const [controller, path] = await kubectlAsServiceAccount(admin, {
        namespace: "mbcas-system",
        serviceAccount: "mbcas-controller",
      });
      try {
        const { ok, stderr } = await change(controller, "foreign", label);
        assert.ok(ok, stderr);
        await controller.must(["create", "-f", "-"], allocation("made", "another-node"));
        await controller.must(["delete", "pa", "made", "-n", namespace]);
      } finally {
        await Deno.remove(path);
      }
    });
  } finally {
    await Deno.remove(agentFile);
    await Deno.remove(unboundFile);
    await admin.must(["delete", "namespace", namespace, "--wait=false"]);
  }
});
