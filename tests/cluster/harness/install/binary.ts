/**
 * Which binaries the cluster needs, and where they are looked for.
 *
 * @module
 */
import type { ComponentName } from "../components/component.ts";

/** Version of Kubernetes that is run. */
export const KUBERNETES_VERSION = "v1.36.3";

/** A binary that is built from Go modules; containerd comes with the system's packages. */
export type BinaryName = Exclude<ComponentName, "containerd"> | "kubectl";

/** Where one binary comes from. */
export interface Binary {
  readonly name: BinaryName;
  /** Below the cache folder. */
  readonly folder: string;
  /** Go package of its main function. */
  readonly package: string;
  readonly module: string;
  readonly version: string;
  /** Whether dl.k8s.io has it. */
  readonly released: boolean;
  /** About how long a build takes on two cores, in seconds, after those before it in the list. */
  readonly buildSeconds: number;
}

/**
 * All binaries in the order in which they are built: those of one module follow each other, and
 * the first of them pays for what they have in common.
 */
export const BINARIES: readonly Binary[] = [
  kubernetes("kube-apiserver", 490),
  kubernetes("kube-controller-manager", 197),
  kubernetes("kubelet", 41),
  kubernetes("kube-scheduler", 14),
  kubernetes("kube-proxy", 15),
  kubernetes("kubectl", 30),
  {
    name: "etcd",
    // Beside the Kubernetes that it belongs to.
    folder: `kubernetes/${KUBERNETES_VERSION}`,
    package: "go.etcd.io/etcd/server/v3",
    module: "go.etcd.io/etcd/server/v3",
    version: "v3.6.8",
    released: false,
    buildSeconds: 78,
  },
  {
    name: "metrics-server",
    folder: "metrics-server/v0.9.0",
    package: "sigs.k8s.io/metrics-server/cmd/metrics-server",
    module: "sigs.k8s.io/metrics-server",
    version: "v0.9.0",
    released: false,
    buildSeconds: 190,
  },
  {
    name: "coredns",
    folder: "coredns/v1.14.6",
    // A main function with five plugins: the project's own one has those of every cloud.
    package: ".",
    module: "github.com/coredns/coredns",
    version: "v1.14.6",
    released: false,
    buildSeconds: 140,
  },
];

function kubernetes(name: BinaryName, buildSeconds: number): Binary {
  return {
    name,
    folder: `kubernetes/${KUBERNETES_VERSION}`,
    package: `k8s.io/kubernetes/cmd/${name}`,
    module: "k8s.io/kubernetes",
    version: KUBERNETES_VERSION,
    released: true,
    buildSeconds,
  };
}

/** What the environment says about folders. */
export interface BinaryFolders {
  /** `KUBEBUILDER_ASSETS`, when set. */
  readonly assets?: string | undefined;
  /** `XDG_CACHE_HOME`, when set. */
  readonly cacheHome?: string | undefined;
  /** `HOME`. */
  readonly home?: string | undefined;
}

/** The folder that keeps what was downloaded or built. */
export function cacheFolder({ cacheHome, home }: BinaryFolders): string {
  return `${cacheHome || `${home || "/root"}/.cache`}/coallocator`;
}

/** Paths at which a binary may be, best first. */
export function binaryPaths(binary: Binary, folders: BinaryFolders): readonly string[] {
  const cached = `${cacheFolder(folders)}/${binary.folder}/${binary.name}`;
  return folders.assets ? [`${folders.assets}/${binary.name}`, cached] : [cached];
}

/** Where dl.k8s.io has a binary, by architecture as Go names it. */
export function releaseAddress(binary: Binary, architecture: "amd64" | "arm64"): string {
  return `https://dl.k8s.io/${binary.version}/bin/linux/${architecture}/${binary.name}`;
}
