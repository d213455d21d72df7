/**
 * How long threads with work stood still, from the requests alone: a check on the kernel's counters,
 * which count at two levels what may be the same pause.
 *
 * @module
 */
import type { ServedRequests } from "../services/request_file.ts";

/**
 * CPU time that the threads would have had on `cores` CPUs of their own, less what they got, ms up
 * to `endMs`. The node model's throttled time is that, as far as no other program takes a CPU; here
 * waiting for such a program is in it too, so it is an upper bound. Requests that were begun and not
 * done count with what they can have had at most: nothing is known of them.
 */
export function standingTime(
  { atMs, costMs, takenMs, doneMs }: ServedRequests,
  { cores, endMs }: { readonly cores: number; readonly endMs: number },
): number {
  const moments: { readonly at: number; readonly busy: number }[] = [];
  let got = 0;
  for (const [index, at] of atMs.entries()) {
    const begin = Math.max(at, takenMs[index] ?? NaN);
    const done = doneMs[index] ?? NaN;
    if (Number.isNaN(begin) || Number.isNaN(done) || done > endMs) continue;
    moments.push({ at: begin, busy: 1 }, { at: done, busy: -1 });
    got += costMs[index] ?? 0;
  }
  moments.sort((a, b) => a.at - b.at);
  let busy = 0;
  let wanted = 0;
  for (const [index, moment] of moments.entries()) {
    busy += moment.busy;
    const until = moments[index + 1]?.at ?? moment.at;
    wanted += Math.min(busy, cores) * (until - moment.at);
  }
  return Math.max(0, wanted - got);
}
