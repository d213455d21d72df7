/** The sentences of `placement`. */
import { assertTexts } from "../../../tests/fixtures/assert_sentences.ts";
import {
  NOW,
  placedTest,
  placementOf,
  remember,
  SHOP,
} from "../../../tests/fixtures/placement/placed_shop.ts";
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
| What to do: nothing: the next move follows
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
