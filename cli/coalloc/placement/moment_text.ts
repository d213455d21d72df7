/**
 * Times of the day. They do not run on while nothing changes, as ages do.
 *
 * @module
 */

/** `12:00:10Z`; on another day than that of `nowMs` `2026-01-02 02:00:00Z`. Rounded up to whole seconds. */
export function momentText(iso: string, nowMs: number): string {
  const at = new Date(Math.ceil(Date.parse(iso) / 1000) * 1000).toISOString();
  const [day = "", time = ""] = at.split("T");
  const clock = `${time.slice(0, 8)}Z`;
  return new Date(nowMs).toISOString().startsWith(day) ? clock : `${day} ${clock}`;
}
