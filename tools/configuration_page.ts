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

A flag takes precedence over a variable, a variable over the file, the file over the default. The file
is YAML with one section per part of the product; both programs read the same one, in a cluster the key
\`config.yaml\` of the ConfigMap \`mbcas-config\`. Each program checks the sections that it uses: an
unknown key, variable or flag, and a value that does not fit, end it with exit code 2 and one line per
fault. The images may read the variables of this page alone, and those of Spotalis that have another name
here: there a misspelt one is passed over. At its start a program logs what holds and where each value
came from. There are no secrets among them.

\`\`\`yaml
market:
  burstFactor: 3
  excludedNamespaces: [kube-system, kube-public, kube-node-lease, mbcas-system, batch]
log:
  level: debug
\`\`\`

\`market: off\` in place of the whole section is short for \`market: {enabled: off}\`. The controller
follows the ConfigMap while it runs: settings marked *live* hold within seconds, the others from the
next start on; a text with faults is refused and logged, all but a market that it turns off. With such
a text the controller starts, too, and does nothing but give pods their original limits back. A value that a
flag or a variable overrides is logged. The agents read theirs at their
start.

Permissions that are part of the images fix some settings: the agent's \`listen\`, \`cgroupRoot\`,
\`kernelRoot\` and \`--kubeconfig\`, and for both programs the folder of \`--config\`, \`/etc/mbcas\`. Certificates of files
stand in \`/etc/mbcas-webhook\` or below \`/etc/mbcas\`: mount them there, and say
\`webhook.certificateFolder\` where it is another folder than the first. Another \`controller.listen\`
or \`webhook.listen\` needs its port in the Deployment and the NetworkPolicy, too.
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

Flags and keys of OptiPod are accepted for these settings. The keys may stay what they were, keys in
the \`data\` of the ConfigMap, now \`mbcas-config\`, beside \`config.yaml\` or without it; or they stand at
the top of the file, in no section, numbers and switches in quotes too. They count as the file, flags
and variables take precedence over them, and they are followed while the controller runs. Any other key beside
\`config.yaml\` is a fault: certificates and the like belong into a volume of their own. An empty key is
none.

The file of Spotalis is accepted as it is, as \`config.yaml\`, in the form with a section
\`controller\`: its keys with a dot in this table are those of its sections. Its port of metrics serves
the probes, too. [The form with a section \`controllers\`](placement.md#coming-from-spotalis) has to be
written anew, and so have its variables.

Two flags, or two keys, that give one setting different values are a fault that names both; a flag
takes precedence over the file whichever names they use. \`--dry-run\`, \`--metrics-provider\`,
\`--enable-leader-election\` and \`--prometheus-url\` are this program's own.
`;

function code(text: string | undefined): string {
  return text === undefined || text === "" ? "–" : `\`${text}\``;
}
