/**
 * Draws `docs/terminal.svg` from the recording `docs/terminal.cast`; with `--record` it records that
 * anew before, on the cluster of `KUBECONFIG`, where the product runs.
 *
 * @module
 */
import { withSettings } from "../../tests/cluster/scene/product.ts";
import { type Cast, type CastEvent, castText, drawTerminal, parseCast } from "./draw.ts";

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

/** A command, and how it is shown. */
interface RecordedCommand {
  /** Typed after the prompt. */
  readonly typed: string;
  /** Run by a shell. */
  readonly run: string;
  /** Ends with Ctrl-C after so many seconds; absent: by itself. */
  readonly seconds?: number;
}

/** Between two typed characters, and before Enter and the next command, seconds. */
const KEY = 0.05;
const REST = 2;

/**
 * Runs the commands one after the other in a pseudo-terminal, which `script` of util-linux opens. Throws an
 * `Error` for one that ends with another code than 0.
 */
async function recordTerminal(
  commands: readonly RecordedCommand[],
  { width, height }: Pick<Cast, "width" | "height">,
): Promise<Cast> {
  const events: CastEvent[] = [];
  let at = 0;
  const add = (text: string, after: number): void => {
    at += after;
    events.push({ at, text });
  };
  for (const { typed, run, seconds } of commands) {
    add("\x1b[2J\x1b[H\x1b[1m$\x1b[0m ", 0);
    for (const key of typed) add(key, KEY);
    add("\r\n", 10 * KEY);
    const limit = seconds === undefined ? "" : `timeout --foreground -s INT ${seconds} `;
    const child = new Deno.Command("script", {
      args: ["-qefc", `stty cols ${width} rows ${height}; exec ${limit}${run}`, "/dev/null"],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const begin = performance.now();
    const before = at;
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      at = before + (performance.now() - begin) / 1000;
      add(text, 0);
    }
    const { code } = await child.status;
    // `timeout` ends with 124.
    if (code !== 0 && code !== 124) {
      throw new Error(`Cannot record ${typed}: it ended with ${code}`);
    }
    add("", REST);
  }
  return { width, height, events };
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
