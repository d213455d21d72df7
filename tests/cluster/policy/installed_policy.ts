/**
 * A policy of the component placement in force, whether the component is installed or not.
 *
 * @module
 */
import type { Kubectl } from "../kubectl.ts";
import { renderWith } from "../rendered_manifests.ts";

/** Applies policy and binding as they are rendered; disposing removes them unless they were installed. */
export async function installPolicy(kubectl: Kubectl, policy: string): Promise<AsyncDisposable> {
  const rendered = await renderWith(kubectl, {
    overlay: "overlays/kind",
    components: ["placement"],
  });
  const items = rendered.filter(({ metadata: { name } }) => name === policy);
  const list = { apiVersion: "v1", kind: "List", items };
  const get = ["get", "validatingadmissionpolicy", policy, "-o", "name"];
  const { ok: isInstalled } = await kubectl.run(get);
  await kubectl.must(["apply", "--server-side", "--force-conflicts", "-f", "-"], list);
  return {
    async [Symbol.asyncDispose]() {
      if (!isInstalled) await kubectl.must(["delete", "-f", "-"], list);
    },
  };
}
