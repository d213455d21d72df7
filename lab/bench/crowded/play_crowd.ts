/**
 * One run of the crowded scene, from the first object to the last figure.
 *
 * @module
 */
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { mean, quantile } from "../../simulation/statistics.ts";
import { measureMachine } from "../services/machine_use.ts";
import { observe, type ObservedService, STEP_MS } from "../services/observe.ts";
import type { ServedRequests } from "../services/request_file.ts";
import { SERVICE_LABEL } from "../services/service_pod.ts";
import type { ResizeAnswer } from "../audit_log.ts";
import { type ClusterDump, dumpCluster } from "./cluster_dump.ts";
import { CORES, NEVER_READY, OPTED_OUT, PERFORMERS, PLACES, SCALED } from "./crowd.ts";
import { crowdLoad } from "./crowd_load.ts";
import type { CrowdAlgorithm, CrowdResult } from "./crowd_result.ts";
import { dumpDifferences } from "./dump_differences.ts";
import { switchMarket } from "./market_switch.ts";
import { putUpCrowd } from "./put_up_crowd.ts";
import { answerKind } from "./refusal_kind.ts";
import {
  lowerings,
  type QuotaRecord,
  watchBounds,
  watchQuotas,
  watchReplicas,
} from "./watch_namespace.ts";
import {
  eventMessages,
  openWriteAccount,
  tally,
  type WriteAccount,
  type WriteSources,
} from "./write_account.ts";

/** What a run needs. */
export interface PlayOptions extends WriteSources {
  readonly connection: KubeConnection;
  readonly seed: number;
  readonly seconds: number;
  /** Called every half minute with the progress. */
  readonly onProgress?: (doneS: number) => void;
}

/** From the scene's standing to the first request. */
const SETTLE_MS = 3000;

