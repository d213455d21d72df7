/**
 * Usage of some pods' containers in the last 45 minutes, for the contract of `UsageSource`.
 *
 * @module
 */
import type { UsageQuery, WorkloadIdentity } from "../../../controller/rightsizing/ports.ts";

/** Constant usage of one container for a while. */
export interface SceneUse {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** The UID of its workload. */
  readonly uid: string;
  /** From after this to this: minutes before the end of the scene. */
  readonly from: number;
  readonly to: number;
  readonly millicores: number;
  readonly bytes: number;
}

/** The workload that is asked about. */
const SCENE_WORKLOAD: WorkloadIdentity = { kind: "Deployment", name: "web", uid: "uid-web" };

/** Minutes that the scene is long. */
export const SCENE_MINUTES = 45;

/** Between two measurements, ms. */
export const SCENE_STEP_MS = 15_000;

const MI = 2 ** 20;
const LIVE = "web-6d4cf56db6-x2b7z";
const GONE = "web-55c6b7f8d9-bbbbb";
const OTHER = "web-bcd-zzzzz";

const web = { namespace: "shop", uid: SCENE_WORKLOAD.uid };

/**
 * A pod that lives and one that is gone, and much that must not be seen: usage before the window, an
 * init container, another workload with similar pods, another namespace.
 */
export const SCENE: readonly SceneUse[] = [
  use({ ...web, pod: LIVE, container: "app", from: 45, to: 40, cpu: 900, mi: 900 }),
  use({ ...web, pod: LIVE, container: "init", from: 45, to: 28, cpu: 3000, mi: 3000 }),
  use({ ...web, pod: LIVE, container: "app", from: 40, to: 0, cpu: 200, mi: 100 }),
  use({ ...web, pod: LIVE, container: "proxy", from: 45, to: 0, cpu: 50, mi: 20 }),
  use({ ...web, pod: GONE, container: "app", from: 44, to: 10, cpu: 400, mi: 300 }),
  use({
    ...web,
    uid: "uid-bcd",
    pod: OTHER,
    container: "app",
    from: 45,
    to: 0,
    cpu: 5000,
    mi: 5000,
  }),
  use({
    namespace: "other",
    uid: "uid-other",
    pod: "web-6d4cf56db6-22222",
    container: "app",
    from: 45,
    to: 0,
    cpu: 7000,
    mi: 7000,
  }),
];

function use(
  { cpu, mi, ...rest }: Omit<SceneUse, "millicores" | "bytes"> & {
    readonly cpu: number;
    readonly mi: number;
  },
): SceneUse {
  return { ...rest, millicores: cpu, bytes: mi * MI };
}

/** Expected usage in the last 30 minutes. */
export const SCENE_EXPECTED = {
  app: { millicores: { median: 200, max: 400 }, bytes: { min: 100 * MI, max: 300 * MI } },
  proxy: { millicores: { median: 50, max: 50 }, bytes: { min: 20 * MI, max: 20 * MI } },
} as const;

/** Length of the window of {@linkcode sceneQuestion}, ms. */
export const SCENE_WINDOW_MS = 30 * 60_000;

/** The question about it. */
export function sceneQuestion(endMs: number, over: Partial<UsageQuery> = {}): UsageQuery {
  return {
    namespace: "shop",
    workload: SCENE_WORKLOAD,
    pods: [LIVE],
    otherPods: [OTHER],
    containers: ["app", "proxy"],
    window: { fromMs: endMs - SCENE_WINDOW_MS, toMs: endMs },
    ...over,
  };
}

/** Usage at a moment. */
export function usesAt(timeMs: number, endMs: number): readonly SceneUse[] {
  const before = (endMs - timeMs) / 60_000;
  return SCENE.filter(({ from, to }) => before < from && before >= to);
}

/** The moments of measurement, ms since 1970, ascending; the last is the end. */
export function sceneMoments(endMs: number): readonly number[] {
  const count = SCENE_MINUTES * 60_000 / SCENE_STEP_MS;
  return Array.from({ length: count }, (_, at) => endMs - (count - 1 - at) * SCENE_STEP_MS);
}
