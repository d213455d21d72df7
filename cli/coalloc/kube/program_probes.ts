/**
 * Reads the state of programs and kubelets, for `doctor`.
 *
 * @module
 */
import { type ResourcePath, resourcePath } from "../../../adapters/kube/client/connection.ts";
import {
  listOf,
  numberOf,
  objectOf,
  present,
  textOf,
  textsOf,
} from "../../../adapters/kube/client/json_fields.ts";
import type { UserConnection } from "../../../adapters/kube/client/user_connection.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { Clock } from "../../../shared/clock.ts";
import type {
  KubeletState,
  ProgramName,
  ProgramState,
  SnapshotParts,
  UnreadyPod,
} from "./snapshot.ts";
import { inParallel } from "../../../shared/control/in_parallel.ts";
import type { AgentViews, ClusterReader, RecommendationReader } from "../ports.ts";
import {
  AGENT_APP,
  AGENT_PORT,
  APP_LABEL,
  CONTROLLER_DEPLOYMENT,
  CONTROLLER_PORT,
} from "../../../shared/installation.ts";
import { SYSTEM_NAMESPACE } from "./system_namespace.ts";

/** The ports of the reader. */
export interface DiagnosisParts {
  readonly reader: Pick<ClusterReader, "allocations" | "pods" | "settingsText">;
  readonly recommendations: Pick<RecommendationReader, "reports">;
  readonly views: AgentViews;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The ports of all readers of parts, and objects that several of them need. */
export interface Source extends DiagnosisParts {
  readonly connection: UserConnection;
  /** The object or list; undefined where there is none. */
  readonly get: (path: string, query?: Readonly<Record<string, string>>) => Promise<unknown>;
  readonly server: Promise<SnapshotParts["server"]>;
  readonly nodes: Promise<readonly Node[]>;
  /** The pods of each program. */
  readonly programPods: Readonly<Record<ProgramName, Promise<readonly Pod[]>>>;
  /** The items of a list; none where the server does not know the kind. */
  readonly items: (list: ListedObjects) => Promise<readonly unknown[]>;
}

/** A collection, or its objects with the labels. */
export interface ListedObjects extends Omit<ResourcePath, "name" | "subresource"> {
  readonly labelSelector?: string;
}

/** Ports of the programs' servers. */
const PORTS: Readonly<Record<ProgramName, number>> = {
  "mbcas-controller": CONTROLLER_PORT,
  "mbcas-agent": AGENT_PORT,
};
/** A pod or kubelet answers within milliseconds; one that is gone must not delay the others. */
const TIMEOUT_MS = 5000;
/** Nodes that are read at a time: 500 nodes without an answer take a minute and a half. */
export const NODES_AT_ONCE = { concurrency: 32 };

/** Values by series in the text of `/metrics`. */
export function seriesIn(text: string): ReadonlyMap<string, number> {
  return new Map(
    text.split("\n").filter((line) => /^[a-z]/.test(line)).map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/** The kubelets of Ready Linux nodes. */
export async function readKubelets(
  { connection, nodes }: Source,
): Promise<readonly KubeletState[]> {
  const running = (await nodes).filter(({ ready, os }) => ready && os === undefined);
  return await inParallel(running, async ({ metadata: { name: node } }): Promise<KubeletState> => {
    const proxy = resourcePath({ groupVersion: "v1", resource: "nodes", name: node });
    try {
      const [configz, series] = await Promise.all([
        connection.request({ path: `${proxy}/proxy/configz`, timeoutMs: TIMEOUT_MS }),
        connection.request({
          path: `${proxy}/proxy/metrics`,
          parse: seriesIn,
          timeoutMs: TIMEOUT_MS,
        }),
      ]);
      const config = objectOf(objectOf(configz).kubeletconfig);
      const { cpuCFSQuota } = config;
      return {
        node,
        clusterDNS: listOf(config.clusterDNS).flatMap((one) => textOf(one) ?? []),
        ...present("cgroupDriver", textOf(config.cgroupDriver)),
        ...present("cpuManagerPolicy", textOf(config.cpuManagerPolicy)),
        ...(typeof cpuCFSQuota === "boolean" ? { cpuCFSQuota } : {}),
        ...present(
          "cgroupVersion",
          (series as ReturnType<typeof seriesIn>).get("kubelet_cgroup_version"),
        ),
      };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const missing = missingRight(error);
      return {
        node,
        clusterDNS: [],
        ...(missing === undefined ? { problem: error.message } : { missingRight: missing }),
      };
    }
  }, NODES_AT_ONCE);
}

/** The right that the server's message names, in the terms of RBAC. */
export function missingRight({ status, message }: ApiError): string | undefined {
  const [, verb, resource, group] =
    /cannot (\w+) (?:resource|path) "([^"]+)"(?: in API group "([^"]*)")?/.exec(message) ?? [];
  if (status !== 403 || verb === undefined) return undefined;
  return `the right to ${verb} ${resource}${group ? `.${group}` : ""} is missing`;
}

/** The programs that are installed. */
export async function readPrograms({ get }: Source): Promise<readonly ProgramState[]> {
  const kinds = [["deployments", CONTROLLER_DEPLOYMENT], ["daemonsets", AGENT_APP]] as const;
  const found = await Promise.all(kinds.map(async ([resource, name]): Promise<ProgramState[]> => {
    const place = { groupVersion: "apps/v1", namespace: SYSTEM_NAMESPACE, resource, name };
    const raw = await get(resourcePath(place));
    if (raw === undefined) return [];
    const { spec, status } = objectOf(raw);
    const { replicas, template } = objectOf(spec);
    const { readyReplicas, desiredNumberScheduled, numberReady } = objectOf(status);
    return [{
      name,
      wanted: numberOf(replicas) ?? numberOf(desiredNumberScheduled) ?? 0,
      ready: numberOf(readyReplicas) ?? numberOf(numberReady) ?? 0,
      podLabels: textsOf(objectOf(objectOf(template).metadata).labels),
    }];
  }));
  return found.flat();
}

/** The pods of a program. */
export function podsOf(
  reader: Pick<ClusterReader, "pods">,
  program: ProgramName,
): Promise<readonly Pod[]> {
  return reader.pods(SYSTEM_NAMESPACE, `${APP_LABEL}=${program}`);
}

/** The text that a program serves under the path. */
export function podText(
  { connection, signal }: Source,
  { program, name, path }: {
    readonly program: ProgramName;
    readonly name: string;
    readonly path: string;
  },
): Promise<string> {
  return connection.podGet({
    namespace: SYSTEM_NAMESPACE,
    pod: name,
    port: PORTS[program],
    path,
    timeoutMs: TIMEOUT_MS,
    parse: String,
    signal,
  }).then(String);
}

/** Messages of Deno, of musl and of glibc about a name without an address. */
const DNS_ERROR = /dns error|failed to lookup address|name resolution|no such host/i;

/** Pods of the programs that are not ready, with their reasons. */
export async function readUnready(source: Source): Promise<readonly UnreadyPod[]> {
  const programs = Object.keys(PORTS) as readonly ProgramName[];
  const pods = await Promise.all(
    programs.map(async (program) =>
      (await source.programPods[program]).filter(({ ready }) => !ready)
        .map(({ metadata: { name } }) => ({ program, name }))
    ),
  );
  return await inParallel(pods.flat(), async ({ program, name }) => {
    // An unready program answers 503 with the reason.
    const reason = await podText(source, { program, name, path: "/readyz" }).catch((error) => {
      if (error instanceof ApiError) return error.message;
      throw error;
    });
    const place = { groupVersion: "v1", resource: "pods", namespace: SYSTEM_NAMESPACE, name };
    const log = await source.connection.request({
      path: resourcePath({ ...place, subresource: "log" }),
      query: { tailLines: "50" },
      parse: String,
      timeoutMs: TIMEOUT_MS,
    }).catch((error) => {
      // There is no log while the container waits for its image, or the node is down.
      if (error instanceof ApiError && error.status !== 403) return "";
      throw error;
    });
    const dnsError = String(log ?? "").split("\n").findLast((line) => DNS_ERROR.test(line));
    return { name, reason: reason.trim(), ...present("dnsError", dnsError) };
  });
}
