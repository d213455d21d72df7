/**
 * Starts, stops and asks single components of a cluster.
 *
 * @module
 */
import { component, COMPONENT_NAMES, type ComponentName, type Probe } from "./component.ts";
import {
  endProcess,
  livingProcess,
  pause,
  type ProcessRecord,
  readIfThere,
  startDaemon,
} from "./daemon.ts";
import { DEFAULT_NAME, type Instance, NETWORK, type Settings } from "./instance.ts";
import { type Progress, seconds } from "./progress.ts";

/** The longest that a component took to serve was 12 s, on a machine busy with builds. */
const PATIENCE_MS = 120_000;
const SAY_AFTER_MS = 5_000;
const ASK_EVERY_MS = 200;

const TAIL_LINES = 15;
const LINE_LENGTH = 300;

function recordFile({ directory }: Instance, name: ComponentName): string {
  return `${directory}/run/${name}`;
}

function logFile({ directory }: Instance, name: ComponentName): string {
  return `${directory}/logs/${name}.log`;
}

export function runningComponent(
  instance: Instance,
  name: ComponentName,
): Promise<ProcessRecord | undefined> {
  return livingProcess(recordFile(instance, name));
}

/** Starts a component inside the namespace, from there; false when it runs already. */
export async function startComponent(
  instance: Instance,
  name: ComponentName,
  { settings }: { readonly settings: Settings },
): Promise<boolean> {
  if (await runningComponent(instance, name) !== undefined) return false;
  const binary = name === "containerd" ? name : settings.binaries[name];
  if (binary === undefined) {
    throw new Error(`Cannot start ${name}: the settings name no binary for it; run up again`);
  }
  await startDaemon({
    command: [binary, ...component(name, instance).args],
    log: logFile(instance, name),
    record: recordFile(instance, name),
  });
  return true;
}

/** Ends a component; false when it does not run. */
export async function stopComponent(instance: Instance, name: ComponentName): Promise<boolean> {
  const record = await runningComponent(instance, name);
  if (record === undefined) return false;
  await endProcess(record);
  return true;
}

export interface Awaited {
  readonly about: string;
  /** Undefined when it is so, otherwise the reason why not. */
  readonly ask: () => Promise<string | undefined>;
  /** The component that ends the wait when it exits; its log explains why. */
  readonly component: ComponentName;
}

/** Waits until a component serves. Throws an `Error` with the end of its log when it does not. */
export async function waitForComponent(
  instance: Instance,
  { about, ask, component }: Awaited,
  { progress }: { readonly progress: Progress },
): Promise<void> {
  const began = progress.now();
  let said = 0;
  for (;;) {
    const reason = await ask();
    if (reason === undefined) return;
    const waited = progress.now() - began;
    const dead = await runningComponent(instance, component) === undefined;
    if (dead || waited > PATIENCE_MS) {
      const what = dead ? `${component} has ended` : `after ${seconds(waited)}: ${reason}`;
      throw new Error(`Cannot bring up ${about}: ${what}\n${await logTail(instance, component)}`);
    }
    if (waited - said >= SAY_AFTER_MS) {
      progress.say(`waiting for ${about}: ${seconds(waited)} (${reason})`);
      said = waited;
    }
    await pause(ASK_EVERY_MS);
  }
}

async function logTail(instance: Instance, name: ComponentName): Promise<string> {
  const text = await readIfThere(logFile(instance, name)) ?? "";
  const lines = text.trimEnd().split("\n").slice(-TAIL_LINES);
  return [
    `The end of ${logFile(instance, name)}:`,
    ...lines.map((line) => `  ${line.slice(0, LINE_LENGTH)}`),
  ].join("\n");
}

/** The input of {@linkcode waitForComponent} for a component's own probe. */
export function awaited(
  instance: Instance,
  name: ComponentName,
  ask: (probe: Probe) => Promise<string | undefined>,
): Awaited {
  return { about: name, ask: () => ask(component(name, instance).probe), component: name };
}

