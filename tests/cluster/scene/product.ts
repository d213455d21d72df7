/**
 * The installed product, as tests look at it, set it and disturb it.
 *
 * @module
 */
import { AGENT_PORT, CONTROLLER_PORT } from "../../../shared/installation.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { parseLease } from "../../../adapters/kube/kinds/leases.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import { auditLineSchema } from "../../../shared/audit_log.ts";
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import type { RealNode } from "./real_node.ts";
import { until } from "./until.ts";
import { outputOf, type ProgramOutput } from "../harness/shell.ts";
import { createKubectl } from "../kubectl.ts";
import { stringify } from "yaml";
import type * as z from "zod";

export const PRODUCT_NAMESPACE = "mbcas-system";
const PODS = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods`;
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${PRODUCT_NAMESPACE}/leases`;

export type Component = "mbcas-agent" | "mbcas-controller";

export async function podsOf(
  { connection }: Pick<RealNode, "connection">,
  component: Component,
): Promise<readonly Pod[]> {
  const query = { labelSelector: `app.kubernetes.io/name=${component}` };
  const answer = objectOf(await connection.request({ path: PODS, query }));
  return listOf(answer["items"]).map(parsePod).filter(({ metadata }) => !metadata.terminating);
}

/** The holder of the leader's Lease: a pod's name and an identity of one of its lives; or empty. */
export async function leaseHolder(
  { connection }: Pick<RealNode, "connection">,
): Promise<string> {
  return parseLease(await connection.request({ path: `${LEASES}/mbcas-controller` })).holder;
}

export async function leader(node: Pick<RealNode, "connection">): Promise<string | undefined> {
  const holder = await leaseHolder(node);
  if (holder === "") return undefined;
  const pods = await podsOf(node, "mbcas-controller");
  return pods.find(({ metadata }) => holder.startsWith(metadata.name))?.metadata.name;
}

/** Ends a pod; `graceSeconds` 0 is a crash as far as the API shows. */
export async function deletePod(
  { connection }: Pick<RealNode, "connection">,
  name: string,
  { graceSeconds }: { readonly graceSeconds?: number } = {},
): Promise<void> {
  await connection.request({
    method: "DELETE",
    path: `${PODS}/${name}`,
    ...(graceSeconds === undefined ? {} : { query: { gracePeriodSeconds: String(graceSeconds) } }),
  });
}

/** Resolves when that many pods of the component are ready. */
export async function whenReady(
  node: Pick<RealNode, "connection">,
  component: Component,
  count: number,
): Promise<void> {
  await until(`${count} ready pods of ${component}`, async () => {
    const ready = (await podsOf(node, component)).filter(({ ready }) => ready);
    return ready.length >= count ? true : undefined;
  }, { timeoutMs: 90_000 });
}

const PORTS: Readonly<Record<Component, number>> = {
  "mbcas-agent": AGENT_PORT,
  "mbcas-controller": CONTROLLER_PORT,
};
const kubectl = createKubectl();

