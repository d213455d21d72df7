/**
 * Checks of the product's own parts: programs, definitions, clocks, certificates and rates.
 *
 * @module
 */
import { nodeOfAgentLease } from "../../../shared/api/lease.ts";
import type { Node } from "../../../shared/api/node.ts";
import { VERSION } from "../../../shared/version.ts";
import { APP_LABEL, CONTROLLER_LEASE, VERSION_LABEL } from "../../../shared/installation.ts";
import { SYSTEM_NAMESPACE } from "../kube/system_namespace.ts";
import { type Check, check, type Finding } from "./check.ts";
import {
  PRIORITY_LEVEL,
  PROGRAMS,
  type ProgramState,
  type WrittenLease,
} from "../kube/snapshot.ts";

/** A larger difference between clocks makes readings look old, and Leases overdue. */
const MAX_SKEW_MS = 5000;
/** Least time that certificates should be valid: the leader renews them long before. */
const CERTIFICATE_LEFT_MS = 7 * 24 * 3_600_000;

/** The only definition that is required. */
const ALLOCATIONS = "podallocations.allocation.mbcas.io";

const REINSTALL = "apply the manifests of one version, and use the command of that version";

function titleOf({ name }: Pick<ProgramState, "name">): string {
  const kind = name === "mbcas-agent" ? "DaemonSet" : "Deployment";
  return `${kind} ${SYSTEM_NAMESPACE}/${name}`;
}

/** Seconds since the last renewal if that is overdue; twice the duration allows for delays of the server. */
function overdueSeconds(
  { renewTimeMs = 0, writtenAtMs = renewTimeMs, durationSeconds }: WrittenLease,
  nowMs: number,
): number | undefined {
  const seconds = Math.round((nowMs - writtenAtMs) / 1000);
  return seconds > 2 * durationSeconds ? seconds : undefined;
}

/** `in 3 d`, `12 d ago`. */
function distanceText(ms: number): string {
  const days = Math.round(Math.abs(ms) / 86_400_000);
  return ms < 0 ? `${days} d ago` : `in ${days} d`;
}

/** Whether the node can't run DaemonSets: Fargate and virtual kubelets. */
function isVirtual({ labels = {} }: Node): boolean {
  return labels.type === "virtual-kubelet" ||
    labels["eks.amazonaws.com/compute-type"] === "fargate";
}

