/** The sentences that all commands share. */
import { ApiError } from "../../shared/api/api_error.ts";
import { sampleContainer } from "../../tests/contract/support/sample_objects.ts";
import { assertTexts } from "../../tests/fixtures/assert_sentences.ts";
import {
  addMarketPod,
  type CoallocScene,
  coallocScene,
  type MarketPod,
  sceneTest,
} from "../../tests/fixtures/cli/coalloc_scene.ts";
import { sampleNodeView } from "../../tests/fixtures/cli/node_views.ts";
import { pureYAML } from "../../tests/fixtures/pure.ts";
import { explainApiError } from "./api_problem.ts";
import { type PollEnd, pollPod } from "./poll_pod.ts";
import { switchOff } from "./restore/switch_off.ts";
import { runCoalloc } from "./run_coalloc.ts";

sceneTest("sentences of all commands", async (scene) => {
  const pod = addMarketPod(scene, "web", { limit: 450, own: 200 });
  const { cluster, cluster: { reader }, clock, world } = scene;
  const refused = (status: number, message: string) => () =>
    explainApiError("look", new ApiError(status, "", message));
  const wait: PollEnd = { reason: "ResizeInProgress", message: "not yet" };
  await assertTexts(
    {
      "no command": scene.said("-n shop"),
      "unknown command": scene.said("tap"),
      "unknown flag": scene.said("top --sot x"),
      "no pod": scene.said("explain"),
      "pod and labels": scene.said("explain web -l app=web"),
      "all and labels": scene.said("restore --all -l app=web"),
      "no pod with the labels": scene.said("explain -l app=db"),
      "labels of a restore": scene.said("restore -l a=b --dry-run"),
      "hidden installation": async () => {
        const hidden = { server: "v1", controllerImage: undefined, controllerIsVisible: false };
        const shown = {
          ...cluster,
          reader: { ...reader, versions: () => Promise.resolve(hidden) },
        };
        scene.out = "";
        await runCoalloc(["version"], { ...world, connect: () => Promise.resolve(shown) });
        return scene.out.split("\n").slice(1).join("\n");
      },
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
no command
| Cannot run kubectl coalloc: no command is named; see kubectl coalloc --help
unknown command
| Cannot run kubectl coalloc: unknown command 'tap' (Did you mean top?); see kubectl coalloc --help
unknown flag
| Cannot run kubectl coalloc top: unknown option '--sot' (Did you mean --sort?); see kubectl coalloc top --help
no pod
| Cannot find pod: name one, or give --selector; see kubectl coalloc explain --help
pod and labels
| Cannot explain: a name and --selector exclude each other; see kubectl coalloc explain --help
all and labels
| Cannot restore: --selector and --all exclude each other; see kubectl coalloc restore --help
no pod with the labels
| Cannot explain: namespace shop has no pod with app=db; is -n right?
labels of a restore
| Would annotate pods with a=b of namespace shop with mbcas.io/managed=false, then restore:
|   no pod: none has limits of the market
hidden installation
| Server: v1
| Controller: not known, you may not read the installation
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
  addMarketPod(scene, "web", { limit: 200, own: 200, guaranteed: true, recorded: false });
  scene.hidesAutoscalers = true;
  scene.api.store.tables.Pod.modify("shop/web", ({ metadata, ...pod }) => (
    { ...pod, metadata: { ...metadata, annotations: { "mbcas.io/skip-guaranteed": "false" } } }
  ));
  const explained = (line: string) => async (): Promise<string> => {
    const [, out, err] = await scene.ran(`explain ${line}`);
    return err || out.split("\n").filter((line) => line.includes("can't be")).join("\n");
  };
  await assertTexts(
    {
      "no pod": explained("wed"),
      "no container": explained("web -c db"),
      "not a pod's name": explained("a/b/c"),
      "autoscalers": explained("web"),
    },
    `\
no pod
| Cannot explain pod wed: namespace shop has no such pod; is -n right?
no container
| Cannot explain container db: pod web has only app
not a pod's name
| Cannot find pod: "a/b/c" is not the name of a pod; see kubectl coalloc explain --help
autoscalers
  VerticalPodAutoscalers can't be read: one may set the pod's resources (VPAConflict)
  HorizontalPodAutoscalers can't be read: one may divide by the pod's request (HPAConflict)
`,
  );
});

sceneTest("sentences of top", async (scene) => {
  // Leaves out the lines of nodes.
  const shown = (line = "") => async (): Promise<string> =>
    (await scene.said(`top${line}`)()).replaceAll(/^node-1 .*\n/gm, "");
  await assertTexts(
    {
      "no agent": shown(),
      "no answer": () => {
        scene.agents.push("node-1", "node-2");
        scene.views.set("node-1", sampleNodeView([]));
        return shown()();
      },
      "no such pod": shown(" gone --node node-1"),
      "no such pod in any namespace": shown(" gone -A"),
      "pod after -w": shown(" -w web-0"),
    },
    `\
no agent
| No pods in the market here.
|
| No agent runs: only the allocations are known, as old as they say
no answer
| No pods in the market here.
|
| Cannot read the agent of node node-2: no answer in 5000 ms; of its pods only the allocations are known
no such pod
| Pod gone is not in the market of namespace shop on node node-1; -A looks in all namespaces, kubectl coalloc explain gone -n shop shows why
no such pod in any namespace
| Cannot read the agent of node node-2: no answer in 5000 ms; of its pods only the allocations are known
| Pod gone is not in the market; kubectl coalloc explain gone -n NAMESPACE shows why
pod after -w
| Cannot run kubectl coalloc top: option '-w, --watch [interval]' argument 'web-0' is invalid. Give a duration from 200ms to 1h, for instance 250ms or 2s; put pods before -w, or write --watch=2s; see kubectl coalloc top --help
`,
  );
});

sceneTest("sentences of resize", async (scene) => {
  const { Pod: pods, LimitRange: ranges } = scene.api.store.tables;
  addMarketPod(scene, "web", { limit: 450, own: 200 });
  addMarketPod(scene, "db", { limit: 450, own: 200, guaranteed: true });
  const two = addMarketPod(scene, "two", { limit: 450, own: 200 });
  pods.seed({
    ...two,
    metadata: { ...two.metadata, name: "both", uid: "both" },
    containers: ["app", "proxy"].map((name) => ({ ...sampleContainer(), name })),
  });
  const resized = (line: string) => scene.said(`resize ${line}`);
  await assertTexts(
    {
      "Applied": resized("web --cpu-limit 1"),
      "Guaranteed": resized("db --cpu-limit 1"),
      "DryRun": resized("web --cpu-limit 500m --dry-run"),
      "several containers": resized("both --cpu-limit 300m"),
      "no container": resized("both --cpu-limit db=300m"),
      "no pod": resized("gone --cpu-limit 300m"),
      "one of two limits without container": resized("web --cpu-limit 100m --cpu-limit app=200m"),
      "one container twice": resized("web --cpu-limit app=1 --cpu-limit app=2"),
      "no quantity": resized("web"),
      "LimitRange": () => {
        ranges.seed({
          metadata: { name: "small", namespace: "shop", uid: "", resourceVersion: "" },
          items: [{ type: "Container", max: 500 }],
        });
        return resized("web --cpu-limit 600m")();
      },
    },
    `\
Applied
| shop/web  app 450m → 1000m: the kubelet has it
Guaranteed
| shop/db  app 450m → 1000m (request and limit): the kubelet has it
DryRun
| shop/web  app 1000m → 500m: nothing was changed (dry run)
several containers
| Cannot resize pod both: it has several containers (app, proxy); name one: --cpu-limit app=300m
no container
| Cannot resize pod both: it has no container "db", only app, proxy
no pod
| Cannot resize pod gone: namespace shop has no such pod; is -n right?
one of two limits without container
| Cannot resize: --cpu-limit 100m names no container; write it as in --cpu-limit app=100m; see kubectl coalloc resize --help
one container twice
| Cannot resize: container app has several limits; give --cpu-limit once per container; see kubectl coalloc resize --help
no quantity
| Cannot run kubectl coalloc resize: required option '--cpu-limit <[container=]quantity>' not specified; see kubectl coalloc resize --help
LimitRange
| Cannot resize pod web: the LimitRange allows no more, or no less: app cpu limit 600m to 500m (LimitRange)
`,
  );
});

const CHANGED = { limit: 450, own: 200 };
const IDLE = { limit: 200, own: 200, recorded: false };
const LOST = { ...CHANGED, recorded: false };

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
        change(scene) {
          scene.controllerAlive = new ApiError(403, "Forbidden", "leases is forbidden");
        },
      }),
      "opted out": restored("web", {
        change: ({ api: { store: { tables } } }) => {
          const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5", uid: "rs" };
          tables.Pod.modify("shop/web", (one) => (
            { ...one, metadata: { ...one.metadata, owner } }
          ));
        },
      }),
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
      "no terminal": restored("-n shop"),
      "refused": restored("-n shop", { change: (scene) => void (scene.answer = false) }),
      "no target": restored(""),
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
no terminal
| Cannot restore namespace shop: --yes is missing, and there is no terminal to ask on; --dry-run shows what would be done
refused
| Take namespace shop out of the market and give 1 pod their original limits back? Nothing was changed.
no target
| Cannot restore: name a pod, or give --selector, -n NAMESPACE or --all; see kubectl coalloc restore --help
no pod
| Cannot restore pod cart: namespace shop has no such pod; is -n right?
`,
  ));
