/**
 * A recommendation as a VerticalPodAutoscaler of mode `Off`, for tools that read VPAs.
 *
 * @module
 */
import { formatBytes, formatCPU } from "../quantity.ts";
import type { RightsizedWorkload } from "./guards/rightsizing_snapshot.ts";
import type { ContainerRecommendation } from "./recommend.ts";
import { RIGHTSIZING_MANAGER } from "../resize/original_limits.ts";

/** The object, status included, which is written apart. */
export interface PublishedVPA {
  readonly apiVersion: "autoscaling.k8s.io/v1";
  readonly kind: "VerticalPodAutoscaler";
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly [member: string]: unknown;
  };
  readonly spec: {
    readonly targetRef: { readonly apiVersion: "apps/v1"; kind: string; name: string };
    readonly [member: string]: unknown;
  };
  readonly status: {
    readonly conditions: readonly Readonly<Record<string, string>>[];
    readonly recommendation: {
      readonly containerRecommendations: readonly {
        readonly containerName: string;
        readonly target: { readonly cpu: string; readonly memory: string };
      }[];
    };
  };
}

/** Marks the VPAs of this product. */
export const PUBLISHED_LABEL = {
  name: "app.kubernetes.io/managed-by",
  value: "mbcas-controller",
} as const;

/** The longest `metadata.name` (RFC 1123 subdomain). */
const LONGEST_NAME = 253;

/** `optipod-deployment-web`; a name that would be too long is cut, and ends in the workload's UID. */
function nameOf({ kind, metadata: { name, uid } }: PublishedWorkload): string {
  const whole = `${RIGHTSIZING_MANAGER}-${kind.toLowerCase()}-${name}`;
  if (whole.length <= LONGEST_NAME) return whole;
  // A part of a name must not end in a dot or dash before the next one.
  const start = whole.slice(0, LONGEST_NAME - uid.length - 1).replace(/[.-]+$/, "");
  return `${start}-${uid}`;
}

/** The workload that a VPA is about. */
export type PublishedWorkload = Pick<RightsizedWorkload, "kind" | "metadata">;

/** The VPA, mode `Off`, with the recommended requests. A VPA has no place for limits. */
export function publishedVPA(
  workload: PublishedWorkload,
  recommendations: readonly ContainerRecommendation[],
): PublishedVPA {
  const { kind, metadata: { name, namespace, uid } } = workload;
  return {
    apiVersion: "autoscaling.k8s.io/v1",
    kind: "VerticalPodAutoscaler",
    metadata: {
      name: nameOf(workload),
      namespace,
      labels: { [PUBLISHED_LABEL.name]: PUBLISHED_LABEL.value },
      // It is garbage collected with its workload.
      ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid }],
    },
    spec: {
      targetRef: { apiVersion: "apps/v1", kind, name },
      updatePolicy: { updateMode: "Off" },
      // The default recommender would write the status as well.
      recommenders: [{ name: RIGHTSIZING_MANAGER }],
    },
    status: {
      conditions: [{ type: "RecommendationProvided", status: "True" }],
      recommendation: {
        containerRecommendations: recommendations.map(({ container, cpu, memory }) => ({
          containerName: container,
          target: { cpu: formatCPU(cpu), memory: formatBytes(memory) },
        })),
      },
    },
  };
}
