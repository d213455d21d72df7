/**
 * One run of the crowded scene.
 *
 * @module
 */
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import type { JSONObject } from "../../../adapters/kube/client/json_fields.ts";
import { mean } from "../../simulation/statistics.ts";
import { observe, STEP_MS } from "../services/observe.ts";
import { SERVICE_LABEL } from "../services/service_pod.ts";
import { dumpCluster, dumpDifferences } from "./cluster_dump.ts";
import { CORES, NEVER_READY, OPTED_OUT, PERFORMERS, SCALED } from "./crowd.ts";
import { crowdLoad } from "./crowd_load.ts";
import { putUpCrowd } from "./put_up_crowd.ts";
import { answerKind } from "./refusal_kind.ts";
import type { CrowdResult } from "./verdicts.ts";
import { lowerings, watchBounds, watchQuotas, watchReplicas } from "./watch_namespace.ts";
import { openWriteAccount, type WriteSources } from "./write_account.ts";

/** The options of a run. */
export interface PlayOptions extends WriteSources {
  readonly connection: KubeConnection;
  readonly seed: number;
  readonly seconds: number;
  /** Called every half minute with the progress. */
  readonly onProgress?: (doneS: number) => void;
}

/** Time between the last object and the first request. */
const SETTLE_MS = 3000;

/** Creates the scene, plays it and removes it. */
export async function playCrowd(options: PlayOptions): Promise<CrowdResult> {
  const { connection, seed, seconds, onProgress = () => {} } = options;
  const closeAccount = await openWriteAccount(options);
  await using crowd = await putUpCrowd(connection, crowdLoad(PERFORMERS, { seed, seconds }));
  const { namespaces } = crowd;
  const all = Object.values(namespaces);
  const before = await dumpCluster(connection);
  const startMs = Date.now() + SETTLE_MS;
  await crowd.begin(startMs);
  const when = { connection, startMs, seconds };
  const names = new Set(PERFORMERS.map(({ name }) => name));
  const [observed, quotas, replicas, bounds] = await Promise.all([
    observe(PERFORMERS.map(({ name, member }) => ({ name, originalLimit: member.limit })), {
      ...when,
      namespaces: all,
      cores: CORES,
      serviceOf: ({ metadata: { name, labels } }) => names.has(name) ? name : labels[SERVICE_LABEL],
      onProgress,
    }),
    watchQuotas({ ...when, namespaces }),
    watchReplicas({ ...when, namespace: namespaces.shop }),
    watchBounds({ ...when, namespaces: all }),
  ]);
  const after = await dumpCluster(connection);
  const { answers, outcomes } = await closeAccount();
  const optedOut = `pods. ${namespaces.lab}/${OPTED_OUT}`;
  const neverReady = PERFORMERS.findIndex(({ name }) => name === NEVER_READY);
  return {
    ...{ seed, seconds, replicas, bounds, outcomes },
    answers: answers.map((answer) => ({
      atS: (Date.parse(answer.at) - startMs) / 1000,
      kind: answerKind(answer),
      isOfOptedOut: answer.namespace === namespaces.lab && answer.pod === OPTED_OUT,
      message: answer.message,
    })),
    quotas: quotas.samples,
    objects: {
      before: before.size,
      after: after.size,
      differences: dumpDifferences({ before, after }, {
        namespaces: all,
        scaled: { namespace: namespaces.shop, name: SCALED },
      }),
      isOptedOutSame: isSameSpec(before.get(optedOut), after.get(optedOut)),
    },
    lowerings: {
      spec: lowerings(quotas.neverReady, 1),
      kernel: lowerings(observed[neverReady]?.limit ?? new Float32Array(), STEP_MS / 1000),
    },
    performers: PERFORMERS.flatMap(({ name, member }, index) => {
      const limit = observed[index]?.limit;
      if (limit === undefined) return [];
      return [{
        name,
        originalLimit: member.limit,
        meanLimit: mean(limit),
        mostLimit: Math.max(...limit),
      }];
    }),
  };
}

function isSameSpec(before: JSONObject | undefined, after: JSONObject | undefined): boolean {
  return before !== undefined && after !== undefined &&
    JSON.stringify(before["spec"]) === JSON.stringify(after["spec"]);
}
