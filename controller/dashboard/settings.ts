/**
 * The settings of the dashboard.
 *
 * @module
 */
import { DASHBOARD_PORT } from "../../shared/installation.ts";
import * as z from "zod";
import { listenKind, numberKind, switchKind, textKind } from "../../shared/config/kinds.ts";
import { setting } from "../../shared/config/setting.ts";

/** No cloud's core or GiB costs as much an hour. */
const MOST_PRICE = 1_000_000;

const DASHBOARD_SHAPE = {
  dashboard: setting("dashboard.enabled", {
    kind: switchKind,
    default: "on",
    description:
      "on: serves the dashboard to requests with a token that the API server accepts. off: the " +
      "controller reads no views of the agents",
  }),
  dashboardListen: setting("dashboard.listen", {
    kind: listenKind,
    default: `:${DASHBOARD_PORT}`,
    description: "Address on which the dashboard is served, over plain HTTP",
  }),
  corePrice: setting("dashboard.corePrice", {
    kind: numberKind({ max: MOST_PRICE }),
    default: "0",
    description:
      "Price of one core per hour. The dashboard shows savings in money unless both prices are 0",
    live: true,
  }),
  gibPrice: setting("dashboard.gibPrice", {
    kind: numberKind({ max: MOST_PRICE }),
    default: "0",
    description: "Price of one GiB of memory per hour",
    live: true,
  }),
  currency: setting("dashboard.currency", {
    kind: textKind("a currency"),
    default: "USD",
    description: "Currency of both prices",
    live: true,
  }),
};

/** A part of the controller's settings. */
export const DASHBOARD_SETTINGS: z.ZodObject<typeof DASHBOARD_SHAPE> = z.object(DASHBOARD_SHAPE);
