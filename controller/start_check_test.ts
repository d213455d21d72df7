import assert from "node:assert/strict";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { ApiError } from "../shared/api/api_error.ts";
import type { Node } from "../shared/api/node.ts";
import { silentLog } from "../shared/log.ts";
import { seededRandom } from "../shared/random.ts";
import { sampleNode } from "../tests/contract/support/sample_objects.ts";
import { createWatchedCache } from "../tests/fixtures/caches.ts";
import { pure } from "../tests/fixtures/pure.ts";
import {
  createServedResize,
  reportOldKubelets,
  startCheck,
  type StartVerdict,
} from "./start_check.ts";
import type { ApiFindings } from "../adapters/kube/client/api_checks.ts";

const FINE: ApiFindings = {
  ...{ serverVersion: "v1.36.3", servesPodResize: true, servesAllocations: true },
  ...{ lowersMemoryLimits: true, unknownFields: [] },
};

/** The verdict on a server that answers with this, or fails. */
function check(
  findings: Partial<ApiFindings> | Error,
  { signal } = new AbortController(),
): Promise<StartVerdict> {
  const ask = () =>
    findings instanceof Error
      ? Promise.reject(findings)
      : Promise.resolve({ ...FINE, ...findings });
  const clock = createVirtualClock({ wallStart: 0 });
  const parts = { ask, clock, random: seededRandom(1), log: silentLog };
  return startCheck({ ...parts, waitsFor: () => {} }, signal);
}

pure("startCheck() returns whether the server resizes pods", async () => {
  for (const servesPodResize of [true, false]) {
    const found = { servesPodResize, lowersMemoryLimits: servesPodResize };
    assert.deepEqual(await check(found), found);
  }
});

pure("startCheck() passes on a fault of the program, and can be stopped", async () => {
  await assert.rejects(check(new TypeError("a fault")), TypeError);
  const stopped = new AbortController();
  stopped.abort();
  assert.equal(await check({}, stopped), "stopped");
});

pure(
  "createServedResize() has the last answer of the server, and reports another one",
  async () => {
    const answers: readonly (Partial<ApiFindings> | ApiError)[] = [
      { lowersMemoryLimits: true },
      new ApiError(503, "ServiceUnavailable", "later"),
      { servesPodResize: false, lowersMemoryLimits: false },
    ];
    const rest = answers.values();
    const clock = createVirtualClock({ wallStart: 0 });
    const ask = () => {
      const { value = {} } = rest.next();
      return value instanceof ApiError
        ? Promise.reject(value)
        : Promise.resolve({ ...FINE, ...value });
    };
    const first = { servesPodResize: true, lowersMemoryLimits: false };
    const resize = createServedResize({ ask, clock, log: silentLog }, first);
    let changes = 0;
    resize.subscribe(() => changes++);
    const over = new AbortController();
    const running = resize.run(over.signal);
    const found = [];
    for (let count = 0; count <= answers.length; count++) {
      found.push([resize.served, resize.lowersMemoryLimits, changes]);
      await clock.runUntil(clock.monotonic() + 300_000);
    }
    assert.deepEqual(found, [[true, false, 0], [true, true, 0], [true, true, 0], [
      false,
      false,
      1,
    ]]);
    over.abort();
    await running;
  },
);

pure("reportOldKubelets() reports a node once, and again after it changed", () => {
  const nodes = createWatchedCache<Node>();
  const logged: unknown[] = [];
  const warn = (_text: string, fields?: object) => void logged.push(fields);
  reportOldKubelets(nodes, { ...silentLog, warn });
  for (const kubeletVersion of ["v1.30.1", "v1.30.1", "v1.33.1", "v1.30.1"]) {
    nodes.put({ ...sampleNode("n"), kubeletVersion });
  }
  nodes.remove(sampleNode("n"));
  assert.deepEqual(logged, Array(2).fill({ node: "n", kubelet: "v1.30.1" }));
});
