/**
 * Checks of the API server and of nodes.
 *
 * @module
 */
import { isOldKubelet } from "../../../shared/resize/checks/platform.ts";
import { type Check, check, type Finding, type Severity } from "./check.ts";
import type { KubeletState } from "../kube/snapshot.ts";

/** Kubernetes versions that the product's tests cover. */
const MIN_MINOR = 33;
const TESTED_MINOR = 36;
/** Minor versions by which a kubelet may be older than the server; it may not be newer. */
const MAX_SKEW = 3;

/** A fault of a node's settings, and its remedy. */
interface NodeFault {
  readonly code: string;
  readonly severity: Severity;
  readonly seen: (kubelet: KubeletState) => string | false | undefined;
  readonly remedy: string;
}

const NODE_FAULTS: readonly NodeFault[] = [
  {
    code: "KubeletUnreachable",
    severity: "warning",
    seen: ({ problem }) => problem,
    remedy:
      "let the API server reach port 10250 of the node: logs, exec and port-forward need it too",
  },
  {
    code: "CPUQuotaOff",
    severity: "error",
    seen: ({ cpuCFSQuota }) =>
      cpuCFSQuota === false && "cpuCFSQuota is false: no CPU limit is enforced",
    remedy: "set cpuCFSQuota: true in the kubelet's configuration",
  },
  {
    code: "StaticCPUManager",
    severity: "warning",
    seen: ({ cpuManagerPolicy }) =>
      cpuManagerPolicy === "static" &&
      "cpuManagerPolicy is static: Guaranteed pods with whole CPUs can't be resized",
    remedy: "keep such pods out of the market, which is the default, and out of rightsizing",
  },
  {
    code: "CgroupV1",
    severity: "info",
    seen: ({ cgroupVersion }) =>
      cgroupVersion === 1 && "cgroup v1: there is no CPU pressure (PSI) to read",
    remedy:
      "move the node to cgroup v2: kubelets since 1.35 refuse v1 unless failCgroupV1 is false",
  },
  {
    code: "CgroupfsDriver",
    severity: "info",
    seen: ({ cgroupVersion, cgroupDriver }) =>
      cgroupVersion === 2 && cgroupDriver === "cgroupfs" && "cgroup v2 with the driver cgroupfs",
    remedy:
      "use the driver systemd where systemd is the node's init, so that one program owns the tree",
  },
];

function minorOf(version: string | undefined): number | undefined {
  const minor = /^v?1\.(\d+)/.exec(version ?? "")?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** One finding for all kubelets that the user may not read. */
function hiddenKubelets(kubelets: readonly KubeletState[]): readonly Finding[] {
  const hidden = kubelets.filter(({ missingRight }) => missingRight !== undefined);
  const [first, ...others] = hidden;
  if (first?.missingRight === undefined) return [];
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return [{
    code: "KubeletSettingsHidden",
    severity: "warning",
    object: `Node ${first.node}${more}`,
    seen: `${first.missingRight}: version and driver of cgroups, cpuCFSQuota, the CPU manager's ` +
      "policy and clusterDNS were not looked at",
    remedy: "let an administrator run doctor, or grant that right in a ClusterRole",
  }];
}

/** Checks of the platform. */
export const PLATFORM_CHECKS: readonly Check[] = [
  check({
    name: "server version",
    needs: ["server"],
    find: ({ server: { version } }) => {
      const minor = minorOf(version);
      const finding = { object: `API server ${version}`, seen: `version ${version}` };
      if (minor === undefined || minor >= MIN_MINOR && minor <= TESTED_MINOR) return [];
      return minor < MIN_MINOR
        ? [{
          code: "ServerTooOld",
          severity: "error",
          ...finding,
          remedy: `upgrade to 1.${MIN_MINOR} or newer, which serves pods/resize`,
        }]
        : [{
          code: "ServerUntested",
          severity: "info",
          ...finding,
          remedy:
            `versions up to 1.${TESTED_MINOR} were tested: try it with controller.dryRun first`,
        }];
    },
  }),
  check({
    name: "kubelet versions",
    needs: ["server", "nodes"],
    find: ({ server, nodes }) => {
      const newest = minorOf(server.version) ?? TESTED_MINOR;
      return nodes.flatMap(({ metadata: { name }, kubeletVersion: version }): Finding[] => {
        const minor = minorOf(version);
        const found = {
          severity: "warning",
          object: `Node ${name}`,
          seen: `kubelet ${version}`,
        } as const;
        if (isOldKubelet(version)) {
          const remedy = `upgrade it to 1.${MIN_MINOR} or newer: its pods are left alone`;
          return [{ code: "KubeletTooOld", ...found, remedy }];
        }
        if (minor === undefined || minor <= newest && newest - minor <= MAX_SKEW) return [];
        const remedy =
          `bring it within ${MAX_SKEW} minor versions below the server's ${server.version}`;
        return [{ code: "KubeletSkew", ...found, remedy }];
      });
    },
  }),
  check({
    name: "kubelet settings",
    needs: ["kubelets"],
    find: ({ kubelets }) => [
      ...kubelets.flatMap((kubelet) =>
        NODE_FAULTS.flatMap(({ seen: see, ...fault }): Finding[] => {
          const seen = see(kubelet);
          return seen ? [{ ...fault, object: `Node ${kubelet.node}`, seen }] : [];
        })
      ),
      ...hiddenKubelets(kubelets),
    ],
  }),
  check({
    name: "sched_ext",
    needs: ["agents"],
    find: ({ agents }) =>
      agents.flatMap((agent): Finding[] =>
        "view" in agent && agent.view.held === "SchedExt"
          ? [{
            code: "SchedExt",
            severity: "error",
            object: `Node ${agent.node}`,
            seen: "a sched_ext scheduler is attached: the kernel does not enforce cpu.max",
            remedy: "detach it, or keep the pods of such nodes out of the market",
          }]
          : []
      ),
  }),
];
