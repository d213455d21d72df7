/**
 * Draws `docs/terminal.svg` from the recording `docs/terminal.cast`; with `--record` it records that
 * anew before, on the cluster of `KUBECONFIG`, where the product runs.
 *
 * @module
 */
import { withSettings } from "../../tests/cluster/scene/product.ts";
import { castText, parseCast } from "./cast.ts";
import { drawTerminal } from "./draw.ts";
import { recordTerminal } from "./record.ts";

const CAST = "docs/terminal.cast";
const PICTURE = "docs/terminal.svg";
const NAMESPACE = "coallocator-demo";
const EXAMPLES = ["-k", "manifests/examples"];
const TITLE = "kubectl coalloc top and explain while a node's CPU is scarce";
const SIZE = { width: 144, height: 25 };
/** Want a core each. */
const STEADY = { name: "cpu-stress-steady", replicas: 3 };
/** The node keeps most of its CPU back, so that the examples make the rest scarce on any machine. */
const SETTINGS = { agent: { reserve: 0.7 } };
/** Busy for 15 s of each minute, from its container's start on. */
const BURSTY = "cpu-stress-bursty";
const BURST_EVERY_MS = 60_000;
/** The recording begins so long before a burst. */
const BEFORE_BURST_MS = 5000;
/** Clearings take some seconds to follow the load. */
const WARM_UP_MS = 30_000;

async function kubectl(...args: readonly string[]): Promise<string> {
  const { success, stdout } = await new Deno.Command("kubectl", {
    args: [...args],
    stderr: "inherit",
  })
    .output();
  if (!success) throw new Error(`Cannot run kubectl ${args.join(" ")}: it failed`);
  return new TextDecoder().decode(stdout).trim();
}

/** A field of the first pod of the Deployment. */
function fieldOf(deployment: string, field: string): Promise<string> {
  const label = `app.kubernetes.io/name=${deployment}`;
  const path = `jsonpath={.items[0].${field}}`;
  return kubectl("get", "pods", "-n", NAMESPACE, "-l", label, "-o", path);
}

async function record(): Promise<string> {
  const within = ["-n", NAMESPACE];
  await using _settings = await withSettings(SETTINGS);
  await kubectl("apply", ...EXAMPLES);
  try {
    await kubectl(
      ...["scale", "deployment", STEADY.name, ...within, `--replicas=${STEADY.replicas}`],
    );
    for (const deployment of [STEADY.name, BURSTY]) {
      await kubectl("rollout", "status", `deployment/${deployment}`, ...within, "--timeout=120s");
    }
    const startedAt = Date.parse(
      await fieldOf(BURSTY, "status.containerStatuses[0].state.running.startedAt"),
    );
    const ready = Date.now() + WARM_UP_MS - startedAt + BEFORE_BURST_MS;
    const burstAt = startedAt + Math.ceil(ready / BURST_EVERY_MS) * BURST_EVERY_MS;
    const waitMs = burstAt - BEFORE_BURST_MS - Date.now();
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const pod = await fieldOf(STEADY.name, "metadata.name");
    const program = `${Deno.execPath()} run -q -P=cli cli/kubectl_coalloc.ts`;
    return castText(
      await recordTerminal([
        {
          typed: `kubectl coalloc top -n ${NAMESPACE} --watch=1s`,
          run: `${program} top -n ${NAMESPACE} --watch=1s`,
          seconds: 16,
        },
        {
          typed: `kubectl coalloc explain ${pod} -n ${NAMESPACE}`,
          run: `${program} explain ${pod} -n ${NAMESPACE}`,
        },
      ], SIZE),
    );
  } finally {
    await kubectl("delete", ...EXAMPLES, "--wait=false");
  }
}

if (Deno.args.includes("--record")) await Deno.writeTextFile(CAST, await record());
const picture = await drawTerminal(parseCast(await Deno.readTextFile(CAST)), { title: TITLE });
await Deno.writeTextFile(PICTURE, picture);
console.log(`${PICTURE}: ${picture.length} characters`);