/** Checks of the installation. */
export const INSTALLATION_CHECKS: readonly Check[] = [
  check({
    name: "programs",
    needs: ["programs", "unready"],
    find: ({ programs, unready }) => {
      const missing = PROGRAMS.filter((name) => !programs.some((one) => one.name === name)).map(
        (name): Finding => ({
          code: "NotInstalled",
          severity: "error",
          object: titleOf({ name }),
          seen: "it does not exist",
          remedy: "install the product: docs/install.md; where it is in another namespace, set " +
            "COALLOC_SYSTEM_NAMESPACE to that",
        }),
      );
      const down = programs.filter(({ ready, wanted }) => ready < wanted).map(
        (program): Finding => {
          const { name, ready, wanted } = program;
          const reasons = unready.filter((pod) => pod.name.startsWith(name)).map((pod) =>
            `${pod.name}: ${pod.reason}`
          );
          return {
            code: "ProgramNotReady",
            severity: ready === 0 || name === "mbcas-agent" ? "error" : "warning",
            object: titleOf(program),
            seen: [`${ready} of ${wanted} pods are ready`, ...reasons].join("; "),
            remedy:
              `kubectl describe pods -n ${SYSTEM_NAMESPACE} -l ${APP_LABEL}=${name}, and their logs`,
          };
        },
      );
      return [...missing, ...down];
    },
  }),
  check({
    name: "versions",
    needs: ["programs", "definitions"],
    find: (parts) => {
      const programs = parts.programs.map((program) => ({
        object: titleOf(program),
        version: program.podLabels[VERSION_LABEL],
      }));
      const definitions = parts.definitions.map(({ name, version }) => ({
        object: `CustomResourceDefinition ${name}`,
        version,
      }));
      return [...programs, ...definitions].flatMap(({ object, version }): Finding[] =>
        version === undefined || version === VERSION ? [] : [{
          code: "VersionDiffers",
          severity: "warning",
          object,
          seen: `version ${version}, and this command is ${VERSION}`,
          remedy: REINSTALL,
        }]
      );
    },
  }),
  check({
    name: "definitions",
    needs: ["definitions", "unknownFields"],
    find: (parts) => {
      // The other definitions belong to optional components.
      const missing = parts.definitions.filter(({ exists, name }) =>
        !exists && name === ALLOCATIONS
      )
        .map(({ name }): Finding => ({
          code: "DefinitionMissing",
          severity: "error",
          object: `CustomResourceDefinition ${name}`,
          seen: "the server has none",
          remedy: "kubectl apply --server-side -k manifests/crds",
        }));
      return parts.unknownFields.length === 0 ? missing : [...missing, {
        code: "DefinitionOutdated",
        severity: "error",
        object: `CustomResourceDefinition ${ALLOCATIONS}`,
        seen: `the server would drop ${parts.unknownFields.join(", ")}`,
        remedy: "kubectl apply --server-side -k manifests/crds",
      }];
    },
  }),
  check({
    name: "Leases",
    needs: ["server", "nodes", "leases"],
    find: ({ server, nodes, leases }) => {
      const controller = leases.find(({ metadata }) => metadata.name === CONTROLLER_LEASE);
      const led = controller !== undefined && controller.holder !== "" &&
        overdueSeconds(controller, server.atMs) === undefined;
      const leader: Finding = {
        code: "NoLeader",
        severity: "error",
        object: `Lease ${SYSTEM_NAMESPACE}/${CONTROLLER_LEASE}`,
        seen: controller === undefined ? "it does not exist" : "no controller renews it",
        remedy:
          `start the controllers: kubectl rollout status deployment/mbcas-controller -n ${SYSTEM_NAMESPACE}`,
      };
      const running = nodes.filter((node) =>
        node.ready && node.os === undefined && !isVirtual(node)
      );
      const silent = running.flatMap(({ metadata: { name } }): Finding[] => {
        const lease = leases.find((one) => nodeOfAgentLease(one) === name);
        const overdue = lease && overdueSeconds(lease, server.atMs);
        if (lease !== undefined && overdue === undefined) return [];
        return [{
          code: "AgentSilent",
          severity: "error",
          object: `Node ${name}`,
          seen: lease === undefined
            ? "no agent has a Lease for it"
            : `its agent has not renewed its Lease for ${overdue} s`,
          remedy: `look at the node's agent: kubectl get pods -n ${SYSTEM_NAMESPACE} -o wide ` +
            `-l ${APP_LABEL}=mbcas-agent`,
        }];
      });
      return led ? silent : [leader, ...silent];
    },
  }),
  check({
    name: "clocks",
    needs: ["leases"],
    find: ({ leases }) =>
      leases.flatMap((lease): Finding[] => {
        const node = nodeOfAgentLease(lease);
        const { renewTimeMs, writtenAtMs } = lease;
        if (node === undefined || renewTimeMs === undefined || writtenAtMs === undefined) return [];
        const skew = renewTimeMs - writtenAtMs;
        return Math.abs(skew) <= MAX_SKEW_MS ? [] : [{
          code: "ClockSkew",
          severity: "warning",
          object: `Node ${node}`,
          seen: `the agent's clock is ${Math.round(Math.abs(skew) / 1000)} s ` +
            `${skew > 0 ? "ahead of" : "behind"} the API server's`,
          remedy: "synchronize the node's clock (chrony, systemd-timesyncd)",
        }];
      }),
  }),
  check({
    name: "agents' views",
    needs: ["agents"],
    find: ({ agents }) =>
      agents.flatMap((agent): Finding[] =>
        "view" in agent ? [] : [{
          code: "AgentUnreachable",
          severity: "warning",
          object: `Pod ${SYSTEM_NAMESPACE}/${agent.pod}`,
          seen: `GET /view: ${agent.problem}`,
          remedy: "port-forward must reach it, and agent and command must be of one version",
        }]
      ),
  }),
  check({
    name: "certificates",
    needs: ["server", "webhook"],
    find: ({ server, webhook }) => {
      const configuration = "MutatingWebhookConfiguration mbcas-webhook";
      const { bundles = [], serving } = webhook ?? {};
      const remedy =
        "let a controller with the component webhook lead: the leader writes caBundle; with " +
        "cert-manager, mend its injector";
      const findings = bundles.flatMap(({ webhook, problem, certificates, signs }): Finding[] => {
        const found = (code: string, why: string): Finding[] => {
          const seen = `caBundle of ${webhook}: ${why}`;
          return [{ code, severity: "error", object: configuration, remedy, seen }];
        };
        if (problem !== undefined || certificates.length === 0) {
          return found("CABundleMissing", problem ?? "there is none");
        }
        const endMs = Math.max(...certificates.map(({ notAfterMs }) => notAfterMs));
        if (endMs <= server.atMs) {
          const ended = distanceText(endMs - server.atMs);
          return found("CABundleExpired", `its certificates ended ${ended}`);
        }
        return signs === false
          ? found("CABundleForeign", "no certificate of it has signed what the webhook serves")
          : [];
      });
      const leftMs = serving && serving.notAfterMs - server.atMs;
      if (leftMs === undefined || leftMs > CERTIFICATE_LEFT_MS) return findings;
      return [...findings, {
        code: "CertificateEnds",
        severity: leftMs <= 0 ? "error" : "warning",
        object: `Secret ${SYSTEM_NAMESPACE}/mbcas-webhook-certificates`,
        seen: `the webhook's certificate ${leftMs <= 0 ? "ended" : "ends"} ${distanceText(leftMs)}`,
        remedy: "the leader renews it: look at the controllers' log for why it did not",
      }];
    },
  }),
  check({
    name: "rate of resizes",
    needs: ["controllerMetrics"],
    find: ({ controllerMetrics }) => {
      const largest = (series: string): number =>
        Math.max(0, ...controllerMetrics.map((one) => one.get(series) ?? 0));
      return largest("mbcas_resize_rate_bottleneck") === 0 ? [] : [{
        code: "ResizeRateSaturated",
        severity: "warning",
        object: titleOf({ name: "mbcas-controller" }),
        seen: `${largest("mbcas_resizes_waiting")} resizes wait, more than 10 s worth of them`,
        remedy: "raise controller.maxResizesPerSecond, if the API server has room for it",
      }];
    },
  }),
  check({
    name: "settings in force",
    needs: ["controllerMetrics"],
    find: ({ controllerMetrics }) =>
      controllerMetrics.every((one) => one.get("mbcas_settings_valid") !== 0) ? [] : [{
        code: "SettingsRefused",
        severity: "error",
        object: `ConfigMap ${SYSTEM_NAMESPACE}/mbcas-config`,
        seen: "a controller refuses the file and works with the settings before it",
        remedy: `kubectl logs -n ${SYSTEM_NAMESPACE} deployment/mbcas-controller names the fault`,
      }],
  }),
  check({
    name: "API priority",
    needs: ["priorityLevels"],
    find: ({ priorityLevels }) =>
      priorityLevels.flatMap(({ name, dispatched, rejected, timedOut, recent }): Finding[] => {
        if (name !== PRIORITY_LEVEL || rejected + timedOut === 0) return [];
        const now = recent === undefined
          ? ""
          : `, ${recent.refused} of them in the last ${recent.seconds} s`;
        return [{
          code: "APIRequestsRejected",
          severity: recent?.refused === 0 ? "info" : "warning",
          object: `PriorityLevelConfiguration ${name}`,
          seen:
            `since the server's start ${rejected} requests rejected and ${timedOut} timed out${now}, ` +
            `of ${dispatched} dispatched`,
          remedy:
            `give the service accounts of ${SYSTEM_NAMESPACE} a FlowSchema and priority level of ` +
            "their own",
        }];
      }),
  }),
];
