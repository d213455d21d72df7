/** The sentences of `placement`. */
import { assertTexts } from "../../../tests/fixtures/assert_sentences.ts";
import {
  NOW,
  placedTest,
  placementOf,
  remember,
  SHOP,
} from "../../../tests/fixtures/placement/placed_shop.ts";
import { placedPod, placedPods } from "../../../tests/fixtures/placement/placed_pods.ts";
import type { MoveDecisionInput } from "../../../shared/placement/decide_move.ts";
import { forecastStep } from "../../../shared/placement/forecast_step.ts";
import type { PlacedPod } from "../../../shared/placement/placed_pod.ts";
import { readStatus, refusedStatus } from "../../../shared/placement/status.ts";
import type { CoallocScene } from "../../../tests/fixtures/cli/coalloc_scene.ts";

const page = (scene: CoallocScene, ...args: string[]) => async (): Promise<string> =>
  (await placementOf(scene, ...args)).slice(1).join("");

placedTest("sentences of placement: pages", SHOP, async (scene) => {
  remember(scene, "short", { shortage: { untilMs: NOW + 60_000, rounds: 1 } });
  remember(scene, "web", { lastMoveAtMs: NOW - 4000 });
  await assertTexts(
    {
      "all": page(scene),
      "one": page(scene, "web"),
      "other namespace": page(scene, "-n", "far"),
    },
    `\
all
| WORKLOAD           SPOT   ON-DEMAND   PENDING   PHASE                                NEXT
| deployment/bad        0           1         0   configuration error                  none: annotation spotalis.io/spot-percentage of the workload is "lots": must be a whole number from 0 to 100, with or without %, for instance 70%
| deployment/late     0/1         2/1         0   outside the window until 02:00:00Z   evict pod late-1 (youngest surplus on-demand) to spot at the earliest 02:00:00Z
| deployment/rest     0/1         2/1         0   paused                               none: spotalis.io/paused is set
| deployment/short    0/1         2/1         0   fallback until 00:01:00Z             evict pod short-1 (youngest surplus on-demand) to spot at the earliest 00:01:00Z
| deployment/wait     0/1         1/1         1   not whole                            none: of 2 replicas 2 are there, 1 Ready, 2 updated; of 2 pods 1 are Ready
| deployment/web      4/3         1/2         0   cooldown until 00:00:06Z             evict pod web-3 (youngest surplus spot) to on-demand at the earliest 00:00:06Z
| statefulset/db      2/1         1/2         0   converging                           evict pod db-0 (misplaced by its ordinal) to on-demand
|
| 1 workload takes no part; -o wide shows it
one
| Deployment shop/web: cooldown until 00:00:06Z, 5 replicas
| MoveCooldown: a replica of the workload was moved a moment ago (it lasts 10 s after a move)
| What to do: nothing: the next one follows
| Spec: 60 % spot; moved at any time
|   spot       ███▒  4 of 3
|   on-demand  █·    1 of 2
| Next: evict pod web-3 (youngest surplus spot) to on-demand at the earliest 00:00:06Z
|
| POD     CLASS       NODE     STATE
| web-0   spot        spot-1   Ready
| web-1   spot        spot-1   Ready
| web-2   spot        spot-1   Ready
| web-3   spot        spot-1   Ready
| web-4   on-demand   od-1     Ready
|
| █ there as specified, ▒ too many, · missing
other namespace
| No workloads are placed here.
|
| No workload of namespace far asks for placement, or placement is off (placement.enabled); the component placement of the manifests turns it on
`,
  );
});

placedTest("sentences of placement: arguments, rights, and a controller that does nothing", [{
  nodes: ["od-1"],
  annotations: { "spot-percentage": "0" },
}], async (scene) => {
  scene.controllerAlive = false;
  await assertTexts(
    {
      "no controller": page(scene),
      "nothing there": page(scene, "web", "-n", "far"),
      "near name": page(scene, "webb"),
      "pod": page(scene, "pod/web"),
      "DaemonSet": page(scene, "ds/log"),
      "workload after -w": page(scene, "-w", "web"),
    },
    `\
no controller
| WORKLOAD         SPOT   ON-DEMAND   PENDING   PHASE          NEXT
| deployment/web    0/0         1/1         0   as specified   -
|
| No controller renews its lease: nothing is placed or moved until one runs
nothing there
| Cannot show placement of web: no workload of namespace far asks for it (spotalis.io/enabled), or placement is off (placement.enabled)
near name
| Cannot show placement of webb: the controller has published no such Deployment or StatefulSet in namespace shop; is it deployment/web?
pod
| Cannot find workload: "pod/web" is neither NAME nor KIND/NAME with a kind of deployment or statefulset; -n names the namespace; see kubectl coalloc placement --help
DaemonSet
| Cannot show placement: "ds/log" is a DaemonSet, and only pods of Deployments and StatefulSets are placed; see kubectl coalloc placement --help
workload after -w
| Cannot run kubectl coalloc placement: option '-w, --watch [interval]' argument 'web' is invalid. Give a duration from 200ms to 1h, for instance 250ms or 2s; put the workload before -w, or write --watch=2s; see kubectl coalloc placement --help
`,
  );
  scene.controllerAlive = true;
  scene.placement.readOnly = true;
  const readOnly = (await placementOf(scene))[1].split("\n").at(-2) ?? "";
  scene.placement.hidden.add("statuses");
  await assertTexts(
    {
      "read-only": () => readOnly,
      "no right": page(scene),
    },
    `\
read-only
  Placement only reads (placement.readOnlyMode): nothing of this is done
no right
| Cannot read what the controller publishes: statuses is forbidden: User "u" cannot list resource "x"; ask an administrator for this right; kubectl auth can-i --list shows what you have
`,
  );
});

