/** The sentences that all commands share. */
import { ApiError } from "../../shared/api/api_error.ts";
import { sampleContainer } from "../../tests/contract/support/sample_objects.ts";
import { assertTexts } from "../../tests/fixtures/assert_sentences.ts";
import {
  addMarketPod,
  type CoallocScene,
  coallocScene,
  type MarketPod,
  printed,
  sceneTest,
} from "../../tests/fixtures/cli/coalloc_scene.ts";
import { pureYAML } from "../../tests/fixtures/pure.ts";
import { explainApiError } from "./api_problem.ts";
import { type PollEnd, pollPod } from "./poll_pod.ts";
import { switchOff } from "./restore/switch_off.ts";
import { runCoalloc } from "./run_coalloc.ts";

const CHANGED = { limit: 450, own: 200 };
const IDLE = { limit: 200, own: 200, recorded: false };
const LOST = { ...CHANGED, recorded: false };

sceneTest("sentences of wrong command lines", async (scene) => {
  await assertTexts(
    printed(
      scene,
      ...["-n shop", "tap", "top --sot x", "top -w web-0", "top -w -o csv"],
      ...["explain", "explain a/b/c", "explain web -l app=web"],
      ...["restore", "restore --all -l app=web"],
      ...["resize web", "resize web --cpu-limit 0.1 --cpu-limit app=200m"],
      "resize web --cpu-limit app=1 --cpu-limit app=2",
      ...["placement pod/web", "placement ds/log", "placement -w web"],
      ...["recommend pod/web", "recommend --policy /a"],
    ),
    `\
-n shop
| Cannot run kubectl coalloc: no command is named; see kubectl coalloc --help
tap
| Cannot run kubectl coalloc: unknown command 'tap' (Did you mean top?); see kubectl coalloc --help
top --sot x
| Cannot run kubectl coalloc top: unknown option '--sot' (Did you mean --sort?); see kubectl coalloc top --help
top -w web-0
| Cannot run kubectl coalloc top: option '-w, --watch [interval]' argument 'web-0' is invalid. Give a duration from 200ms to 1h, for instance 250ms or 2s; put pods before -w, or write --watch=2s; see kubectl coalloc top --help
top -w -o csv
| Cannot top: --watch and -o csv exclude each other, since each view would repeat the heads; -o json writes a line for each view; see kubectl coalloc top --help
explain
| Cannot find pod: name one, or give --selector; see kubectl coalloc explain --help
explain a/b/c
| Cannot find pod: "a/b/c" is not the name of a pod; see kubectl coalloc explain --help
explain web -l app=web
| Cannot explain: a name and --selector exclude each other; see kubectl coalloc explain --help
restore
| Cannot restore: name a pod, or give --selector, -n NAMESPACE or --all; see kubectl coalloc restore --help
restore --all -l app=web
| Cannot restore: --selector and --all exclude each other; see kubectl coalloc restore --help
resize web
| Cannot run kubectl coalloc resize: required option '--cpu-limit <[container=]quantity>' not specified; see kubectl coalloc resize --help
resize web --cpu-limit 0.1 --cpu-limit app=200m
| Cannot resize: --cpu-limit 0.1 names no container; write it as in --cpu-limit app=0.1; see kubectl coalloc resize --help
resize web --cpu-limit app=1 --cpu-limit app=2
| Cannot resize: container app has several limits; give --cpu-limit once per container; see kubectl coalloc resize --help
placement pod/web
| Cannot find workload: "pod/web" is neither NAME nor KIND/NAME with a kind of deployment or statefulset; -n names the namespace; see kubectl coalloc placement --help
placement ds/log
| Cannot show placement: "ds/log" is a DaemonSet, and only pods of Deployments and StatefulSets are placed; see kubectl coalloc placement --help
placement -w web
| Cannot run kubectl coalloc placement: option '-w, --watch [interval]' argument 'web' is invalid. Give a duration from 200ms to 1h, for instance 250ms or 2s; put the workload before -w, or write --watch=2s; see kubectl coalloc placement --help
recommend pod/web
| Cannot find workload: "pod/web" is neither NAME nor KIND/NAME with a kind of deployment, statefulset or daemonset; -n names the namespace; see kubectl coalloc recommend --help
recommend --policy /a
| Cannot find policy: "/a" is neither NAME nor NAMESPACE/NAME; see kubectl coalloc recommend --help
`,
  );
});

