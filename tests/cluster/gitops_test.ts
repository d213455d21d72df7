/**
 * GitOps: the market changes pods and never what they are made from, so nothing drifts.
 *
 * @module
 */
import assert from "node:assert/strict";
import { createKubectl } from "./kubectl.ts";
import { readyPod, thePod, whenQuota } from "./scene/limits.ts";
import { loadDeployment } from "./scene/load_pod.ts";
import { onNode } from "./scene/real_node.ts";

const OWN = 50;
const kubectl = createKubectl();

Deno.test(
  "kubectl diff finds no drift in a Deployment with pods that the market has resized, and does in a changed one",
  onNode(async (node, namespace) => {
    const manifest = (limit: number): Record<string, unknown> =>
      loadDeployment({
        name: "web",
        namespace: namespace.name,
        containers: [{ name: "load", request: "10m", limit: `${limit}m`, busy: true }],
      });
    await kubectl.must(["apply", "-f", "-"], manifest(OWN));
    const where = ["deployment/web", "-n", namespace.name];
    const stamp = (): Promise<string> =>
      kubectl.must([
        ...["get", ...where],
        ...["-o", "jsonpath={.metadata.generation} {.spec.template}"],
      ]);
    const before = await stamp();
    const pod = await readyPod(node, { namespace: namespace.name, name: "web" });
    const name = { namespace: namespace.name, name: pod.metadata.name };
    await whenQuota(node, name, (quota) => quota > OWN);

    const raised = (await thePod(node, name)).containers[0]?.limits.cpu ?? 0;
    assert.ok(raised > OWN, "the pod's own spec says what is enforced");
    assert.deepEqual(await kubectl.run(["diff", "-f", "-"], manifest(OWN)), {
      ok: true,
      stdout: "",
      stderr: "",
    });
    assert.equal(await stamp(), before);
    const drifted = await kubectl.run(["diff", "-f", "-"], manifest(raised));
    assert.equal(drifted.ok, false);
    assert.match(drifted.stdout, new RegExp(`^\\+.*cpu: ${raised}m`, "m"));
  }),
);
