/**
 * Namespaces with and without the placement label, and the policy over its annotations in force.
 *
 * @module
 */
import type { OpenKubeConnection } from "../../../adapters/kube/client/connection.ts";
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import { workloadCollection } from "../../../adapters/kube/kinds/workloads.ts";
import { ENABLED, SPOT_PERCENTAGE } from "../../../shared/api/placement_keys.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { PlacedKind } from "../../../shared/placement/eligibility.ts";
import { namespaceLabels, type NamespaceValue } from "../../fixtures/placement/worded_workloads.ts";
import { createKubectl, type Kubectl } from "../kubectl.ts";
import { scratchNamespace } from "../scene/scratch_namespace.ts";
import { until } from "../scene/until.ts";
import { installPolicy } from "./installed_policy.ts";
import type { Change } from "./manner.ts";

/** The policy and its binding. */
export const ANNOTATION_POLICY = "spotalis-annotations";

const VALUES: readonly NamespaceValue[] = ["absent", "true", "false", "yes"];

/** The stage while it stands. */
export interface WordedStage extends AsyncDisposable {
  readonly admin: OpenKubeConnection;
  readonly kubectl: Kubectl;
  /** Namespaces, by their label. */
  readonly namespaces: Readonly<Record<NamespaceValue, string>>;
  /** Makes a workload `web` without replicas, or only tries to. */
  create(
    kind: PlacedKind,
    at: { readonly namespace: string; readonly metadata: Change["metadata"]; dryRun?: boolean },
  ): Promise<void>;
  /** Waits until new workloads of the namespace are refused that can't be read. */
  untilRefused(namespace: string): Promise<void>;
}

/** Sets the stage, with the component's policy as it is rendered; where it is installed it stays. */
export async function setWordedStage(): Promise<WordedStage> {
  const kubectl = createKubectl();
  const admin = await connectKubeconfig();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => admin.close());
  stack.use(await installPolicy(kubectl, ANNOTATION_POLICY));

  const made = await Promise.all(VALUES.map(async (value) => {
    const one = stack.use(
      await scratchNamespace(admin, {
        labels: namespaceLabels(value),
        annotations: { "mbcas.io/managed": "false" },
      }),
    );
    return [value, one.name] as const;
  }));

  const create: WordedStage["create"] = async (kind, { namespace, metadata, dryRun = false }) => {
    const labels = { app: "web" };
    const containers = [{ name: "app", image: "busybox:stable" }];
    await admin.request({
      method: "POST",
      path: workloadCollection(kind, namespace),
      query: dryRun ? { dryRun: "All" } : {},
      body: {
        metadata: { name: "web", ...metadata },
        spec: {
          replicas: 0,
          ...(kind === "StatefulSet" ? { serviceName: "web" } : {}),
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers } },
        },
      },
    });
  };

  const untilRefused: WordedStage["untilRefused"] = async (namespace) => {
    const metadata = {
      name: "probe",
      annotations: { [ENABLED]: "true", [SPOT_PERCENTAGE]: "probe" },
    };
    await until(`policy ${ANNOTATION_POLICY} in ${namespace}`, async () => {
      try {
        await create("Deployment", { namespace, metadata, dryRun: true });
        return undefined;
      } catch (error) {
        return error instanceof ApiError && error.message.includes(ANNOTATION_POLICY)
          ? true
          : undefined;
      }
    });
  };

  const namespaces = Object.fromEntries(made) as Record<NamespaceValue, string>;
  for (const value of ["absent", "true", "yes"] as const) await untilRefused(namespaces[value]);
  const standing = stack.move();
  return {
    admin,
    kubectl,
    namespaces,
    create,
    untilRefused,
    [Symbol.asyncDispose]: () => standing[Symbol.asyncDispose](),
  };
}
