import type { FilePort } from '../../src/pipeline/files.ts';
import { parsePipeline } from '../../src/pipeline/parse.ts';
import type { Pipeline } from '../../src/pipeline/pipeline.ts';
import type { Cell } from '../../src/plan/cell.ts';
import { type Plan, preparePlan } from '../../src/plan/plan.ts';

/** For pipelines that name no file. */
export const noFiles: FilePort = {
  root: '/nowhere',
  read: (file) => {
    throw new Error(`a test reads ${file}`);
  },
  facts: () => Promise.resolve(undefined),
};

/** Text of a pipeline without the indentation of the test that it stands in, and with a name. */
function wholeText(text: string): string {
  const indent = /^\n( *)/.exec(text)?.[1] ?? '';
  const flush = text.trimEnd().replaceAll(`\n${indent}`, '\n').trimStart();
  if (/\bname: \w+\n/.test(flush)) return flush;
  return flush.startsWith('{') ? flush.replace('{', '{ name: test,') : `name: test\n${flush}`;
}

/** A pipeline of YAML text (its `name` may be left out), checked as the command checks it. */
export async function pipelineOf(text: string): Promise<Pipeline> {
  const source = { file: 'test.yaml', folder: '/nowhere', text: wholeText(text) };
  const { pipeline, diagnostics } = await parsePipeline(source, noFiles);
  if (pipeline !== undefined) return pipeline;
  const list = diagnostics.map(({ code, line, column, message }) => `${line}:${column} ${code} ${message}`);
  throw new Error(`The test's pipeline is not valid:\n${list.join('\n')}\n${source.text}`);
}

export async function planOf(text: string, serviceId = 'https://service.test'): Promise<Plan> {
  const plan = await preparePlan(await pipelineOf(text), { files: noFiles, serviceId });
  if (!plan.ok) throw new Error(plan.error.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return plan.value;
}

export async function cellsOf(plan: Plan): Promise<Cell[]> {
  const cells: Cell[] = [];
  for await (const cell of plan.matrix.cells()) cells.push(cell);
  return cells;
}
