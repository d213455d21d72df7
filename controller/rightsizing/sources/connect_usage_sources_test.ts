import assert from "node:assert/strict";
import { effectiveSettings } from "../../../shared/config/load.ts";
import { silentLog } from "../../../shared/log.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { sceneQuestion } from "../../../tests/contract/support/usage_scene.ts";
import {
  serveCustomUsage,
  servePrometheusStandIn,
} from "../../../tests/fixtures/rightsizing/usage_stand_ins.ts";
import { CONTROLLER_SETTINGS } from "../../settings.ts";
import type { UsageSource } from "../ports.ts";
import { connectUsageSources } from "./connect_usage_sources.ts";

const END_MS = Date.UTC(2026, 0, 1);
const NEVER = new AbortController().signal;
const INTERVAL = { intervalMs: 60_000 };

/** The sources of a settings file. */
function connect(text: string) {
  const file = { path: "config.yaml", text };
  const read = effectiveSettings(CONTROLLER_SETTINGS, { file });
  assert.ok(!("faults" in read), JSON.stringify(read));
  const sampler: UsageSource = { usage: () => Promise.resolve({ usage: new Map() }) };
  const clock = createVirtualClock({ wallStart: END_MS });
  return connectUsageSources({ settings: () => read.values, sampler, clock, log: silentLog });
}

Deno.test("property 30: connectUsageSources() selects a source by what stands in the settings file", async () => {
  await using prometheus = servePrometheusStandIn(END_MS);
  await using billing = serveCustomUsage(END_MS);
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/token`, "t0ken");
    const sources = connect(`
metrics:
  prometheusURL: ${prometheus.url}
  prometheusLogin: tokenFile=${folder}/token
rightsizing:
  customSources:
    billing: ${billing.url}/v1 tokenFile=${folder}/token
    broken: ${billing.url}/v2 tokenFile=${folder}/none
`);
    const ask = (policy: Parameters<typeof sources.of>[0]) =>
      sources.of(policy).usage(sceneQuestion(END_MS), NEVER);
    const found = await ask({ provider: "custom", customSource: "billing", ...INTERVAL });
    assert.ok("usage" in found && (found.usage.get("app")?.cpu.count ?? 0) > 0);
    const broken = await ask({ provider: "custom", customSource: "broken", ...INTERVAL });
    assert.ok("problem" in broken && broken.problem === "unreachable");
    assert.ok(broken.message.includes(`${folder}/none`), broken.message);
    const asked = await ask({ provider: "prometheus", ...INTERVAL });
    assert.ok("usage" in asked && (asked.usage.get("app")?.cpu.count ?? 0) > 0);
    assert.deepEqual(await ask({ provider: "metrics-server", ...INTERVAL }), { usage: new Map() });
    assert.deepEqual(billing.requests.map(({ path }) => path), ["/v1"]);
    for (const { headers } of [...prometheus.requests, ...billing.requests]) {
      assert.equal(headers.get("authorization"), "Bearer t0ken");
    }
    sources.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("connectUsageSources() says that no Prometheus is configured", async () => {
  const sources = connect("");
  const answer = await sources.of({ provider: "prometheus", ...INTERVAL })
    .usage(sceneQuestion(END_MS), NEVER);
  assert.ok("problem" in answer && answer.problem === "unavailable");
  sources.close();
});

Deno.test("connectUsageSources() sends the configured headers, and asks for the configured labels alone", async () => {
  await using prometheus = servePrometheusStandIn(END_MS);
  const samplesOf = async (cluster: string): Promise<number | undefined> => {
    const sources = connect(`
metrics:
  prometheusURL: ${prometheus.url}
  prometheusHeaders:
    X-Scope-OrgID: shop
  prometheusMatchers: 'cluster="${cluster}"'
`);
    const answer = await sources.of({ provider: "prometheus", ...INTERVAL })
      .usage(sceneQuestion(END_MS), NEVER);
    sources.close();
    return "usage" in answer ? answer.usage.get("app")?.cpu.count : undefined;
  };
  assert.ok((await samplesOf("prod") ?? 0) > 0);
  assert.equal(await samplesOf("other"), 0);
  assert.ok(prometheus.requests.length >= 4);
  for (const { headers } of prometheus.requests) {
    assert.equal(headers.get("x-scope-orgid"), "shop");
  }
});