/** Asks as the administrator. */
export interface Prober extends Disposable {
  /** Undefined when it serves, otherwise the reason as a message. */
  ask(probe: Probe): Promise<string | undefined>;
  /** The parsed JSON at a path of the API server. Throws when it does not give it. */
  get(path: string): Promise<unknown>;
}

/** A component that takes longer to answer does not serve. */
const ANSWER_MS = 3_000;

export async function openProber({ directory }: Instance): Promise<Prober> {
  const read = (file: string): Promise<string> => Deno.readTextFile(`${directory}/pki/${file}`);
  const client = Deno.createHttpClient({
    caCerts: [await read("ca.crt")],
    cert: await read("admin.crt"),
    key: await read("admin.key"),
  });
  const fetchText = async (url: string): Promise<string> => {
    const answer = await fetch(url, { client, signal: AbortSignal.timeout(ANSWER_MS) });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`Cannot get ${url}: status ${answer.status} ${reasonIn(text)}`);
    }
    return text;
  };
  return {
    async ask(probe) {
      try {
        if ("url" in probe) await fetchText(probe.url);
        else (await Deno.connect({ transport: "unix", path: probe.socket })).close();
        return undefined;
      } catch (error) {
        return firstLine(error instanceof Error ? error.message : String(error));
      }
    },
    get: async (path) => JSON.parse(await fetchText(`${NETWORK.apiServer}${path}`)),
    [Symbol.dispose]: () => client.close(),
  };
}

/** The check that failed, in the lists that `readyz` gives; otherwise the first line. */
function reasonIn(text: string): string {
  return /^\[-\].*$/m.exec(text)?.[0] ?? firstLine(text);
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}

export interface ClusterStatus {
  readonly ready: boolean;
  /** True when any of its programs runs. */
  readonly running: boolean;
  readonly table: string;
}

export async function clusterStatus(instance: Instance): Promise<ClusterStatus> {
  using prober = await openProber(instance);
  const rows = await Promise.all(
    COMPONENT_NAMES.map((name) => componentRow(instance, name, prober)),
  );
  const reason = await prober.get(`/api/v1/nodes/${instance.nodeName}`).then(notReady, String);
  rows.push([`node ${instance.nodeName}`, "", reason ?? ""]);
  const wide = Math.max(...rows.map(([name]) => name.length));
  return {
    ready: rows.every(([, , reason]) => reason === ""),
    running: rows.some(([, pid]) => /\d/.test(pid)),
    table: [
      ...rows.map(([name, pid, reason]) =>
        `${name.padEnd(wide)}  ${pid.padEnd(8)}${reason === "" ? "ready" : reason}`
      ),
      `kubeconfig ${instance.kubeconfig}, inside the namespace ${instance.namespace}:`,
      `  ${execExample(instance.name)}`,
    ].join("\n"),
  };
}

/** Name, number of the process, and why it is not ready: empty where it is. */
async function componentRow(
  instance: Instance,
  name: ComponentName,
  prober: Prober,
): Promise<[name: string, pid: string, reason: string]> {
  const record = await runningComponent(instance, name);
  if (record === undefined) return [name, "-", "not running"];
  const { probe, statusProbe } = component(name, instance);
  return [name, `${record.pid}`, await prober.ask(statusProbe ?? probe) ?? ""];
}

export function execExample(name: string): string {
  const named = name === DEFAULT_NAME ? "" : `--name ${name} `;
  return `deno task cluster:exec ${named}-- kubectl get pods -A`;
}

interface RawNode {
  readonly spec?: {
    readonly taints?: readonly { readonly key: string; readonly effect: string }[];
  };
  readonly status?: {
    readonly conditions?: readonly { type: string; status: string; message: string }[];
  };
}

/** `undefined` when the node is ready, otherwise the reason as a message. */
export function notReady(node: unknown): string | undefined {
  const { spec, status } = node as RawNode;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined) return "the node has no condition Ready yet";
  if (ready.status !== "True") return ready.message;
  const taint = spec?.taints?.find(({ effect }) => effect !== "PreferNoSchedule");
  return taint === undefined ? undefined : `the node has the taint ${taint.key}`;
}
