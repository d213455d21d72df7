/** The sentences that all commands share. */
import { assertSentences } from "../../tests/fixtures/assert_sentences.ts";
import { addMarketPod, sceneTest } from "../../tests/fixtures/cli/coalloc_scene.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { explainApiError } from "./api_problem.ts";
import { type PollEnd, pollPod } from "./poll_pod.ts";
import { runCoalloc } from "./run_coalloc.ts";

sceneTest("sentences of all commands", async (scene) => {
  const pod = addMarketPod(scene, "web", { limit: 450, own: 200 });
  const { cluster, cluster: { reader }, clock, world } = scene;
  const refused = (status: number, message: string) => () =>
    explainApiError("look", new ApiError(status, "", message));
  const wait: PollEnd = { reason: "ResizeInProgress", message: "not yet" };
  await assertSentences([
    [
      "no command",
      scene.said("-n shop"),
      "Cannot run kubectl coalloc: no command is named; see kubectl coalloc --help\n",
    ],
    [
      "unknown command",
      scene.said("tap"),
      "Cannot run kubectl coalloc: unknown command 'tap' (Did you mean top?); see kubectl " +
      "coalloc --help\n",
    ],
    [
      "unknown flag",
      scene.said("top --sot x"),
      "Cannot run kubectl coalloc top: unknown option '--sot' (Did you mean --sort?); see " +
      "kubectl coalloc top --help\n",
    ],
    [
      "no pod",
      scene.said("explain"),
      "Cannot find pod: name one, or give --selector; see kubectl coalloc explain --help\n",
    ],
    [
      "pod and labels",
      scene.said("explain web -l app=web"),
      "Cannot explain: a name and --selector exclude each other; see kubectl coalloc explain --help\n",
    ],
    [
      "all and labels",
      scene.said("restore --all -l app=web"),
      "Cannot restore: --selector and --all exclude each other; see kubectl coalloc restore --help\n",
    ],
    [
      "no pod with the labels",
      scene.said("explain -l app=db"),
      "Cannot explain: namespace shop has no pod with app=db; is -n right?\n",
    ],
    [
      "labels of a restore",
      scene.said("restore -l a=b --dry-run"),
      "Would annotate pods with a=b of namespace shop with mbcas.io/managed=false, then restore:\n" +
      "  no pod: none has limits of the market\n",
    ],
    [
      "hidden installation",
      async () => {
        const hidden = { server: "v1", controllerImage: undefined, controllerIsVisible: false };
        const shown = {
          ...cluster,
          reader: { ...reader, versions: () => Promise.resolve(hidden) },
        };
        scene.out = "";
        await runCoalloc(["version"], { ...world, connect: () => Promise.resolve(shown) });
        return scene.out.split("\n").slice(1).join("\n");
      },
      "Server: v1\n" +
      "Controller: not known, you may not read the installation\n",
    ],
    [
      "0",
      refused(0, "connection refused."),
      "Cannot look: connection refused; is the API server up? try kubectl cluster-info",
    ],
    [
      "401",
      refused(401, "Unauthorized"),
      "Cannot look: Unauthorized; log in again, or choose another --context",
    ],
    [
      "403",
      refused(403, 'pods is forbidden: User "a" cannot list resource "pods"'),
      'Cannot look: pods is forbidden: User "a" cannot list resource "pods"; ask an ' +
      "administrator for this right; kubectl auth can-i --list shows what you have",
    ],
    ["403 of admission", refused(403, "exceeded quota"), "Cannot look: exceeded quota"],
    [
      "404",
      refused(404, "the server could not find the requested resource"),
      "Cannot look: the server could not find the requested resource; is CoAllocator " +
      "installed, and does the server serve pods/resize (1.33 or newer)?",
    ],
    ["503", refused(503, "busy"), "Cannot look: busy; the server is busy: try again in a moment"],
    ["interrupted", async () => {
      const look = () => Promise.resolve(wait);
      const parts = { reader, clock, signal: AbortSignal.abort(), timeoutMs: 1000 };
      return (await pollPod(pod.metadata, { ...parts, look })).message;
    }, "stopped while waiting: not yet"],
  ]);
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
  await assertSentences([
    [
      "no pod",
      explained("wed"),
      "Cannot explain pod wed: namespace shop has no such pod; is -n right?\n",
    ],
    [
      "no container",
      explained("web -c db"),
      "Cannot explain container db: pod web has only app\n",
    ],
    [
      "not a pod's name",
      explained("a/b/c"),
      'Cannot find pod: "a/b/c" is not the name of a pod; see kubectl coalloc explain --help\n',
    ],
    [
      "autoscalers",
      explained("web"),
      "VerticalPodAutoscalers can't be read: one may set the pod's resources (VPAConflict)\n" +
      "HorizontalPodAutoscalers can't be read: one may divide by the pod's request " +
      "(HPAConflict)",
    ],
  ]);
});