/** Puts the scene up, plays it and takes it down. */
export async function playCrowd(law: CrowdAlgorithm, options: PlayOptions): Promise<CrowdResult> {
  const { connection, kubectl, seed, seconds, onProgress = () => {} } = options;
  await using _market = await switchMarket(kubectl, law === "with");
  const closeAccount = await openWriteAccount(options);
  await using crowd = await putUpCrowd(connection, crowdLoad(PERFORMERS, { seed, seconds }));
  const { namespaces } = crowd;
  const all = Object.values(namespaces);
  const before = await dumpCluster(connection);
  const startMs = Date.now() + SETTLE_MS;
  await crowd.begin(startMs);
  const when = { connection, startMs, seconds };
  const busyCores = measureMachine();
  const names = new Set(PERFORMERS.map(({ name }) => name));
  const [observed, quotas, replicas, bounds] = await Promise.all([
    observe(PERFORMERS.map(({ name, member }) => ({ name, ownLimit: member.limit })), {
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
  const busy = busyCores();
  const after = await dumpCluster(connection);
  const account = await closeAccount();
  const performers = performersOf({ observed, served: await crowd.served() }, seconds);
  const usedMsPerS = performers.reduce((sum, each) => sum + each.usedMsPerS, 0);
  const inRun = account.answers.filter((answer) => {
    const atS = secondOf(answer, startMs);
    return atS >= 0 && atS < seconds && answerKind(answer) === "accepted";
  });
  return {
    law,
    seed,
    seconds,
    at: new Date().toISOString(),
    kernel: Deno.osRelease(),
    writes: {
      ...writesOf(account, { startMs, lab: namespaces.lab }),
      events: await eventMessages(connection, { namespaces: all, reason: "CPULimitFailed" }),
    },
    quotas: columnsOf(quotas),
    objects: {
      before: before.size,
      after: after.size,
      differences: dumpDifferences({ before, after }, {
        namespaces: all,
        scaled: { namespace: namespaces.shop, name: SCALED },
      }),
      optedOutSame: sameSpec({ before, after }, `pods. ${namespaces.lab}/${OPTED_OUT}`),
    },
    neverReady: neverReadyOf({ observed, quotas }),
    ...(law === "with" ? { bounds } : {}),
    replicas: [...replicas],
    notCreated: await eventMessages(connection, { namespaces: all, reason: "FailedCreate" }),
    figures: {
      throttledMsPerS: performers.reduce((sum, each) => sum + each.throttledMsPerS, 0),
      changesPerMinute: 60 * inRun.length / seconds,
      coresAllocated: performers.reduce((sum, each) => sum + each.meanLimit, 0) / 1000,
      coresUsed: usedMsPerS / 1000,
      othersCores: busy - usedMsPerS / 1000,
    },
    performers,
  };
}

function secondOf({ at }: ResizeAnswer, startMs: number): number {
  return (Date.parse(at) - startMs) / 1000;
}

function writesOf(
  { answers, byCode, mutations, outcomes, held, lostControllers }: WriteAccount,
  { startMs, lab }: { readonly startMs: number; readonly lab: string },
): Omit<CrowdResult["writes"], "events"> {
  const kinds = answers.map((answer) => ({ answer, kind: answerKind(answer) }));
  return {
    byKind: tally(kinds.map(({ kind }) => ({ what: kind, count: 1 }))),
    notAccepted: kinds.filter(({ kind }) => kind !== "accepted").map(({ answer, kind }) => {
      const { user, pod, code, message } = answer;
      return { atS: secondOf(answer, startMs), user, pod, code, kind, message };
    }),
    ofOptedOut: answers.filter(({ namespace, pod }) => namespace === lab && pod === OPTED_OUT)
      .length,
    byCode: [...byCode],
    mutations: [...mutations],
    outcomes: [...outcomes],
    held: [...held],
    lostControllers,
  };
}

function columnsOf({ samples }: QuotaRecord): CrowdResult["quotas"] {
  return PLACES.map(({ name }) => {
    const here = samples.filter(({ place }) => place === name);
    return {
      place: name,
      limits: here.map(({ limits }) => limits),
      used: here.map(({ used }) => used),
      hard: here.map(({ hard }) => hard),
      usedRequests: here.map(({ usedRequests }) => usedRequests),
      hardRequests: here.map(({ hardRequests }) => hardRequests),
    };
  });
}

function sameSpec(
  { before, after }: { readonly before: ClusterDump; readonly after: ClusterDump },
  key: string,
): boolean {
  const [was, is] = [before.get(key)?.["spec"], after.get(key)?.["spec"]];
  return was !== undefined && JSON.stringify(was) === JSON.stringify(is);
}

function neverReadyOf(
  { observed, quotas: { neverReady } }: {
    readonly observed: readonly ObservedService[];
    readonly quotas: QuotaRecord;
  },
): CrowdResult["neverReady"] {
  const index = PERFORMERS.findIndex(({ name }) => name === NEVER_READY);
  const limit = observed[index]?.limit ?? new Float32Array();
  return {
    spec: lowerings(neverReady, 1),
    kernel: lowerings(limit, STEP_MS / 1000),
  };
}

function performersOf(
  { observed, served }: {
    readonly observed: readonly ObservedService[];
    readonly served: ReadonlyMap<string, ServedRequests>;
  },
  seconds: number,
): CrowdResult["performers"] {
  return PERFORMERS.flatMap(({ name, member }, index) => {
    const [seen, requests] = [observed[index], served.get(name)];
    if (seen === undefined || requests === undefined) return [];
    const { atMs, doneMs } = requests;
    // What isn't done is NaN, and no comparison with that holds.
    const waits = Array.from(doneMs, (done, each) => done - (atMs[each] ?? NaN))
      .filter((_, each) => (doneMs[each] ?? NaN) <= 1000 * seconds);
    return [{
      name,
      ownLimit: member.limit,
      meanLimit: mean(seen.limit),
      mostLimit: Math.max(...seen.limit),
      usedMsPerS: seen.total.usageMs / seconds,
      throttledMsPerS: seen.total.throttledMs / seconds,
      requests: atMs.length,
      completed: waits.length,
      p50Ms: waits.length === 0 ? 0 : quantile(waits, 0.5),
      p99Ms: waits.length === 0 ? 0 : quantile(waits, 0.99),
    }];
  });
}
