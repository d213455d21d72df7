/**
 * The product under other settings for a while.
 *
 * @module
 */
import { stringify } from "yaml";
import { createKubectl } from "../../kubectl.ts";
import { PRODUCT_NAMESPACE } from "./product.ts";

const kubectl = createKubectl();
const PARTS = ["deployment/mbcas-controller", "daemonset/mbcas-agent"];

type Settings = Readonly<Record<string, unknown>>;

/** Replaces the settings file and restarts the programs; the old ones come back in the end. */
export function withSettings(settings: Settings): Promise<AsyncDisposable> {
  return replaceMeanwhile(settings, apply);
}

/** Limits follow demand, and end at four times the original: for files of the lane `alone`. */
export function withTightLimits(): void {
  let settings: AsyncDisposable | undefined;
  Deno.test.beforeAll(async () => {
    settings = await withSettings({ market: { idleCPU: "tight", burstFactor: 4 } });
  });
  Deno.test.afterAll(async () => void await settings?.[Symbol.asyncDispose]());
}

/** Replaces the settings file, which a controller follows while it runs; the old one comes back. */
export function withLiveSettings(settings: Settings): Promise<AsyncDisposable> {
  return replaceMeanwhile(settings, write);
}

async function replaceMeanwhile(
  settings: Settings,
  put: (text: string) => Promise<unknown>,
): Promise<AsyncDisposable> {
  const before = await kubectl.must([
    ...["get", "configmap", "mbcas-config", "-n", PRODUCT_NAMESPACE],
    ...["-o", "jsonpath={.data.config\\.yaml}"],
  ]);
  const restore = async (): Promise<void> => void await put(before);
  try {
    await put(stringify(settings));
  } catch (error) {
    // Whatever comes next must not run under half of them.
    await restore();
    throw error;
  }
  return { [Symbol.asyncDispose]: restore };
}

function write(text: string): Promise<string> {
  return kubectl.must([
    ...["patch", "configmap", "mbcas-config", "-n", PRODUCT_NAMESPACE],
    ...["-p", JSON.stringify({ data: { "config.yaml": text } })],
  ]);
}

async function apply(text: string): Promise<void> {
  await write(text);
  await kubectl.must(["rollout", "restart", ...PARTS, "-n", PRODUCT_NAMESPACE]);
  for (const part of PARTS) {
    await kubectl.must(["rollout", "status", part, "-n", PRODUCT_NAMESPACE, "--timeout=120s"]);
  }
}
