/**
 * The routes that every program serves: `/healthz`, `/readyz` and `/metrics`.
 *
 * @module
 */
import { Hono } from "hono";

/** What the routes tell of. */
export interface HealthOptions {
  /** Why the program is stuck and should be restarted; undefined while it works. */
  readonly unhealthy: () => string | undefined;
  /** Why the program can't do its work yet; undefined when it can. */
  readonly unready: () => string | undefined;
  /** Where the metrics are kept, a registry of prom-client. */
  readonly registry: { readonly contentType: string; metrics(): Promise<string> };
}

/** An app with the three routes; others may be added to it. Answers 503 with the reason. */
export function healthRoutes({ unhealthy, unready, registry }: HealthOptions): Hono {
  const app = new Hono();
  for (const [path, fault] of [["/healthz", unhealthy], ["/readyz", unready]] as const) {
    app.get(path, (context) => {
      const reason = fault();
      return reason === undefined ? context.text("ok\n") : context.text(`${reason}\n`, 503);
    });
  }
  app.get("/metrics", async () => {
    const text = await registry.metrics();
    return new Response(text, { headers: { "content-type": registry.contentType } });
  });
  return app;
}
