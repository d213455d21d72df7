/**
 * The installed product with its market on or off.
 *
 * The comparison without the product is one with the market switched off: agent and controller still
 * run and use what they use, objects and namespaces are the same to the last field, and no program
 * changes a limit. What then differs is what the limits do.
 *
 * @module
 */
import { parse, stringify } from "yaml";
import { objectOf } from "../../../adapters/kube/client/json_fields.ts";
import type { Kubectl } from "../../../tests/cluster/kubectl.ts";
import { PRODUCT_NAMESPACE } from "../../../tests/cluster/scene/product/product.ts";
import { until } from "../../../tests/cluster/scene/until.ts";
import { scrapeControllers } from "./counters.ts";

const CONFIG = ["configmap", "mbcas-config", "-n", PRODUCT_NAMESPACE];

/** The settings' text with the market switched; all other settings stay. */
export function switchedSettings(text: string, market: boolean): string {
  const settings = objectOf(parse(text));
  const { market: before } = settings;
  const enabled = market ? "on" : "off";
  return stringify({ ...settings, market: { ...objectOf(before), enabled } });
}

/** Switches the market in the running programs; what was there comes back in the end. */
export async function switchMarket(kubectl: Kubectl, market: boolean): Promise<AsyncDisposable> {
  const path = ["-o", "jsonpath={.data.config\\.yaml}"];
  const before = await kubectl.must(["get", ...CONFIG, ...path]);
  const apply = (text: string): Promise<string> =>
    kubectl.must(["patch", ...CONFIG, "-p", JSON.stringify({ data: { "config.yaml": text } })]);
  const switched: AsyncDisposable = { [Symbol.asyncDispose]: () => apply(before).then(() => {}) };
  try {
    await apply(switchedSettings(before, market));
    await until(`controllers with the market ${market ? "on" : "off"}`, async () => {
      const all = await scrapeControllers(kubectl);
      const follow = all.every(({ counters }) =>
        counters.some(({ name, value }) =>
          name === "mbcas_market_enabled" && value === (market ? 1 : 0)
        )
      );
      return all.length > 0 && follow ? true : undefined;
    });
  } catch (error) {
    await switched[Symbol.asyncDispose]();
    throw error;
  }
  return switched;
}
