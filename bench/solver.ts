/**
 * Times the market's clearing by number of bids and mode, and measures how exact it is:
 * `deno task bench:solver`.
 *
 * @module
 */
import { measureResiduals } from "./solver/exactness.ts";
import { measureTimes } from "./solver/timing.ts";
import { parseCommandLine } from "./solver/command_line.ts";
import { solverTable } from "./solver/table.ts";
import { printAnswer } from "./parse_flags.ts";

const request = parseCommandLine(Deno.args);
if ("exitCode" in request) Deno.exit(printAnswer(request));
const report = {
  times: measureTimes(request),
  residuals: measureResiduals(request),
};
console.log(request.json ? JSON.stringify(report, undefined, 2) : solverTable(report));
