/**
 * What API servers say of the webhook's failures.
 *
 * @module
 */
import type { Kubectl } from "../../kubectl.ts";
import { seriesIn } from "../product/product_metrics.ts";

const FAILED = /^apiserver_admission_webhook_fail_open_count\{.*name="[a-z.]+\.mbcas\.io"/;

/** How often the server has let an object pass because the webhook had not answered. */
export async function webhookFailures(kubectl: Kubectl): Promise<number> {
  const series = seriesIn(await kubectl.must(["get", "--raw", "/metrics"]));
  return [...series].filter(([name]) => FAILED.test(name))
    .reduce((sum, [, value]) => sum + value, 0);
}
