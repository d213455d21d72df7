/**
 * The crowded scene of `deno task bench:crowded`, cut short: quotas, a LimitRange, two priorities, an
 * autoscaler, a pod that is opted out and one that is never Ready.
 *
 * @module
 */
import assert from "node:assert/strict";
import { OPTED_OUT } from "../../lab/bench/crowded/crowd.ts";
import { playCrowd } from "../../lab/bench/crowded/play_crowd.ts";
import { verdictsOf } from "../../lab/bench/crowded/verdicts.ts";
import { loadServiceImage } from "../../lab/bench/services/service_image.ts";
import { auditLog } from "./harness/component.ts";
import { instanceNamed } from "./harness/instance.ts";
import { createKubectl } from "./kubectl.ts";
import { isHarness } from "./scene/harness_access.ts";
import { openRealNode } from "./scene/real_node.ts";

/** The first wave and the workers' first rush; the autoscaler has scaled up by then. */
const SECONDS = 90;

Deno.test({
  name: "a crowded node keeps its quotas, and what is not the market's is left as it is",
  // Needs the API server's audit log, and an image that is made here.
  ignore: !isHarness(),
  fn: crowded,
});

async function crowded(test: Deno.TestContext): Promise<void> {
  const instance = Deno.env.get("COALLOCATOR_CLUSTER") ?? "coallocator";
  await loadServiceImage(instance);
  using node = await openRealNode();
  const result = await playCrowd({
    connection: node.connection,
    kubectl: createKubectl(),
    auditFile: auditLog(instanceNamed(instance)),
    seed: 1,
    seconds: SECONDS,
  });
  await test.step("the autoscaler scales, and the kernel keeps the opted-out pod's original limit", () => {
    const { replicas, performers } = result;
    const most = Math.max(...replicas.map(({ wanted }) => wanted));
    assert.ok(most > 1, `up to ${most} replicas`);
    const aside = performers.find(({ name }) => name === OPTED_OUT);
    assert.ok(aside !== undefined);
    assert.deepEqual([aside.meanLimit, aside.mostLimit], [
      aside.originalLimit,
      aside.originalLimit,
    ]);
  });
  for (const { goal, met, found } of verdictsOf(result)) {
    await test.step(goal, () => assert.ok(met, found));
  }
}
