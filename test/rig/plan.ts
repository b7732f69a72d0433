import type { FilePort } from '../../src/pipeline/files.ts';
import { parsePipeline } from '../../src/pipeline/parse.ts';
import type { Cell } from '../../src/plan/cell.ts';
import { type Plan, preparePlan } from '../../src/plan/plan.ts';

/** A file port over texts. */
export function textFiles(texts: Readonly<Record<string, string>> = {}): FilePort {
  return {
    root: '/',
    async *read(file) {
      const text = texts[file];
      if (text === undefined) throw new Error(`no such file: ${file}`);
      yield Buffer.from(text);
    },
    list: (listing) => {
      throw new Error(`no such listing: ${listing}`);
    },
    facts: (file) => {
      const text = texts[file];
      return Promise.resolve(
        text === undefined ? undefined : { kind: 'file', realPath: file, bytes: text.length },
      );
    },
  };
}

/** The plan of a pipeline's text, and all its cells. */
export async function planOf(
  text: string,
): Promise<{ readonly plan: Plan; readonly cells: readonly Cell[] }> {
  const files = textFiles();
  const { pipeline, diagnostics } = await parsePipeline({ file: 'test.yaml', folder: '/', text }, files);
  if (pipeline === undefined) throw new Error(JSON.stringify(diagnostics, undefined, 2));
  const plan = await preparePlan(pipeline, { files, serviceId: 'test' });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error, undefined, 2));
  const cells: Cell[] = [];
  for await (const cell of plan.value.matrix.cells()) cells.push(cell);
  return { plan: plan.value, cells };
}
