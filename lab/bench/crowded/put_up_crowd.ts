/**
 * Puts the crowded scene up on a cluster, and takes it down again.
 *
 * @module
 */
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import type { RequestLog } from "../../simulation/oracle/request_log.ts";
import { scratchNamespace } from "../../../tests/cluster/scene/real_node.ts";
import { until } from "../../../tests/cluster/scene/until.ts";
import { horizontalAutoscaler } from "../services/horizontal_autoscaler.ts";
import { createPriorityClass, removePriorityClass } from "../services/priority_class.ts";
import { encodeRequests, writeStart } from "../services/request_file.ts";
import {
  CROWD,
  type CrowdMember,
  type Place,
  PLACES,
  PRIORITIES,
  SCALE_DOWN_AFTER_S,
  TARGET,
} from "./crowd.ts";
import { memberObject, placeObjects } from "./crowd_objects.ts";

/** The scene while it stands. */
export interface Crowd extends AsyncDisposable {
  /** Names of the namespaces. */
  readonly namespaces: Readonly<Record<Place, string>>;
  /** Reports all services when their requests begin to come, ms of the wall clock. */
  begin(atMs: number): Promise<void>;
}

/** The autoscaler waits for two rounds of metrics, the scaled pod's among them. */
const STANDING = { timeoutMs: 120_000, everyMs: 500 };

/**
 * Makes all objects, and resolves when all run, the unready one too, and the autoscaler has figures.
 */
export async function putUpCrowd(
  connection: KubeConnection,
  load: ReadonlyMap<string, RequestLog>,
): Promise<Crowd> {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "crowded-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const fileOf = (name: string): string => `${folder}/${name}.bin`;
  for (const [name, log] of load) await Deno.writeFile(fileOf(name), encodeRequests(log));
  for (const priority of PRIORITIES) {
    if (!await createPriorityClass(connection, priority)) continue;
    stack.defer(() => removePriorityClass(connection, priority));
  }
  const create = ({ path, body }: { path: string; body: unknown }): Promise<unknown> =>
    connection.request({ method: "POST", path, body });
  const namespaces: Record<Place, string> = { shop: "", batch: "", lab: "" };
  for (const place of PLACES) {
    const namespace = stack.use(await scratchNamespace(connection)).name;
    namespaces[place.name] = namespace;
    for (const object of placeObjects(place, namespace)) await create(object);
    // Before its first count the server refuses every pod.
    await until(`counted quota of ${place.name}`, async () => {
      const path = `/api/v1/namespaces/${namespace}/resourcequotas/cpu`;
      const { status } = objectOf(await connection.request({ path }));
      return objectOf(status)["hard"] === undefined ? undefined : true;
    });
  }
  for (const member of CROWD) {
    await create(memberObject(member, { namespace: namespaces[member.place], folder }));
  }
  for (const member of CROWD) await whenRunning(connection, member, namespaces[member.place]);
  for (const member of CROWD) await scale(connection, member, namespaces[member.place]);
  const whole = stack.move();
  return {
    namespaces,
    begin: async (atMs) => {
      for (const name of load.keys()) await writeStart(fileOf(name), atMs);
    },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}

async function whenRunning(
  connection: KubeConnection,
  { name, kind, replicas, neverReady = false }: CrowdMember,
  namespace: string,
): Promise<void> {
  const path = kind === "Pod"
    ? `/api/v1/namespaces/${namespace}/pods/${name}`
    : `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
  await until(`running ${name}`, async () => {
    const status = objectOf(objectOf(await connection.request({ path })).status);
    if (kind !== "Pod") return status["readyReplicas"] === replicas ? true : undefined;
    return status["phase"] === "Running" && (neverReady || holds(status, "Ready")) || undefined;
  }, STANDING);
}

/** After its Deployment: what the HPA first sees of it is then one replica that is ready. */
async function scale(
  connection: KubeConnection,
  { name, mostReplicas: most }: CrowdMember,
  namespace: string,
): Promise<void> {
  if (most === undefined) return;
  const path = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
  const options = { most, target: TARGET, scaleDownAfterS: SCALE_DOWN_AFTER_S };
  await connection.request({ method: "POST", path, body: horizontalAutoscaler(name, options) });
  await until(`figures for the autoscaler of ${name}`, async () => {
    const { status } = objectOf(await connection.request({ path: `${path}/${name}` }));
    return holds(objectOf(status), "ScalingActive") || undefined;
  }, STANDING);
}

function holds(status: Readonly<Record<string, unknown>>, type: string): boolean {
  return listOf(status["conditions"]).map(objectOf).some((condition) =>
    condition["type"] === type && condition["status"] === "True"
  );
}