sceneTest("sentences of all commands", async (scene) => {
  const pod = addMarketPod(scene, "web", CHANGED);
  const { cluster, cluster: { reader }, clock, world } = scene;
  const refused = (status: number, message: string) => () =>
    explainApiError("look", new ApiError(status, "", message));
  const wait: PollEnd = { reason: "ResizeInProgress", message: "not yet" };
  await assertTexts(
    {
      "hidden installation": async () => {
        const hidden = { server: "v1", controllerImage: undefined, controllerIsVisible: false };
        const versions = () => Promise.resolve(hidden);
        const shown = { ...cluster, reader: { ...reader, versions } };
        scene.out = "";
        await runCoalloc(["version"], { ...world, connect: () => Promise.resolve(shown) });
        return scene.out.split("\n").slice(1).join("\n");
      },
      "no installation": async () =>
        (await scene.said("version")()).trimEnd().split("\n").at(-1) ?? "",
      "status 0": refused(0, "connection refused."),
      "status 401": refused(401, "Unauthorized"),
      "status 403": refused(403, 'pods is forbidden: User "a" cannot list resource "pods"'),
      "403 of admission": refused(403, "exceeded quota"),
      "status 404": refused(404, "the server could not find the requested resource"),
      "status 503": refused(503, "busy"),
      "interrupted": async () => {
        const check = () => Promise.resolve(wait);
        const parts = { reader, clock, signal: AbortSignal.abort(), timeoutMs: 1000 };
        return (await pollPod(pod.metadata, { ...parts, check })).message;
      },
    },
    `\
hidden installation
| Server: v1
| Controller: not known, you may not read the installation
no installation
  Controller: not installed
status 0
  Cannot look: connection refused; is the API server up? try kubectl cluster-info
status 401
  Cannot look: Unauthorized; log in again, or choose another --context
status 403
  Cannot look: pods is forbidden: User "a" cannot list resource "pods"; ask an administrator for this right; kubectl auth can-i --list shows what you have
403 of admission
  Cannot look: exceeded quota
status 404
  Cannot look: the server could not find the requested resource; is CoAllocator installed, and does the server serve pods/resize (1.33 or newer)?
status 503
  Cannot look: busy; the server is busy: try again in a moment
interrupted
  stopped while waiting: not yet
`,
  );
});

sceneTest("sentences of explain: problems", async (scene) => {
  const metadata = { annotations: { "mbcas.io/skip-guaranteed": "false" } };
  addMarketPod(scene, "web", { ...IDLE, guaranteed: true, metadata });
  scene.hidesAutoscalers = true;
  await assertTexts(
    {
      ...printed(scene, "explain wed", "explain web -c db", "explain -l app=db"),
      "autoscalers": async () =>
        (await scene.said("explain web")()).split("\n").slice(-4, -2).join("\n"),
    },
    `\
explain wed
| Cannot explain pod wed: namespace shop has no such pod; is -n right?
explain web -c db
| Cannot explain container db: pod web has only app
explain -l app=db
| Cannot explain: namespace shop has no pod with app=db; is -n right?
autoscalers
  VerticalPodAutoscalers can't be read: one may set the pod's resources (VPAConflict)
  HorizontalPodAutoscalers can't be read: one may divide by the pod's request (HPAConflict)
`,
  );
});

