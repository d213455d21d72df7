/**
 * Times the market's clearing by number of bids and mode, and measures how exact it is:
 * `deno task bench:solver`.
 *
 * @module
 */
import { measureResiduals } from "./exactness.ts";
import { measureTimes } from "./timing.ts";
import { parseCommandLine } from "./command_line.ts";
import { solverTable } from "./table.ts";
import { printAnswer } from "../parse_flags.ts";

const request = parseCommandLine(Deno.args);
if ("exitCode" in request) Deno.exit(printAnswer(request));
const report = {
  times: measureTimes(request),
  residuals: measureResiduals(request),
};
console.log(request.json ? JSON.stringify(report, undefined, 2) : solverTable(report));
