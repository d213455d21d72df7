/** The sentences of `recommend`. */
import { ApiError } from "../../../shared/api/api_error.ts";
import { samplePolicy } from "../../../tests/contract/support/sample_objects.ts";
import { assertTexts } from "../../../tests/fixtures/assert_sentences.ts";
import {
  reportsOf,
  shopRecords,
  shopTest,
  template,
} from "../../../tests/fixtures/cli/advised_shop.ts";
import { type CoallocScene, printed } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { mergeableAmounts } from "./patch_text.ts";

const page = (scene: CoallocScene, ...args: string[]) => async (): Promise<string> =>
  (await scene.ran("recommend", ...args)).slice(1).join("");

const MISSING = new ApiError(404, "NotFound", "404 page not found");
const FORBIDDEN = new ApiError(403, "Forbidden", "forbidden");

shopTest("sentences of recommend: pages", async (scene) => {
  await assertTexts(
    {
      ...printed(scene, "recommend", "recommend web", "recommend -o patch"),
      "legend, times": async () => {
        scene.terminal = { columns: 100, rows: 20 };
        const [web, db] = [await page(scene, "web")(), await page(scene, "db")()];
        return [/^.*up to P50.*$/m.exec(web), /^.*ago.*$/m.exec(db)].join("\n");
      },
    },
    `\
recommend
| WORKLOAD         CONTAINER   CPU                 MEMORY           CPU LIMIT       MEMORY LIMIT   STATUS        REASON
| daemonset/log    log         10m → -             none → -         none            none           Skipped       InsufficientSamples
| deployment/web   app         200m..500m → 336m   128Mi → 84.5Mi   1000m           256Mi          Recommended   RecommendOnly
| deployment/web   proxy       none → 50m          none → 64Mi      none            none           Recommended   RecommendOnly
| statefulset/db   db          1000m → 1500m       1Gi → 512Mi      2000m → 3000m   1Gi → 600Mi    Skipped       UnsafeMemoryDecrease
|
| Requests of all pods: CPU shrinks by 0.33 and grows by 1.29 cores, memory shrinks by 1.13Gi and grows by 192Mi
recommend web
| Deployment shop/web: Recommended, policy shop/all, 3 pods
| RecommendOnly: the policy's mode is Recommend: the recommendation is only published
| What to do: to apply it, set the policy's mode to Auto
| Recommended 4m ago, never applied
|   app
|     CPU    request 200m..500m → 336m; limit 1000m
|            used min 20m, P50 120m, P90 280m, P95 300m, P99 330m, max 410m in 2880 samples
|     Memory request 128Mi → 84.5Mi; limit 256Mi
|            used min 40Mi, P50 60Mi, P90 70.4Mi, P95 71Mi, P99 72Mi, max 73Mi in 2880 samples
|     why    CPU 336m: P90 of 2880 samples in 24h is 280m, times 1.2 is 336m. Memory 88617123: P90 of 2880 samples in 24h is 73847603, times 1.2 is 88617123
|   proxy (sidecar)
|     CPU    request none → 50m
|     Memory request none → 64Mi
|     why    raised to the minimum
|
| Requests of all pods: CPU shrinks by 0.33 and grows by 0.29 cores, memory shrinks by 130Mi and grows by 192Mi
recommend -o patch
| # Requests, and limits where they are recommended, as strategic-merge patches: made by
| # kubectl coalloc recommend -o patch. List this file under patches: of a kustomization.yaml.
| # Requests of all pods: CPU shrinks by 0.33 and grows by 1.29 cores, memory shrinks by 1.13Gi and grows by 192Mi
| # DaemonSet shop/log is left out: InsufficientSamples: the container has fewer samples than the policy requires
| # log of daemonset/log: no recommendation
| ---
| # Deployment shop/web, policy shop/all: Recommended
| # RecommendOnly: the policy's mode is Recommend: the recommendation is only published
| # app of deployment/web: CPU 336m: P90 of 2880 samples in 24h is 280m, times 1.2 is 336m. Memory 88617123: P90 of 2880 samples in 24h is 73847603, times 1.2 is 88617123
| # proxy of deployment/web: raised to the minimum
| apiVersion: apps/v1
| kind: Deployment
| metadata:
|   name: web
|   namespace: shop
| spec:
|   template:
|     spec:
|       containers:
|         - name: app
|           resources:
|             requests:
|               cpu: 336m
|               memory: "88617123"
|       initContainers:
|         - name: proxy
|           resources:
|             requests:
|               cpu: 50m
|               memory: "67108864"
| ---
| # StatefulSet shop/db, policy platform/databases: Skipped
| # UnsafeMemoryDecrease: the recommended memory is below the recent peak + 15 %, which could cause an OOM kill: memory is lowered to that value at most
| # db of statefulset/db: P95 of 5040 samples in 7d
| # db of statefulset/db: memory is left out: 512Mi is less than it has, and its peak is not known
| apiVersion: apps/v1
| kind: StatefulSet
| metadata:
|   name: db
|   namespace: shop
| spec:
|   template:
|     spec:
|       containers:
|         - name: db
|           resources:
|             requests:
|               cpu: 1500m
|             limits:
|               cpu: "3"
legend, times
  █ up to P50, ▓ to P90, ▒ to P95, ░ to P99, ─ to the largest sample; │ the recommended request
  Recommended 4m ago, last applied 26h ago in place
`,
  );
});

