/**
 * Faults that only the harness's own cluster can be given, as its processes are at hand, and a second
 * cluster beside it.
 *
 * @module
 */
import { connectTo } from "../../../adapters/kube/client/connection_pool.ts";
import { type Instance, instanceNamed, NETWORK, readSettings } from "../harness/instance.ts";
import {
  awaited,
  openProber,
  startComponent,
  stopComponent,
  waitForComponent,
} from "../harness/running_component.ts";
import { pause, until } from "./until.ts";
import { run } from "../harness/shell.ts";

/** Tests have their own way to say what fails. */
const progress = { say: (): void => {}, now: (): number => performance.now() };

export function clusterInstance(): Instance {
  return instanceNamed(Deno.env.get("COALLOCATOR_CLUSTER") ?? "coallocator");
}

/**
 * Stops the API server for `ms`, does `meanwhile`, starts it and waits until pods reach it: kube-proxy
 * leads to it again up to a minute after it serves, since its own waits double while it is away.
 */
export async function withoutAPIServer(
  ms: number,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const cluster = clusterInstance();
  const settings = await readSettings(cluster);
  if (settings === undefined) throw new Error("Cannot stop the API server: the cluster is not up");
  await stopComponent(cluster, "kube-apiserver");
  try {
    await meanwhile();
    await pause(ms);
  } finally {
    await startComponent(cluster, "kube-apiserver", { settings });
  }
  using prober = await openProber(cluster);
  const wait = awaited(cluster, "kube-apiserver", (probe) => prober.ask(probe));
  await waitForComponent(cluster, wait, { progress });
  const connect = connectTo(`https://${NETWORK.apiService}`);
  await until(
    "way to the API server through its Service",
    () => connect().then(() => true),
    { timeoutMs: 180_000 },
  );
}

/** Moves etcd's revision on and drops all history before it, so that every old version is gone. */
export async function compactHistory(): Promise<void> {
  const { header } = await etcd("kv/put", { key: btoa("/coallocator/mark"), value: btoa("1") });
  await etcd("kv/compaction", { revision: header.revision, physical: true });
}

/** Removes from etcd all with a key that begins so; the prefix ends with a slash. */
export async function deletePrefix(prefix: string): Promise<void> {
  // The first key after them: a slash is followed by a zero.
  await etcd("kv/deleterange", {
    key: btoa(prefix),
    range_end: btoa(`${prefix.slice(0, -1)}0`),
  });
}

async function etcd(
  call: string,
  body: Readonly<Record<string, unknown>>,
): Promise<{ readonly header: { readonly revision: string } }> {
  const answer = await fetch(`${NETWORK.etcd}/v3/${call}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`Cannot call etcd's ${call}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

const MAIN = new URL("../harness/main.ts", import.meta.url).pathname;

/** Runs a command of the harness, such as `up --name second`. */
export function harness(...args: string[]): Promise<string> {
  // Without these variables of the cluster that this runs in.
  const env = { KUBECONFIG: "", COALLOCATOR_CLUSTER: "" };
  return run([Deno.execPath(), "run", "-q", "-A", MAIN, ...args], { env });
}
