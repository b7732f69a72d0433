import { usageError } from '../../app/errors/cli-error.ts';
import { without } from '../../app/errors/correction.ts';
import { showCells, showPlan } from '../../app/run/dry-run.ts';
import { isEngineWord } from '../../app/service/engine/connect.ts';
import { fileOrDefault } from '../../app/workspace/default-file.ts';
import { loadPipeline } from '../../app/workspace/read-pipeline.ts';
import { command } from '../args/command.ts';
import { toggle } from '../args/flags.ts';
import { engineFlag, placeFlags, reuseFlags, revivalFlags, setFlag } from '../args/run-flags.ts';
import { selectionFlags } from '../args/selection-flags.ts';
import { summaries } from '../args/summaries.ts';

/** `promptpress plan FILE|ENGINE` */
export const plan = command(
  {
    name: 'plan',
    summary: summaries.plan,
    operands: '[FILE|ENGINE]',
    about: `Says how many cells and jobs a pipeline has, what a run would submit and why, what is done already, and what it would cost by the pipeline's prices. It changes nothing and needs no key; only an engine needs the network. The flags choose the same cells as in a run. Without FILE it takes pipeline.yaml of the current folder.
With --engine, or PROMPTPRESS_ENGINE, what is done already is asked of the engine. postgres://…#NAME plans the pipeline of a run there as it ran last.`,
    examples: [
      { command: 'promptpress plan pipeline.yaml', does: 'the whole pipeline' },
      { command: 'promptpress plan pipeline.yaml --sandbox', does: 'what a rehearsal would still do' },
      {
        command: 'promptpress plan pipeline.yaml --retry-failed',
        does: 'what a run with this flag would do',
      },
      {
        command: 'promptpress plan "postgres://press@db.example/press#foxes"',
        does: 'what is left of a run on an engine',
      },
      {
        command: 'promptpress plan pipeline.yaml --cells | head',
        does: 'the cells and their values, a JSON object per line',
      },
    ],
    flags: {
      ...placeFlags,
      ...engineFlag,
      ...setFlag,
      ...selectionFlags,
      ...revivalFlags,
      ...reuseFlags,
      cells: toggle('print the chosen cells instead: one JSON object per line, {"cell": 1, "vars": {…}}'),
      json: toggle('print one JSON object (schemas/plan.schema.json)'),
    },
  },
  { least: 0, most: 1 },
  async (flags, [given], context) => {
    if (flags.cells && flags.json)
      throw usageError(
        '--cells already prints JSON and cannot be used with --json.',
        'Give --cells or --json.',
        without('--json'),
      );
    if (given !== undefined && isEngineWord(given)) {
      const { showEnginePlan } = await import('../../app/engine/plan.ts');
      return await showEnginePlan(given, flags, context);
    }
    const file = fileOrDefault(given, 'plan', context.io);
    const read = await loadPipeline(file, flags, context);
    return flags.cells ? await showCells(read, flags, context) : await showPlan(read, flags, context);
  },
);
