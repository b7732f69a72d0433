import { count, counted } from '../text/amounts.ts';
import type { Column } from './columns.ts';
import type { Exported } from './exported.ts';

/** Facts for the card (`README.md`) of a data set: what made it and what form it has. */
export interface CardFacts {
  /** Name of the pipeline. */
  readonly name: string;
  readonly description?: string;
  /** Name and version of the program: `promptpress 1.2.3`. */
  readonly madeBy: string;
  /** Commit of the pipeline file at its last run; absent outside of git. */
  readonly commit?: string;
  /** Whether the pipeline file differed from that commit. */
  readonly isChanged?: boolean;
  /** Whether the run was a rehearsal in the sandbox, where no model makes anything. */
  readonly sandbox: boolean;
  /** Name of the format in words: `images with metadata.csv`. */
  readonly form: string;
  /** Whether the data set contains the files of its rows. If not, they stay in the run directory. */
  readonly hasFiles: boolean;
}

/** Returns the `README.md` of a data set: its origin, its rows, what was left out, and its columns. Equal arguments give equal text. */
export function dataSetCard(facts: CardFacts, exported: Exported, columns: readonly Column[]): string {
  const { name, description, madeBy, commit, isChanged, sandbox, form, hasFiles } = facts;
  const from =
    commit === undefined
      ? 'The pipeline file was in no git repository.'
      : `The pipeline file was of commit \`${commit}\`${isChanged === true ? ', with changes that were not committed' : ''}.`;
  return `---
pretty_name: ${JSON.stringify(name)}
---

# ${inLine(name)}

${description === undefined ? '' : `${inLine(description)}\n\n`}${sandbox ? 'A rehearsal: a local service drew the images and wrote the texts, and no model made any of them.\n\n' : ''}Made by ${madeBy} from the pipeline ${code(name)}. ${from}

## What is in it

${counted(exported.rows, 'row')}, ${counted(exported.files, 'file')}; ${form}.${hasFiles ? '' : ' The files that the rows name are not in it: `file_name` is relative to the run directory.'}

${table(
  ['step', 'rows'],
  [...exported.steps].map(([step, rows]) => [inLine(step), count(rows)]),
)}
${
  exported.parts.length === 0
    ? ''
    : `${table(
        ['part', 'rows'],
        exported.parts.map(({ part, rows }) => [inLine(part), count(rows)]),
      )}\n`
}${leftOut(exported)}
## Columns

${table(
  ['column', 'type', 'is'],
  columns.map(({ name: column, kind, about }) => [code(column), kind, inLine(about)]),
)}
## Licence

To be filled in by whoever publishes this data set. The terms of the services and models that made it may say what can stand here.
`;
}

function leftOut({ leftOut: { statuses, uncaptioned, grids }, problems, withoutImage }: Exported): string {
  const lines = [
    ...[...statuses].map(([status, rows]) => `- ${counted(rows, 'row')} with the status ${status}`),
    ...(grids === 0 ? [] : [`- ${counted(grids, 'grid')} whose frames are there`]),
    ...(withoutImage === 0 ? [] : [`- ${counted(withoutImage, 'row')} without an image`]),
    ...(problems.missing === 0 ? [] : [`- ${counted(problems.missing, 'row')} whose file is missing`]),
    ...(problems.changed === 0
      ? []
      : [`- ${counted(problems.changed, 'row')} whose file has changed since it was made`]),
  ];
  const left =
    lines.length === 0 ? 'Nothing that was planned is left out.\n' : `Left out:\n\n${lines.join('\n')}\n`;
  return uncaptioned === 0 ? left : `${left}\n${counted(uncaptioned, 'row')} have no caption.\n`;
}

/** A Markdown table; the cells are already Markdown. */
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

/** Escapes text of a pipeline file for one line of Markdown, so that markup, links, images and bars of tables have no effect. */
const inLine = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`~|<>[\]]/g, (sign) => `\\${sign}`);

/** Formats text as inline code; backticks and bars of tables are replaced. */
const code = (text: string): string =>
  `\`${text.replaceAll(/\s+/g, ' ').replaceAll('`', "'").replaceAll('|', '\\|')}\``;