sceneTest("sentences of top", async (scene) => {
  await assertTexts(
    printed(scene, "top"),
    `\
top
| No pods in the market here.
|
| No agent runs: only the allocations are known, as old as they say
`,
  );
  scene.agents.push("node-2");
  await assertTexts(
    printed(scene, "top gone --node node-2", "top gone -A"),
    `\
top gone --node node-2
| Cannot read the agent of node node-2: no answer in 5000 ms; of its pods only the allocations are known
| Pod gone is not in the market of namespace shop on node node-2; -A looks in all namespaces, kubectl coalloc explain gone -n shop shows why
top gone -A
| Cannot read the agent of node node-2: no answer in 5000 ms; of its pods only the allocations are known
| Pod gone is not in the market; kubectl coalloc explain gone -n NAMESPACE shows why
`,
  );
});

sceneTest("sentences of resize", async (scene) => {
  const { Pod: pods, LimitRange: ranges } = scene.api.store.tables;
  addMarketPod(scene, "web", CHANGED);
  addMarketPod(scene, "db", { ...CHANGED, guaranteed: true });
  const two = addMarketPod(scene, "two", CHANGED);
  pods.seed({
    ...two,
    metadata: { ...two.metadata, name: "both", uid: "both" },
    containers: ["app", "proxy"].map((name) => ({ ...sampleContainer(), name })),
  });
  ranges.seed({
    metadata: { name: "small", namespace: "shop", uid: "", resourceVersion: "" },
    items: [{ type: "Container", max: 1000 }],
  });
  await assertTexts(
    printed(
      scene,
      ...["resize web --cpu-limit 1", "resize db --cpu-limit 1"],
      ...["resize web --cpu-limit 500m --dry-run", "resize web --cpu-limit 1100m"],
      ...["resize both --cpu-limit 0.3", "resize both --cpu-limit db=300m"],
      "resize gone --cpu-limit 300m",
    ),
    `\
resize web --cpu-limit 1
| shop/web  app 450m → 1000m: the kubelet has it
resize db --cpu-limit 1
| shop/db  app 450m → 1000m (request and limit): the kubelet has it
resize web --cpu-limit 500m --dry-run
| shop/web  app 1000m → 500m: nothing was changed (dry run)
resize web --cpu-limit 1100m
| Cannot resize pod web: the LimitRange allows no more, or no less: app cpu limit 1100m to 1 (LimitRange)
resize both --cpu-limit 0.3
| Cannot resize pod both: it has several containers (app, proxy); name one: --cpu-limit app=0.3
resize both --cpu-limit db=300m
| Cannot resize pod both: it has no container "db", only app, proxy
resize gone --cpu-limit 300m
| Cannot resize pod gone: namespace shop has no such pod; is -n right?
`,
  );
});

/** Output and errors of `restore` beside these pods. */
function restored(
  line: string,
  { pods = { web: CHANGED }, change }: {
    readonly pods?: Readonly<Record<string, MarketPod>>;
    readonly change?: (scene: CoallocScene) => void;
  } = {},
): () => Promise<string> {
  return async () => {
    const scene = coallocScene();
    for (const [name, pod] of Object.entries(pods)) addMarketPod(scene, name, pod);
    change?.(scene);
    await scene.run("restore", ...line.split(" ").filter(Boolean));
    await scene.close();
    return (scene.out + scene.err).replaceAll(/\(\d\.\d s\)/g, "(0.5 s)");
  };
}

const HIDDEN = new ApiError(403, "Forbidden", "leases is forbidden");
const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5", uid: "rs" };
const absent = () => Promise.resolve(undefined);
const refuse = () => Promise.reject(new ApiError(404, "NotFound", "no such namespace"));

