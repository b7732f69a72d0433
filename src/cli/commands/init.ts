import { readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { exitCodes, usageError } from '../../app/errors/cli-error.ts';
import { exchanging } from '../../app/errors/correction.ts';
import { packageFile } from '../../app/version.ts';
import { printable } from '../../pipeline/diagnostics/terminal-text.ts';
import { quoted } from '../../report/text/printable.ts';
import { makeFolders } from '../../state/files/folders.ts';
import { checkFile, checkFolder } from '../../state/files/plain-path.ts';
import { command } from '../args/command.ts';
import { valued } from '../args/flags.ts';
import { summaries } from '../args/summaries.ts';
import { oneOf } from '../args/values.ts';

/** Place of the schema for editors: beside the pipelines, so that it does not depend on the installation. */
const schemaPlace = '.promptpress/pipeline.schema.json';

const firstPipeline = `# yaml-language-server: $schema=./${schemaPlace}
#
# A first pipeline. It works at once, on this machine, without a key and without cost:
#
#   promptpress run pipeline.yaml --sandbox
#
# Against a real service: set PROMPTPRESS_BASE_URL and PROMPTPRESS_API_KEY, then leave --sandbox out.
# promptpress plan pipeline.yaml says beforehand what would be submitted.

name: first
description: Two animals in two styles; every grid gets its first image upscaled and varied.

service:
  speed: relax # relax is the cheapest, then fast, then turbo

limits:
  tasks: 4 # images that the service works on at the same time

# Every combination of these values is one cell: 2 × 2 here. More values, more cells.
matrix:
  animal: [fox, owl]
  style: [ink drawing, oil on canvas]

steps:
  # Each cell gets one grid of four images. {{ … }} takes the values of the cell.
  grid:
    imagine: "{{ animal }} in a winter forest, {{ style }} --v 6.1"
    # Then buttons are pressed on what came out: U1 takes the first image of the grid, Vary (Strong) varies it.
    # U1..U4 would press all four; A | B presses the first of A and B that is there.
    path: U1 → Vary (Strong)

# Edit anything and run it again: only what changed is made.
#
# A text model can look at the images, and its reply can choose the next button (generate, chat): see
# pipelines/judge.yaml and pipelines/captions.yaml of promptpress.
`;

/** Examples in the package, with their tables; `npm test` runs each. */
const templates = {
  foxes: { file: 'foxes.yaml', tables: [] },
  judge: { file: 'judge.yaml', tables: [] },
  captions: { file: 'captions.yaml', tables: ['data/products.csv'] },
  table: { file: 'prompts-table.yaml', tables: ['data/prompts.csv'] },
} as const satisfies Readonly<Record<string, { readonly file: string; readonly tables: readonly string[] }>>;

type TemplateName = keyof typeof templates;
const templateNames = Object.keys(templates) as readonly TemplateName[];

/** Files that `init` writes, besides the schema and the ignore file: names within the folder, with texts. */
interface FirstFiles {
  readonly pipeline: string;
  readonly tables: readonly { readonly name: string; readonly text: string }[];
}

/** Adapts an example to its new folder: other places of the schema and the file. */
async function filesOf(template: TemplateName | undefined): Promise<FirstFiles> {
  if (template === undefined) return { pipeline: firstPipeline, tables: [] };
  const { file, tables } = templates[template];
  const text = await readFile(packageFile(`pipelines/${file}`), 'utf8');
  return {
    pipeline: text
      .replace('$schema=../schemas/pipeline.schema.json', `$schema=./${schemaPlace}`)
      .replaceAll(`pipelines/${file}`, 'pipeline.yaml'),
    tables: await Promise.all(
      tables.map(async (name) => ({ name, text: await readFile(packageFile(`pipelines/${name}`), 'utf8') })),
    ),
  };
}

/** Entry of the ignore file: run directories lie beside the pipeline file. */
const ignored = 'runs/';

/** `promptpress init [dir]` */
export const init = command(
  {
    name: 'init',
    summary: summaries.init,
    operands: '[DIR]',
    about: `Writes pipeline.yaml, a small commented pipeline that works at once in the sandbox; the schema that editors complete and check it with (.promptpress/); and an entry for runs/ in .gitignore. Existing files are not changed.
--template takes one of the package's examples instead: foxes (grids, upscales, variations), judge (a model chooses the best frame), captions (texts for a table of products), table (your own prompts, one row each). captions and table write their table too, into data/: put your own rows there.`,
    examples: [
      { command: 'promptpress init', does: 'in this folder' },
      { command: 'promptpress init sets/foxes', does: 'in another folder, which is created' },
      {
        command: 'promptpress init prompts --template table',
        does: 'a table of prompts, and the pipeline that reads it',
      },
    ],
    flags: {
      template: valued(
        templateNames.join('|'),
        'an example to begin with, instead of the small first pipeline',
        oneOf(...templateNames),
      ),
    },
  },
  { least: 0, most: 1 },
  async ({ template }, [given], { io }) => {
    // npm sets both for `npx`, which does not add the command to the shell's path. `--no` prevents a download by name.
    const npx =
      io.env['npm_lifecycle_event'] === 'npx' || io.env['npm_command'] === 'exec' ? 'npx --no ' : '';
    const folder = resolve(io.cwd, given ?? '.');
    await refuseFile(given, folder);
    makeFolders(folder);
    const { pipeline, tables } = await filesOf(template);
    refuseLinks(folder, tables);
    const schema = await readFile(packageFile('schemas/pipeline.schema.json'), 'utf8');
    const place = (name: string): string => printable(relative(io.cwd, join(folder, name)) || name);

    if (template !== undefined && !(await mayWrite(join(folder, 'pipeline.yaml'), pipeline)))
      throw usageError(
        `${place('pipeline.yaml')} exists already: neither the template ${template} nor anything else was written.`,
        `Take another folder: ${npx}promptpress init DIR --template ${template}`,
      );

    const say = async (name: string, outcome: string): Promise<void> =>
      io.out(`${outcome}  ${place(name)}\n`);
    await say('pipeline.yaml', await writeNew(join(folder, 'pipeline.yaml'), pipeline));
    for (const { name, text } of tables) await say(name, await writeNew(join(folder, name), text));
    await say(schemaPlace, await writeNew(join(folder, schemaPlace), schema));
    await say('.gitignore', await ignoreRuns(join(folder, '.gitignore')));
    const enter = given === undefined || folder === io.cwd ? '' : `cd ${quoted(given)} && `;
    await io.out(`\nNext: ${enter}${npx}promptpress run pipeline.yaml --sandbox\n`);
    return exitCodes.ok;
  },
);

/** Refuses a pipeline file given in place of its folder. @throws CliError */
async function refuseFile(given: string | undefined, folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  const isNamedAsFile = found === undefined && /\.ya?ml$/i.test(folder);
  if (given === undefined || !(found?.isFile() === true || isNamedAsFile)) return;
  const parent = dirname(given);
  const hasPipeline =
    (await stat(join(dirname(folder), 'pipeline.yaml')).catch(() => undefined)) !== undefined;
  throw usageError(
    found?.isFile() === true
      ? `init takes a folder, but ${given} is a file.`
      : `init takes a folder, but ${given} is the name of a file.`,
    hasPipeline
      ? `There is a pipeline.yaml in ${parent === '.' ? 'this folder' : parent} already, and init does not change it: name another folder.`
      : 'It writes pipeline.yaml into the folder.',
    exchanging(0, [hasPipeline ? join(parent, 'second') : parent], hasPipeline ? 'example' : 'mended'),
  );
}

/**
 * Refuses links in place of files that are read or written here, because a folder may come from a stranger.
 *
 * @throws StateError `directory.link` | `directory.kind`
 */
function refuseLinks(folder: string, tables: FirstFiles['tables']): void {
  checkFolder(join(folder, dirname(schemaPlace)));
  for (const { name } of tables) checkFolder(join(folder, dirname(name)));
  for (const name of ['pipeline.yaml', schemaPlace, ...tables.map((table) => table.name)])
    checkFile(join(folder, name));
  checkFile(join(folder, '.gitignore'), { inPlace: true });
}

/** Whether a file may be written: it does not exist, or already has this text. */
async function mayWrite(file: string, text: string): Promise<boolean> {
  return !checkFile(file) || (await readFile(file, 'utf8')) === text;
}

/** Creates a file; fails if another process has created it since the check. */
async function writeNew(file: string, text: string): Promise<string> {
  makeFolders(dirname(file));
  try {
    await writeFile(file, text, { flag: 'wx' });
    return 'written';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await readFile(file, 'utf8')) === text ? 'is there' : 'kept   ';
  }
}

async function ignoreRuns(file: string): Promise<string> {
  if ((await writeNew(file, `${ignored}\n`)) === 'written') return 'written';
  const text = await readFile(file, 'utf8');
  if (text.split(/\r?\n/).some((line) => /^\/?runs\/?$/.test(line.trim()))) return 'is there';
  await writeFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${ignored}\n`, { flag: 'a' });
  return 'added  ';
}
