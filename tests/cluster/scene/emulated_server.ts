/**
 * API servers that stand for older ones: the harness's own binary with `--emulated-version`, beside
 * the cluster's server, on its etcd under a prefix of their own. There are neither kubelets nor
 * controllers: a test says itself what those would.
 *
 * @module
 */
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import type { OpenKubeConnection } from "../../../adapters/kube/client/connection.ts";
import { endProcess, livingProcess, readIfThere, startDaemon } from "../harness/daemon.ts";
import { type Instance, NETWORK, readSettings } from "../harness/instance.ts";
import { openProber } from "../harness/running_component.ts";
import { clusterInstance, deletePrefix } from "./harness_access.ts";
import { until } from "./until.ts";

/** Versions that the product supports, oldest first. */
export const SERVER_VERSIONS = ["1.33", "1.34", "1.35", "1.36"] as const;

/** One of them. */
export type ServerVersion = typeof SERVER_VERSIONS[number];

/** Which server. */
export interface EmulatedServerOptions {
  readonly version: ServerVersion;
  /** Feature gates that differ from the version's own. @default {{}} */
  readonly featureGates?: Readonly<Record<string, boolean>>;
}

/** A server that runs; disposing ends it and removes what it stored. */
export interface EmulatedServer extends AsyncDisposable {
  /** As an administrator. */
  readonly connection: OpenKubeConnection;
  /** A file for kubectl. */
  readonly kubeconfig: string;
}

/**
 * The newest binary emulates the feature gates of an older version, but not which admission plugins
 * that had: the one that compares a resize with the node came with 1.36.
 */
const NOT_BEFORE_1_36 = "PodResizeValidator";

/** Characters of a server's log that an error shows. */
const LOG_TAIL = 2000;

/** Starts a server and waits until it is ready. Throws an `Error` with the end of its log. */
export async function startEmulatedServer(options: EmulatedServerOptions): Promise<EmulatedServer> {
  const instance = clusterInstance();
  const binary = (await readSettings(instance))?.binaries["kube-apiserver"];
  if (binary === undefined) throw new Error("Cannot emulate a server: the cluster is not up");
  const { port, name } = freePlace(options);
  const log = `${instance.directory}/logs/${name}.log`;
  const record = `${instance.directory}/run/${name}`;
  const kubeconfig = `${instance.directory}/${name}.kubeconfig`;
  const url = `https://127.0.0.1:${port}`;
  await Deno.writeTextFile(
    kubeconfig,
    (await Deno.readTextFile(instance.kubeconfig)).replace(NETWORK.apiServer, url),
    { mode: 0o600 },
  );
  const end = async (): Promise<void> => {
    const process = await livingProcess(record);
    if (process !== undefined) await endProcess(process);
    await deletePrefix(`/${name}/`);
    for (const file of [kubeconfig, log, record]) await Deno.remove(file);
  };
  const command = [binary, ...serverArguments(instance, { ...options, port, prefix: `/${name}` })];
  await startDaemon({ command, log, record });
  try {
    using prober = await openProber(instance);
    const state = await until(`ready server ${options.version}`, async () => {
      if (await livingProcess(record) === undefined) return "ended";
      const reason = await prober.ask({ url: `${url}/readyz` });
      if (reason === undefined) return "ready";
      throw new Error(reason);
    }, { timeoutMs: 60_000, everyMs: 200 });
    if (state === "ended") {
      const tail = (await readIfThere(log) ?? "").slice(-LOG_TAIL);
      throw new Error(`Cannot emulate a server of ${options.version}: it ended\n${tail}`);
    }
    const connection = await connectKubeconfig({ path: kubeconfig });
    return {
      connection,
      kubeconfig,
      [Symbol.asyncDispose]: async () => {
        connection.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** A free port, and a name that no other server has. */
function freePlace({ version }: EmulatedServerOptions): {
  readonly port: number;
  readonly name: string;
} {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  return { port, name: `emulated-${version}-${port}` };
}

function serverArguments(
  { directory }: Instance,
  { version, featureGates = {}, port, prefix }: EmulatedServerOptions & {
    readonly port: number;
    readonly prefix: string;
  },
): string[] {
  const gates = Object.entries(featureGates).map(([gate, isOn]) => `${gate}=${isOn}`);
  return [
    `--emulated-version=${version}`,
    ...(gates.length === 0 ? [] : [`--feature-gates=${gates.join(",")}`]),
    // No controller makes ServiceAccounts for pods here.
    `--disable-admission-plugins=${
      ["ServiceAccount", ...(version === "1.36" ? [] : [NOT_BEFORE_1_36])].join(",")
    }`,
    `--etcd-servers=${NETWORK.etcd}`,
    `--etcd-prefix=${prefix}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--advertise-address=${NETWORK.node}`,
    "--endpoint-reconciler-type=none",
    `--service-cluster-ip-range=${NETWORK.services}`,
    "--authorization-mode=Node,RBAC",
    "--profiling=false",
    `--client-ca-file=${directory}/pki/ca.crt`,
    `--tls-cert-file=${directory}/pki/kube-apiserver.crt`,
    `--tls-private-key-file=${directory}/pki/kube-apiserver.key`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${directory}/pki/service-account.pub`,
    `--service-account-signing-key-file=${directory}/pki/service-account.key`,
    "-v=0",
  ];
}
