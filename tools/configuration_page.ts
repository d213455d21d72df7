/**
 * The text of docs/configuration.md, from the programs' settings.
 *
 * @module
 */
import {
  fileKeysOf,
  flagsOf,
  sectionOf,
  settingsOf,
  type SettingsSchema,
} from "../shared/config/setting.ts";

/** A program and its settings. */
export interface DescribedProgram {
  readonly title: string;
  readonly schema: SettingsSchema;
}

/** The page of all programs' settings, from its heading to its last line. */
export function settingsPage(programs: readonly DescribedProgram[]): string {
  const sections = programs.map(programSection);
  return `${INTRODUCTION}\n${[...sections, ...otherNames(programs)].join("\n")}`;
}

const INTRODUCTION = `# Configuration

<!-- Made from the schemas of settings by \`deno task generate:docs\`; changes here are lost. -->

A flag takes precedence over a variable, a variable over the file, and the file over the default. The
file is YAML with one section per part of the product. Both programs read the same file; in a cluster it
is the key \`config.yaml\` of the ConfigMap \`mbcas-config\`. Each program checks the sections that it
uses. If a key, variable or flag is unknown, or a value is not valid, the program prints one line per
fault and exits with code 2. The programs in the images can read only the variables on this page and
renamed variables of Spotalis, so they ignore a misspelt variable. At its start, a program logs each
value and its source. No setting holds a secret.

\`\`\`yaml
market:
  burstFactor: 3
  excludedNamespaces: [kube-system, kube-public, kube-node-lease, mbcas-system, batch]
log:
  level: debug
\`\`\`

\`market: off\` in place of the section is short for \`market: {enabled: off}\`. The controller
follows the ConfigMap while it runs: it applies settings marked *live* within seconds, and the others at
its next start. If the file has a fault, the controller logs it and keeps its settings, except that
\`market: off\` takes effect. If a controller starts with such a file, it only gives pods their original
limits back. The controller logs each value of the file that a flag or a variable overrides. Agents read
their settings at their start.

Permissions that are part of the images fix some settings: for the agent \`listen\`, \`cgroupRoot\`,
\`kernelRoot\` and \`--kubeconfig\`, and for both programs the folder of \`--config\`, \`/etc/mbcas\`.
Mount certificate files at \`/etc/mbcas-webhook\`, or below \`/etc/mbcas\` with
\`webhook.certificateFolder\` set to that folder. If you change \`controller.listen\` or
\`webhook.listen\`, change the port in the Deployment and the NetworkPolicy, too.
`;

function programSection({ title, schema }: DescribedProgram): string {
  const rows = settingsOf(schema).map((setting) => {
    const { key, flag, env, default: text, description, expects, live } = setting;
    const cells = [
      sectionOf(key) === undefined ? "–" : code(key),
      code(flag),
      code(env),
      code(text),
      `${description}${live ? " (*live*)" : ""}`,
      expects,
    ];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
  const head = ["In the file", "Flag", "Variable", "Default", "What it does", "Values"];
  return [
    `## ${title}\n`,
    `| ${head.join(" | ")} |`,
    `| ${head.map(() => "---").join(" | ")} |`,
    ...rows,
    "",
  ].join("\n");
}

/** The names that settings have beside their own, where there are any. */
function otherNames(programs: readonly DescribedProgram[]): readonly string[] {
  const settings = programs.flatMap(({ schema }) => settingsOf(schema));
  const rows = settings.flatMap((setting) => {
    const { key, flag, aliases, aliasNote } = setting;
    const note = aliasNote === undefined ? "" : `: ${aliasNote}`;
    const inFile = aliases.filter((name) => fileKeysOf(setting).includes(name));
    const typed = aliases.filter((name) => flagsOf(setting).includes(name));
    return [
      ...typed.map((name) => `| ${code(name)} | ${code(flag ?? key)}${note} |`),
      ...inFile.map((name) => `| ${code(`${name}:`)} | ${code(key)} |`),
    ];
  });
  if (rows.length === 0) return [];
  // Both programs have a log.
  return [[OTHER_NAMES, "| Name | Sets |", "| --- | --- |", ...new Set(rows), ""].join("\n")];
}

const OTHER_NAMES = `## Names that OptiPod and Spotalis had

These settings also accept the flags and keys of OptiPod. The keys can stay in the \`data\` of the
ConfigMap, which is now \`mbcas-config\`, with or without \`config.yaml\`. They can also be at the top
level of the file; numbers and switches can be in quotes there. Such keys have the precedence of the
file: flags and variables override them, and the controller follows them while it runs. An empty key
counts as not set. Any other key beside \`config.yaml\` is a fault: put certificates and the like into a
volume of their own.

\`config.yaml\` can be an unchanged file of Spotalis with a section \`controller\`. Keys with a dot in
this table are keys of its sections. Its port of metrics serves the probes, too. [The form with a section
\`controllers\`](placement.md#coming-from-spotalis) and its variables must be rewritten.

Two flags, or two keys, that give one setting different values are a fault; the message names both. A
flag takes precedence over the file under each of its names. \`--dry-run\`, \`--metrics-provider\`,
\`--enable-leader-election\` and \`--prometheus-url\` have the same names here.
`;

function code(text: string | undefined): string {
  return text === undefined || text === "" ? "–" : `\`${text}\``;
}
