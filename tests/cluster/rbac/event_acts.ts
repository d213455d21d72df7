/**
 * What the controller reports: an event on a pod, and that it came about again.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { createEventSink } from "../../../adapters/kube/writers/event_sink.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { silentLog } from "../../../shared/log.ts";
import { until } from "../scene/until.ts";
import type { RoleAct } from "./role_act.ts";
import type { RoleStage } from "./role_stage.ts";

const RIGHTS = "events.events.k8s.io";

/** An act for `create` and one for `patch`. */
export function eventActs(): readonly [create: RoleAct, patch: RoleAct] {
  return [
    {
      right: `create ${RIGHTS}`,
      deed: "report a change",
      perform: (connection, stage) => report(1, { connection, stage }),
    },
    {
      right: `patch ${RIGHTS}`,
      deed: "report that a change came about again",
      perform: (connection, stage) => report(2, { connection, stage }),
    },
  ];
}

/** Reports the same as often as that; throws unless it is then one event that was counted so often. */
async function report(
  times: number,
  { connection, stage }: { readonly connection: KubeConnection; readonly stage: RoleStage },
): Promise<void> {
  let answers = 0;
  const counted: KubeConnection = {
    ...connection,
    request: (request) => connection.request(request).finally(() => answers++),
  };
  const sink = createEventSink(counted, { clock: systemClock, log: silentLog });
  const stop = new AbortController();
  const running = sink.run(stop.signal);
  const { name, namespace, uid } = stage.pod.metadata;
  // Unlike what was reported before, with fewer rights.
  const message = `tried ${crypto.randomUUID()}`;
  const note = { namespace, podName: name, podUID: uid, type: "Normal", message } as const;
  for (let time = 0; time < times; time++) sink.emit({ ...note, reason: "CPULimitHeld" });
  try {
    await until(`${times} answers`, () => answers >= times || undefined, { everyMs: 5 });
  } finally {
    stop.abort();
    await running;
  }
  assert.equal(await stage.loggedTimes(message), times);
}
