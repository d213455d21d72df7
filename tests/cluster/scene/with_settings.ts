/**
 * The product under other settings for a while.
 *
 * @module
 */
import { stringify } from "yaml";
import { createKubectl } from "../kubectl.ts";
import { PRODUCT_NAMESPACE } from "./product.ts";

const kubectl = createKubectl();
const PARTS = ["deployment/mbcas-controller", "daemonset/mbcas-agent"];

/** Replaces the settings file and restarts the programs; the old ones come back in the end. */
export async function withSettings(
  settings: Readonly<Record<string, unknown>>,
): Promise<AsyncDisposable> {
  const before = await kubectl.must([
    ...["get", "configmap", "mbcas-config", "-n", PRODUCT_NAMESPACE],
    ...["-o", "jsonpath={.data.config\\.yaml}"],
  ]);
  try {
    await apply(stringify(settings));
  } catch (error) {
    // Whatever comes next must not run under half of them.
    await apply(before);
    throw error;
  }
  return { [Symbol.asyncDispose]: () => apply(before) };
}

async function apply(text: string): Promise<void> {
  await kubectl.must([
    ...["patch", "configmap", "mbcas-config", "-n", PRODUCT_NAMESPACE],
    ...["-p", JSON.stringify({ data: { "config.yaml": text } })],
  ]);
  await kubectl.must(["rollout", "restart", ...PARTS, "-n", PRODUCT_NAMESPACE]);
  for (const part of PARTS) {
    await kubectl.must(["rollout", "status", part, "-n", PRODUCT_NAMESPACE, "--timeout=120s"]);
  }
}
