import type { Input, Kind } from '../input.ts';
import { replyRun, schemaRun } from './answers.ts';
import { clickRun } from './click.ts';
import { engineRun } from './engine.ts';
import { lawfulPrototypes, type Run } from './law.ts';
import { argumentsRun, gitRun, pathRun } from './machine.ts';
import { maskRun } from './masks.ts';
import { repositoryRun } from './repository.ts';
import { taskRun } from './tasks.ts';
import { nameRun, pipelineRun, selectorRun, tableRun, templateRun } from './texts.ts';

const runs: Readonly<Record<Kind, (input: Input) => Run | Promise<Run>>> = {
  pipeline: pipelineRun,
  table: tableRun,
  selector: selectorRun,
  template: templateRun,
  arguments: argumentsRun,
  name: nameRun,
  path: pathRun,
  git: gitRun,
  repository: repositoryRun,
  engine: engineRun,
  stream: replyRun,
  answer: replyRun,
  schema: schemaRun,
  task: taskRun,
  click: clickRun,
  mask: maskRun,
};

/**
 * Makes an input ready. What is given back reads it, and returns the codes that it was met with.
 *
 * @throws when it is run: Broken for a promise that was not kept, anything else for a crash
 */
export async function prepare(input: Input): Promise<Run> {
  const run = await runs[input.kind](input);
  return async () => {
    const codes = await run();
    lawfulPrototypes();
    return codes;
  };
}