pureYAML("sentences of restore", () =>
  assertTexts(
    {
      "dry run of a namespace": restored("-n shop --dry-run"),
      "dry run of all": restored("--all --dry-run", {
        change: (scene) => void (scene.settings = ""),
      }),
      "lost records": restored("-n shop --dry-run", {
        pods: { owned: LOST, bare: LOST },
        change: ({ templates }) => void templates.set("owned", new Map([["app", 200]])),
      }),
      "untouched": restored("web", { pods: { web: IDLE } }),
      "OriginalUnknown": restored("-n shop --yes", { pods: { bare: LOST } }),
      "done": restored("-n shop --yes", {
        pods: { web: CHANGED, idle: IDLE },
        change: (scene) => void (scene.controllerAlive = HIDDEN),
      }),
      "opted out": restored("web", { pods: { web: { ...CHANGED, metadata: { owner } } } }),
      "RestoreBlocked": restored("web --timeout 5s", {
        change: (scene) => void (scene.controllerAlive = true),
      }),
      "market on by a flag": restored("--all --yes --timeout 5s", {
        change(scene) {
          scene.controllerAlive = true;
          scene.settings = "";
          scene.placement.args = ["--market", "on"];
        },
      }),
      "no namespace": async () =>
        (await switchOff({ kind: "all" }, {
          reader: { namespace: absent, settingsText: absent },
          switches: { optOutPod: refuse, optOutNamespace: refuse, writeSettings: refuse },
          pods: [],
        })).join(),
      "labels": restored("-l a=b --dry-run"),
      "no terminal": restored("-n shop"),
      "refused": restored("-n shop", { change: (scene) => void (scene.answer = false) }),
      "no pod": restored("cart"),
    },
    `\
dry run of a namespace
| Would annotate namespace shop with mbcas.io/managed=false, then restore:
|   shop/web  app 450m → 200m
dry run of all
| Would set market.enabled: false in the installation's settings, then restore:
|   shop/web  app 450m → 200m
lost records
| Would annotate namespace shop with mbcas.io/managed=false, then restore:
|   shop/owned  app 450m → 200m (from the owner's template)
|   shop/bare  OriginalUnknown: no record of its original limits
untouched
| Nothing to restore: the pod has its original limits.
OriginalUnknown
| OriginalUnknown  shop/bare  its limits were set by the market and its own are not on record: recreate the pod, or set them with kubectl coalloc resize
| 0 of 1 pod restored; 1 not (OriginalUnknown): mend what the lines above name, and run it again.
done
| Restored        shop/web  app 450m → 200m (0.5 s)
| 1 of 1 pod restored, 1 with original limits before.
| Cannot see whether a controller runs and still holds these pods: leases is forbidden; kubectl get podallocations -n shop lists those that it has not let go of.
opted out
| Restored        shop/web  app 450m → 200m (0.5 s)
| 1 of 1 pod restored.
| This opt-out ends with the pod. To leave out the pods to come, too, say mbcas.io/managed: "false" in their template, spec.template.metadata of the workload; its own metadata does not count.
RestoreBlocked
| Restored        shop/web  app 450m → 200m (0.5 s)
| RestoreBlocked  shop/web  the controller has not let go of the pod yet, and may set the market's limit once more
| 0 of 1 pod restored; 1 not (RestoreBlocked): mend what the lines above name, and run it again.
market on by a flag
| Restored        shop/web  app 450m → 200m (0.5 s)
| RestoreBlocked  shop/web  the controller has not let go of the pod yet, and may set the market's limit once more: flag --market is on
| 0 of 1 pod restored; 1 not (RestoreBlocked): mend what the lines above name, and run it again.
| The market stays on: flag --market is on in the Deployment mbcas-controller, which takes precedence over the settings; remove it there.
no namespace
  The market stays on: there is no namespace mbcas-system; where the product is in another one, set COALLOC_SYSTEM_NAMESPACE to it, and restore again
labels
| Would annotate pods with a=b of namespace shop with mbcas.io/managed=false, then restore:
|   no pod: none has limits of the market
no terminal
| Cannot restore namespace shop: --yes is missing, and there is no terminal to ask on; --dry-run shows what would be done
refused
| Take namespace shop out of the market and give 1 pod their original limits back? Nothing was changed.
no pod
| Cannot restore pod cart: namespace shop has no such pod; is -n right?
`,
  ));
