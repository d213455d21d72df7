/**
 * Draws `docs/terminal.svg` from the recording `docs/terminal.cast`; with `--record` it records that
 * anew before, on the cluster of `KUBECONFIG`, where the product runs.
 *
 * @module
 */
import { castText, parseCast } from "./cast.ts";
import { drawTerminal } from "./draw.ts";
import { recordTerminal } from "./record.ts";

const CAST = "docs/terminal.cast";
const PICTURE = "docs/terminal.svg";
const NAMESPACE = "coallocator-demo";
const EXAMPLES = ["-k", "manifests/examples"];
const TITLE = "kubectl coalloc top and explain on a node with busy pods";
const SIZE = { width: 142, height: 23 };
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

async function record(): Promise<string> {
  const within = ["-n", NAMESPACE];
  await kubectl("apply", ...EXAMPLES);
  try {
    await kubectl("wait", ...within, "pod", "--all", "--for=condition=Ready", "--timeout=120s");
    await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
    const pods = (await kubectl("get", "pods", ...within, "-o", "name")).split("\n");
    const busy = pods.find((pod) => pod.includes("cpu-stress-bursty")) ?? "";
    const name = busy.replace("pod/", "");
    const program = `${Deno.execPath()} run -q -P=cli cli/kubectl_coalloc.ts`;
    return castText(
      await recordTerminal([
        {
          typed: `kubectl coalloc top -n ${NAMESPACE} --watch=1s`,
          run: `${program} top -n ${NAMESPACE} --watch=1s`,
          seconds: 14,
        },
        {
          typed: `kubectl coalloc explain ${name} -n ${NAMESPACE}`,
          run: `${program} explain ${name} -n ${NAMESPACE}`,
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