/** The next step of a whole Deployment of these pods; half of them belong on spot. */
const step = (pods: readonly PlacedPod[], change: Partial<MoveDecisionInput> = {}) => (): string => {
  const count = pods.filter(({ gone }) => !gone).length;
  const counts = { replicas: count, present: count, ready: count, updated: count };
  const facts = {
    workload: { kind: "Deployment" as const, observed: true, ...counts },
    spec: { spotPercentage: 50, minOnDemand: 0, paused: false },
    ...{ pods, evictionFromMs: NOW, nowMs: NOW, ...change },
  };
  return forecastStep(facts, { cooldownMs: 10_000, shortage: {} }).step?.action ?? "";
};

const RUNNING = placedPods({ spot: 3, "on-demand": 1 });
const BUDGET = "budget web allows no disruption";
const LEAVING = placedPod("web-9", { gone: true, departs: "taint spot-itn", departsSinceMs: NOW });
const STRANDED = placedPod("web-0", {
  ...{ class: "spot", scheduled: false, ready: false, createdAtMs: NOW },
  unschedulableSinceMs: NOW,
});
const SHORTAGE = { sinceMs: NOW - 1, untilMs: NOW + 240_000, rounds: 1 };

Deno.test("sentences of the next step", () =>
  assertTexts(
    {
      "youngest": step(RUNNING),
      "bound": step(
        RUNNING.map((pod) => ({
          ...pod,
          ...(pod.name.endsWith("x3") && { pinned: "its volume" }),
        })),
      ),
      "cordoned": step(RUNNING.map((pod) => ({ ...pod, cordoned: pod.name.endsWith("x1") }))),
      "budget": step(RUNNING.map((pod) => ({ ...pod, budget: BUDGET })), {
        lastMoveAtMs: NOW - 4000,
      }),
      "leaving, budget": step([...RUNNING, { ...LEAVING, budget: BUDGET }]),
      "fallback": step([STRANDED, placedPod("web-1"), { ...STRANDED, uid: "b", name: "web-2" }]),
      "stranded": step([{ ...STRANDED, createdAtMs: 0 }], { shortage: SHORTAGE }),
      "another fallback": step([STRANDED], { shortage: { ...SHORTAGE, untilMs: NOW + 60_000 } }),
      "remade": step([STRANDED], {
        shortage: { ...SHORTAGE, remade: { atMs: NOW - 1, count: 1 } },
      }),
    },
    `\
youngest
  evict pod web-spot-x3 (youngest surplus spot) to on-demand
bound
  evict pod web-spot-x2 (youngest surplus spot that may go) to on-demand
cordoned
  evict pod web-spot-x1 (surplus spot on a cordoned node) to on-demand
budget
  wait until a budget lets one go (pod web-spot-x3: budget web allows no disruption)
leaving, budget
  evict pod web-9 from a node that is about to go (taint spot-itn), once its budget lets it: budget web allows no disruption
fallback
  new pods fall back to on-demand unless pod web-0 and 1 more finds a spot node
stranded
  evict pod web-0 (it finds no spot node) to on-demand
another fallback
  fall back once more unless pod web-0 finds a spot node, made for spot in this fallback
remade
  make pod web-0 again unless it finds a spot node, made for spot in this fallback: is the webhook asked?
`,
  ));

Deno.test("sentences of pods in a status", () => {
  const pods = [
    placedPod("web-1", { pinned: "its affinity allows no spot node", budget: BUDGET }),
    placedPod("web-2", { cordoned: true, ready: false }),
    placedPod("web-3", { scheduled: false }),
    placedPod("web-4", { scheduled: false, unschedulableSinceMs: NOW }),
    LEAVING,
  ];
  const invalid = { reason: "ConfigurationError", message: "" } as const;
  const status = refusedStatus(invalid, () => ({ pods, nowMs: NOW }));
  return assertTexts(
    {
      "pods": () => status.pods.map(({ name, notes }) => [name, ...notes].join("; ")).join("\n"),
      "unreadable": () => readStatus("").message ?? "",
    },
    `\
pods
  web-1; stays: its affinity allows no spot node; budget web allows no disruption
  web-2; not Ready; its node is cordoned
  web-3; has no node yet
  web-4; finds no node since 00:00:00Z
  web-9; its node is about to go (taint spot-itn)
unreadable
  its published status can't be read
`,
  );
});
