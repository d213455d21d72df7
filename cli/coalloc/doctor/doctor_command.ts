/**
 * `doctor`: checks cluster, installation and managed pods, and shows problems with their remedies.
 *
 * Exit codes: 1 with a finding of severity `error`, otherwise 3 where a check could not run, and 0.
 *
 * @module
 */
import { Command } from "commander";
import { type Paint, paint, textLines } from "../../terminal/terminal_text.ts";
import { examples, INTERRUPTED } from "../global_flags.ts";
import { structuredOutput } from "../output.ts";
import type { CommandContext } from "../ports.ts";
import { type Check, diagnose, type Diagnosis, SEVERITIES, type Severity } from "./check.ts";
import { INSTALLATION_CHECKS } from "./installation_checks.ts";
import { NETWORK_CHECKS } from "./network_checks.ts";
import { PLATFORM_CHECKS } from "./platform_checks.ts";
import { WORKLOAD_CHECKS } from "./workload_checks.ts";

/** Each check of `doctor`. */
export const CHECKS: readonly Check[] = [
  ...PLATFORM_CHECKS,
  ...INSTALLATION_CHECKS,
  ...NETWORK_CHECKS,
  ...WORKLOAD_CHECKS,
];

/** Exit code without an error, but with a check that could not run. */
const UNCHECKED = 3;

const STYLES: Readonly<Record<Severity, Paint>> = { error: "red", warning: "yellow", info: "dim" };

/** The command without its action and the flags that all commands have. */
export function doctorArguments(): Command {
  return new Command("doctor").summary("what is wrong with the installation, and what to do")
    .description(
      "Checks the cluster, the installation and the pods that it manages: versions, nodes, names and\n" +
        "ways through the network, certificates, clocks, rates and other autoscalers. Changes nothing.\n" +
        "Exit code 1 with an error among the findings, 3 where a check could not look.",
    )
    .addHelpText(...examples([
      ["kubectl coalloc doctor", "all checks"],
      ["kubectl coalloc doctor -o json", "for programs"],
    ]));
}

/** Shows the findings. Resolves with the exit code. */
export async function doctorCommand(
  { cluster, world, output, style }: CommandContext,
): Promise<number> {
  const diagnosis = diagnose(await cluster.diagnosis.snapshot(), CHECKS);
  if (world.signal.aborted) return INTERRUPTED;
  world.out(structuredOutput(diagnosis, output) ?? textOf(diagnosis, style));
  const { findings, unchecked } = diagnosis;
  if (findings.some(({ severity }) => severity === "error")) return 1;
  return unchecked.length > 0 ? UNCHECKED : 0;
}

function textOf(
  { findings, unchecked, checked }: Diagnosis,
  style: CommandContext["style"],
): string {
  const lines = findings.flatMap(({ severity, code, object, seen, remedy }) => [
    `${paint(severity.padEnd(7), STYLES[severity], style)}  ${
      paint(code, "bold", style)
    }  ${object}`,
    `         ${seen}`,
    `         → ${remedy}`,
  ]);
  const counts = SEVERITIES.map((severity) =>
    `${severity}s: ${findings.filter((one) => one.severity === severity).length}`
  );
  const unknown = unchecked.length === 0 ? [] : [`could not look: ${unchecked.length}`];
  return textLines([
    ...lines,
    ...unchecked.map(({ check, why }) => `unknown  ${check}: ${why}`),
    ...(lines.length + unchecked.length > 0 ? [""] : []),
    `Checks: ${checked}; ${[...counts, ...unknown].join(", ")}`,
  ]);
}
