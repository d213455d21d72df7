/**
 * The VerticalPodAutoscaler's own recommender and updater, as its release has them.
 *
 * @module
 */
import { type BinaryFolders, cacheFolder } from "../../../tests/cluster/harness/install/binary.ts";
import {
  type BuildableBinary,
  buildBinary,
  goSource,
} from "../../../tests/cluster/harness/install/build_binary.ts";
import type { Progress } from "../../../tests/cluster/harness/progress.ts";
import { isExecutable, run } from "../../../tests/cluster/harness/shell.ts";

/** Its version, as the Go module has it. */
export const VPA_VERSION = "v1.8.1";

const MODULE = "k8s.io/autoscaler/vertical-pod-autoscaler";
/** About how long the first build takes on two cores; the second has little left to do. */
const BUILD_SECONDS = { recommender: 200, updater: 15 } as const;
const PROGRAMS = ["recommender", "updater"] as const;
const CRDS = "vpa-v1-crd-gen.yaml";

/** What is needed to obtain the programs. */
export interface VPAOptions {
  readonly folders: BinaryFolders;
  /** The PATH in which `go` is looked for. */
  readonly path: string;
  readonly progress: Progress;
}

function folderOf(folders: BinaryFolders): string {
  return `${cacheFolder(folders)}/vertical-pod-autoscaler/${VPA_VERSION}`;
}

/** Builds what is not in the cache yet. Needs the network, so it can't be done in the cluster's. */
export async function obtainVPA({ folders, path, progress }: VPAOptions): Promise<void> {
  const folder = folderOf(folders);
  await Deno.mkdir(folder, { recursive: true });
  for (const program of PROGRAMS) {
    const target = `${folder}/${program}`;
    if (await isExecutable(target)) continue;
    await buildBinary(binaryOf(program), { target, folders, path, progress });
  }
  const { folder: source } = await goSource({ module: MODULE, version: VPA_VERSION }, { path });
  await Deno.writeFile(`${folder}/${CRDS}`, await Deno.readFile(`${source}/deploy/${CRDS}`));
}

function binaryOf(program: typeof PROGRAMS[number]): BuildableBinary {
  return {
    name: `VPA ${program}`,
    package: `${MODULE}/pkg/${program}`,
    module: MODULE,
    version: VPA_VERSION,
    buildSeconds: BUILD_SECONDS[program],
  };
}

/** What runs them. */
export interface RunVPAOptions {
  readonly folders: BinaryFolders;
  /** Of an administrator. */
  readonly kubeconfig: string;
  /** Gets a log of each. */
  readonly logs: string;
}

/**
 * Makes its kinds known and runs both programs with their defaults until disposed of. Without its
 * admission controller: a pod that were recreated would come back as the user wrote it.
 */
export async function runVPA(
  { folders, kubeconfig, logs }: RunVPAOptions,
): Promise<AsyncDisposable> {
  const folder = folderOf(folders);
  const crds = `${folder}/${CRDS}`;
  await run(["kubectl", "apply", "--server-side", "-f", crds]);
  await run(["kubectl", "wait", "--for=condition=Established", "--timeout=30s", "-f", crds]);
  const flags = { recommender: [], updater: ["--use-admission-controller-status=false"] };
  const children = PROGRAMS.map((program) =>
    new Deno.Command("sh", {
      args: [
        ...["-c", 'log=$1; shift; exec "$@" >"$log" 2>&1', "run", `${logs}/vpa-${program}.log`],
        ...[`${folder}/${program}`, `--kubeconfig=${kubeconfig}`, ...flags[program]],
      ],
      stdin: "null",
    }).spawn()
  );
  return {
    [Symbol.asyncDispose]: async () => {
      for (const child of children) {
        try {
          child.kill("SIGTERM");
        } catch {
          // It ended by itself; its log says why.
        }
        await child.status;
      }
      await run(["kubectl", "delete", "--ignore-not-found", "-f", crds]);
    },
  };
}
