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

interface Planned {
  readonly plan: Plan;
  readonly cells: readonly Cell[];
}

/** The last few: a test that kills a run at every turn asks for the same plan each time. */
const known = new Map<string, Promise<Planned>>();
const maxKnown = 4;

/** The plan of a pipeline's text, and all its cells. Neither is ever changed: who asks again gets the same. */
export function planOf(text: string): Promise<Planned> {
  const planned = known.get(text) ?? newPlanOf(text);
  known.delete(text);
  known.set(text, planned);
  for (const oldest of known.keys()) if (known.size > maxKnown) known.delete(oldest);
  return planned;
}

async function newPlanOf(text: string): Promise<Planned> {
  const files = textFiles();
  const { pipeline, diagnostics } = await parsePipeline({ file: 'test.yaml', folder: '/', text }, files);
  if (pipeline === undefined) throw new Error(JSON.stringify(diagnostics, undefined, 2));
  const plan = await preparePlan(pipeline, { files, serviceId: 'test' });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error, undefined, 2));
  const cells: Cell[] = [];
  for await (const cell of plan.value.matrix.cells()) cells.push(cell);
  return { plan: plan.value, cells };
}
