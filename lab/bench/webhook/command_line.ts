/**
 * The command line of the benchmark of the webhook.
 *
 * @module
 */
import { Command } from "commander";
import { type Answer, parseFlags, wholeNumber } from "../parse_flags.ts";

/** How much is asked, and how to print. */
export interface WebhookBench {
  readonly json: boolean;
  /** How long, s. */
  readonly seconds: number;
  /** Admissions a second. */
  readonly rate: number;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseWebhookBench(args: readonly string[]): WebhookBench | Answer {
  const program = new Command("bench:webhook")
    .description(
      "Admissions of pods through the leader's webhook over TLS on 127.0.0.1: times, errors, memory.\n" +
        "Exits with 1 when a goal is missed.",
    )
    .option("--json", "print JSON instead of a table", false)
    .option("--seconds <n>", "how long", wholeNumber, 60)
    .option("--rate <n>", "admissions a second", wholeNumber, 200);
  return parseFlags<WebhookBench>(program, args);
}