/** Values by series, for instance `mbcas_bounds{reason="NodeSize"}`, of each pod of the component. */
export async function metricsByPod(
  node: Pick<RealNode, "connection">,
  component: Component,
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const pods = new Map<string, ReadonlyMap<string, number>>();
  for (const { metadata: { name } } of await podsOf(node, component)) {
    const where = `${name}:${PORTS[component]}`;
    const path = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods/${where}/proxy/metrics`;
    pods.set(name, seriesIn(await kubectl.must(["get", "--raw", path])));
  }
  return pods;
}

export function seriesIn(text: string): ReadonlyMap<string, number> {
  return new Map(
    text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/** Values by series; of several pods the largest, since only one of the controllers works. */
export async function productMetrics(
  node: Pick<RealNode, "connection">,
  component: Component,
): Promise<ReadonlyMap<string, number>> {
  const values = new Map<string, number>();
  for (const series of (await metricsByPod(node, component)).values()) {
    for (const [name, value] of series) {
      values.set(name, Math.max(value, values.get(name) ?? -Infinity));
    }
  }
  return values;
}

/** Lines of the controllers' audit log about the pod, oldest first. */
export async function auditLines(uid: string): Promise<readonly z.infer<typeof auditLineSchema>[]> {
  const controllers = ["-n", PRODUCT_NAMESPACE, "-l", "app.kubernetes.io/name=mbcas-controller"];
  const logs = await kubectl.must(["logs", ...controllers, "--tail=-1"]);
  return logs.split("\n").filter((line) => line.includes('"logger":"audit"') && line.includes(uid))
    .map((line) => auditLineSchema.strict().parse(JSON.parse(line)))
    .toSorted((a, b) => a["@timestamp"] < b["@timestamp"] ? -1 : 1);
}

const PARTS = ["deployment/mbcas-controller", "daemonset/mbcas-agent"];

type Settings = Readonly<Record<string, unknown>>;

/** Replaces the settings file and restarts the programs; the old ones come back in the end. */
export async function withSettings(settings: Settings): Promise<AsyncDisposable> {
  const before = await kubectl.must([
    ...["get", "configmap", "mbcas-config", "-n", PRODUCT_NAMESPACE],
    ...["-o", "jsonpath={.data.config\\.yaml}"],
  ]);
  const restore = (): Promise<void> => apply(before);
  try {
    await apply(stringify(settings));
  } catch (error) {
    // Whatever comes next must not run under half of them.
    await restore();
    throw error;
  }
  return { [Symbol.asyncDispose]: restore };
}

export function withFileSettings(settings: Settings): void {
  let replaced: AsyncDisposable | undefined;
  Deno.test.beforeAll(async () => {
    replaced = await withSettings(settings);
  });
  Deno.test.afterAll(async () => void await replaced?.[Symbol.asyncDispose]());
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

/** For the tests of this file the controller has no pods; afterwards it has as many as before. */
export function pauseControllerMeanwhile(): void {
  const deployment = ["deployment/mbcas-controller", "-n", PRODUCT_NAMESPACE];
  const scaleTo = (replicas: string): Promise<string> =>
    kubectl.must(["scale", ...deployment, `--replicas=${replicas}`]);
  let before = "0";
  Deno.test.beforeAll(async () => {
    before = await kubectl.must(["get", ...deployment, "-o", "jsonpath={.spec.replicas}"]);
    await scaleTo("0");
    const pods = ["pods", "-n", PRODUCT_NAMESPACE, "-l", "app.kubernetes.io/name=mbcas-controller"];
    await kubectl.must(["wait", "--for=delete", "--timeout=60s", ...pods]);
  });
  Deno.test.afterAll(async () => void await scaleTo(before));
}

const ENTRY = new URL("../../../cli/kubectl_coalloc.ts", import.meta.url).pathname;

export function coalloc(...args: string[]): Promise<ProgramOutput> {
  return outputOf([Deno.execPath(), "run", "-q", "-P=cli", ENTRY, ...args]);
}

/** Everything the product installs, by kind; pods and the like go with its namespace. */
export const CLUSTER_KINDS: string = [
  "customresourcedefinitions,clusterroles,clusterrolebindings,priorityclasses",
  "validatingadmissionpolicies,validatingadmissionpolicybindings,mutatingwebhookconfigurations",
].join();

/** Names of the product's objects that have no namespace, its namespace, and what it has elsewhere. */
export async function leftovers(): Promise<readonly string[]> {
  const names = async (...args: string[]): Promise<string[]> =>
    (await kubectl.must(["get", ...args, "-o", "name", "--ignore-not-found"])).split("\n");
  const all = [
    ...await names(CLUSTER_KINDS),
    ...await names("namespaces"),
    ...await names("roles,rolebindings,configmaps,leases,networkpolicies", "-A"),
  ];
  return all.filter((name) => /mbcas|spotalis-annotations/.test(name));
}
