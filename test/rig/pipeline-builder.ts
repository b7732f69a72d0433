import { DiagnosticCollector } from '../../src/pipeline/diagnostics/collector.ts';
import { SourceText } from '../../src/pipeline/diagnostics/source.ts';
import type { FilePort } from '../../src/pipeline/files.ts';
import { readPipeline } from '../../src/pipeline/parse.ts';
import type { Pipeline } from '../../src/pipeline/pipeline.ts';
import type { Cell } from '../../src/plan/cell.ts';
import { type Plan, preparePlan } from '../../src/plan/plan.ts';
import type { ImageFiles } from '../../src/plan/request/image-files.ts';

/** For pipelines that name no file. */
export const noFiles: FilePort = {
  root: '/nowhere',
  read: (file) => {
    throw new Error(`a test reads ${file}`);
  },
  list: (listing) => {
    throw new Error(`a test lists ${listing}`);
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

/** The images of a test, as far as the checks of a pipeline ask for files. */
const imageFiles = (images: ImageFiles): FilePort => ({
  ...noFiles,
  root: '/',
  facts: (file) => {
    const facts = images.facts(file.replace(/^\/nowhere\//, ''));
    return Promise.resolve(
      facts === 'unread' || 'error' in facts
        ? undefined
        : { kind: 'file', realPath: file, bytes: facts.bytes },
    );
  },
});

/** A pipeline of YAML text (its `name` may be left out), checked as the command checks it. */
export async function pipelineOf(text: string, images?: ImageFiles): Promise<Pipeline> {
  const files = images === undefined ? noFiles : imageFiles(images);
  const source = { file: 'test.yaml', folder: '/nowhere', text: wholeText(text) };
  const reports = new DiagnosticCollector(new SourceText(source.file, source.text));
  const pipeline = await readPipeline(source, files, reports);
  if (pipeline !== undefined) return pipeline;
  const list = reports
    .diagnostics()
    .map(({ code, line, column, message }) => `${line}:${column} ${code} ${message}`);
  throw new Error(`The test's pipeline is not valid:\n${list.join('\n')}\n${source.text}`);
}

const testService = 'https://service.test';

export async function planOf(text: string, serviceId = testService, images?: ImageFiles): Promise<Plan> {
  const plan = await preparePlan(await pipelineOf(text, images), {
    files: noFiles,
    serviceId,
    ...(images === undefined ? {} : { images }),
  });
  if (!plan.ok) throw new Error(plan.error.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return plan.value;
}

export async function cellsOf(plan: Plan): Promise<Cell[]> {
  const cells: Cell[] = [];
  for await (const cell of plan.matrix.cells()) cells.push(cell);
  return cells;
}