shopTest("sentences of recommend: nothing to show", async (scene) => {
  const { rightsizing } = scene;
  rightsizing.reports = reportsOf(shopRecords().slice(1));
  const having = (change: Partial<typeof rightsizing>) => () => {
    Object.assign(rightsizing, change);
    return page(scene)();
  };
  rightsizing.policies = [samplePolicy("idle")];
  await assertTexts(
    {
      ...printed(
        scene,
        ...["recommend cart", "recommend web", "recommend deployment/db"],
        ...["recommend --policy al", "recommend --policy databses"],
        ...["recommend db --policy idle", "recommend --policy idle"],
      ),
      "no report": having({ reports: [] }),
      "no policy": having({ reports: [], policies: [] }),
      "reports unreadable": having({ reports: FORBIDDEN }),
      "reports unknown": having({ reports: MISSING }),
    },
    `\
recommend cart
| Cannot show recommendations for cart: namespace shop has no such workload; is -n right?
recommend web
| Cannot show recommendations for web: no policy has looked at deployment/web of namespace shop yet; kubectl get optimizationpolicies -A shows which there are
recommend deployment/db
| Cannot show recommendations for db: namespace shop has no such Deployment; is it statefulset/db?
recommend --policy al
| Cannot show policy al: no workload of namespace shop has such a policy; kubectl get optimizationpolicies -A shows which there are
recommend --policy databses
| Cannot show policy databses: no workload of namespace shop has such a policy; is it platform/databases?
recommend db --policy idle
| Cannot show policy idle for db: statefulset/db has platform/databases
recommend --policy idle
| Cannot show policy idle: it counts for no workload of namespace shop: its selector matches none, or policies of higher weight win
no report
| No recommendations here.
|
| No OptimizationPolicy has looked at a workload here yet: kubectl get optimizationpolicies -A shows whether they are Ready; a controller has to run
no policy
| No recommendations here.
|
| There is no OptimizationPolicy: one says which workloads are looked at (docs/rightsizing.md, Recommendations)
reports unreadable
| Cannot read the RecommendationReports of namespace shop: forbidden
reports unknown
| Cannot read recommendations: the server does not know RecommendationReports; kubectl apply -k manifests/crds installs the definitions, and a controller with the component rightsizing writes the reports
`,
  );
});

shopTest("sentences of recommend: notes of a page", async (scene) => {
  const { rightsizing } = scene;
  const [report] = reportsOf(shopRecords());
  const [web, ...others] = report?.workloads ?? [];
  const notes = async (): Promise<string> =>
    JSON.parse((await scene.ran("recommend -o json"))[1]).notes.join("\n");
  rightsizing.templates = FORBIDDEN;
  if (report !== undefined && web !== undefined) {
    rightsizing.reports = [{ ...report, workloads: [{ ...web, lastApplied: "x" }, ...others] }];
  }
  await assertTexts(
    {
      "unreadable": notes,
      "pods unreadable": async () => {
        scene.cluster.reader.pods = () => Promise.reject(FORBIDDEN);
        return (await notes()).split("\n").filter((line) => line.includes("pods")).join("\n");
      },
      "gone": async () => {
        rightsizing.templates = [template("StatefulSet/db", 1, [])];
        const text = await page(scene, "-o", "patch")();
        return text.split("\n").filter((line) => /left out/.test(line)).join("\n");
      },
    },
    `\
unreadable
  Cannot read the workloads' manifests: forbidden. What they ask for, and whether they still exist, is not known
  1 of the workloads can't be read in the reports
pods unreadable
  Cannot read pods: forbidden. What they have is not known: the manifests stand for them
  3 containers are not in the sums: what their pods have now is not known
gone
  # Deployment shop/web is left out: it no longer exists
  # StatefulSet shop/db is left out: UnsafeMemoryDecrease: the recommended memory is below the recent peak + 15 %, which could cause an OOM kill: memory is lowered to that value at most
  # db of statefulset/db: left out: the template has no such container
`,
  );
});

Deno.test("sentences of recommend: amounts of a patch", () => {
  const notes = (recommended: object, more?: object) => () =>
    mergeableAmounts({
      ...{ name: "app", sidecar: false, pods: [], recommended },
      template: { cpuLimit: 200, memory: 1000 },
      ...more,
    }).notes.join("\n");
  const peak = (max: number) => (
    { usage: { memory: { samples: 1, min: 0, p50: 0, p90: 0, p95: 0, p99: 0, max } } }
  );
  return assertTexts(
    {
      "cut": notes({ cpu: 300 }),
      "no peak": notes({ memory: 900 }),
      "below the peak": notes({ memory: 900 }, peak(900)),
      "below the peak, which is far below what it has": notes({ memory: 800 }, peak(800)),
      "limit below the peak": notes({ memory: 1100, memoryLimit: 1200 }, peak(1100)),
    },
    `\
cut
  cpu is cut to the limit, 200m, which the patch leaves alone
no peak
  memory is left out: 900 is less than it has, and its peak is not known
below the peak
  memory is left out: 900 is below its largest sample, 900, + 15 %, and could kill it
below the peak, which is far below what it has
  memory is lowered to no less than 920: 800 is below its largest sample, 800, + 15 %, and could kill it
limit below the peak
  memory limit is lowered to no less than 1.24Ki: 1.17Ki is below its largest sample, 1.07Ki, + 15 %, and could kill it
`,
  );
});
