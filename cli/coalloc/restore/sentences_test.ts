/** The sentences of `restore`. */
import { pureYAML } from "../../../tests/fixtures/pure.ts";
import { assertSentences } from "../../../tests/fixtures/assert_sentences.ts";
import {
  addMarketPod,
  type CoallocScene,
  coallocScene,
  type MarketPod,
} from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { switchOff } from "./switch_off.ts";

const CHANGED = { limit: 450, own: 200 };
const IDLE = { limit: 200, own: 200, recorded: false };
const LOST = { ...CHANGED, recorded: false };

const absent = () => Promise.resolve(undefined);
const refuse = () => Promise.reject(new ApiError(404, "NotFound", "no such namespace"));

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

pureYAML("sentences of restore", () =>
  assertSentences([
    [
      "dry run of a namespace",
      restored("-n shop --dry-run"),
      "Would annotate namespace shop with mbcas.io/managed=false, then restore:\n" +
      "  shop/web  app 450m → 200m\n",
    ],
    [
      "dry run of all",
      restored("--all --dry-run", { change: (scene) => void (scene.settings = "") }),
      "Would set market.enabled: false in the installation's settings, then restore:\n" +
      "  shop/web  app 450m → 200m\n",
    ],
    [
      "lost records",
      restored("-n shop --dry-run", {
        pods: { owned: LOST, bare: LOST },
        change: ({ templates }) => void templates.set("owned", new Map([["app", 200]])),
      }),
      "Would annotate namespace shop with mbcas.io/managed=false, then restore:\n" +
      "  shop/owned  app 450m → 200m (from the owner's template)\n" +
      "  shop/bare  OriginalUnknown: no record of its original limits\n",
    ],
    [
      "untouched",
      restored("web", { pods: { web: IDLE } }),
      "Nothing to restore: the pod has its original limits.\n",
    ],
    [
      "OriginalUnknown",
      restored("-n shop --yes", { pods: { bare: LOST } }),
      "OriginalUnknown  shop/bare  its limits were set by the market and its own are not on " +
      "record: recreate the pod, or set them with kubectl coalloc resize\n" +
      "0 of 1 pod restored; 1 not (OriginalUnknown): mend what the lines above name, and run " +
      "it again.\n",
    ],
    [
      "done",
      restored("-n shop --yes", {
        pods: { web: CHANGED, idle: IDLE },
        change(scene) {
          scene.controllerAlive = new ApiError(403, "Forbidden", "leases is forbidden");
        },
      }),
      "Restored        shop/web  app 450m → 200m (0.5 s)\n" +
      "1 of 1 pod restored, 1 with original limits before.\n" +
      "Cannot see whether a controller runs and still holds these pods: leases is forbidden; " +
      "kubectl get podallocations -n shop lists those that it has not let go of.\n",
    ],
    [
      "opted out",
      restored("web", {
        change: ({ api: { store: { tables } } }) => {
          const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5", uid: "rs" };
          tables.Pod.modify("shop/web", (one) => (
            { ...one, metadata: { ...one.metadata, owner } }
          ));
        },
      }),
      "Restored        shop/web  app 450m → 200m (0.5 s)\n" +
      "1 of 1 pod restored.\n" +
      "This opt-out ends with the pod. To leave out the pods to come, too, say " +
      'mbcas.io/managed: "false" in their template, spec.template.metadata of the workload; ' +
      "its own metadata does not count.\n",
    ],
    [
      "RestoreBlocked",
      restored("web --timeout 5s", { change: (scene) => void (scene.controllerAlive = true) }),
      "Restored        shop/web  app 450m → 200m (0.5 s)\n" +
      "RestoreBlocked  shop/web  the controller has not let go of the pod yet, and may set the " +
      "market's limit once more\n" +
      "0 of 1 pod restored; 1 not (RestoreBlocked): mend what the lines above name, and run it " +
      "again.\n",
    ],
    [
      "market on by a flag",
      restored("--all --yes --timeout 5s", {
        change(scene) {
          scene.controllerAlive = true;
          scene.settings = "";
          scene.placement.args = ["--market", "on"];
        },
      }),
      "Restored        shop/web  app 450m → 200m (0.5 s)\n" +
      "RestoreBlocked  shop/web  the controller has not let go of the pod yet, and may set the " +
      "market's limit once more: flag --market is on\n" +
      "0 of 1 pod restored; 1 not (RestoreBlocked): mend what the lines above name, and run it " +
      "again.\n" +
      "The market stays on: flag --market is on in the Deployment mbcas-controller, which takes " +
      "precedence over the settings; remove it there.\n",
    ],
    [
      "no namespace",
      async () =>
        (await switchOff({ kind: "all" }, {
          reader: { namespace: absent, settingsText: absent },
          switches: { optOutPod: refuse, optOutNamespace: refuse, writeSettings: refuse },
          pods: [],
        })).join(),
      "The market stays on: there is no namespace mbcas-system; where the product is in another " +
      "one, set COALLOC_SYSTEM_NAMESPACE to it, and restore again",
    ],
    [
      "no terminal",
      restored("-n shop"),
      "Cannot restore namespace shop: --yes is missing, and there is no terminal to ask on; " +
      "--dry-run shows what would be done\n",
    ],
    [
      "refused",
      restored("-n shop", { change: (scene) => void (scene.answer = false) }),
      "Take namespace shop out of the market and give 1 pod their original limits back? Nothing was " +
      "changed.\n",
    ],
    [
      "no target",
      restored(""),
      "Cannot restore: name a pod, or give --selector, -n NAMESPACE or --all; see kubectl coalloc " +
      "restore --help\n",
    ],
    [
      "no pod",
      restored("cart"),
      "Cannot restore pod cart: namespace shop has no such pod; is -n right?\n",
    ],
  ]));
