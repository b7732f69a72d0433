import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { openState } from '../../../src/state/state.ts';
import { fingerprintFact } from '../../../src/state/store.ts';
import { promptpress } from '../../cli/test-io.ts';
import { makePng } from '../../rig/png.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { jobRecord } from '../../state/records.ts';

useQuickSandbox();

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'promptpress-'));
  write();
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const file = (name: string): string => join(cwd, name);
const directory = (): string => file('runs/notes.sandbox');

/** Two cells ask for one title, and one note is skipped. */
const pipeline = `name: notes
budget: { submits: 9 }
matrix: { rows: words.csv, tone: [dry, warm] }
steps:
  note: { when: 'tone != "dry" or word != "owl"', generate: { model: text-pro, prompt: "{{ word }}, {{ tone }}", images: [pic.png] } }
  title: { generate: { model: text-pro, prompt: "A title for {{ word }}" } }
`;

function write(text = pipeline): void {
  writeFileSync(file('notes.yaml'), text);
  writeFileSync(file('words.csv'), 'word\nfox\nowl\n');
  writeFileSync(file('pic.png'), makePng(1));
}

async function run(...flags: readonly string[]): Promise<void> {
  const { code, err } = await promptpress(['run', 'notes.yaml', '--sandbox', ...flags], { cwd });
  expect([0, 1], err).toContain(code);
}

async function planned(...flags: readonly string[]): Promise<unknown> {
  const { code, out, err } = await promptpress(['plan', 'notes.yaml', '--sandbox', '--json', ...flags], {
    cwd,
  });
  expect(code, err).toBe(0);
  return JSON.parse(out);
}

/** The same without what the last run noted. */
async function plannedInFull(...flags: readonly string[]): Promise<unknown> {
  const store = openState(directory());
  const known = store.fact(fingerprintFact) ?? '';
  store.setFact(fingerprintFact, '');
  store.close();
  const report = await planned(...flags);
  const again = openState(directory());
  again.setFact(fingerprintFact, known);
  again.close();
  return report;
}

/** Nothing of any job can be read any more, which a plan notices that looks at its slots. */
function damageRecords(): void {
  const database = openDatabase(join(directory(), 'state.db'));
  database.exec("UPDATE jobs SET doc = 'no record'");
  database.close();
}

describe('a plan with nothing to do', () => {
  it('shows the same without reading slots as a plan that reads each slot', async () => {
    await run();
    const whole = await plannedInFull();
    expect(whole).toMatchObject({
      exact: true,
      total: { slots: 8, jobs: 5, done: 5, shared: 2, skipped: 1, submits: 0 },
      warnings: [{ code: 'plan.shared' }],
    });
    damageRecords();
    expect(await planned()).toEqual(whole);
    const { code, out } = await promptpress(['run', 'notes.yaml', '--sandbox', '--dry-run', '--json'], {
      cwd,
    });
    expect([code, JSON.parse(out)]).toEqual([0, whole]);
  });

  it('reads its slots if flags ask for more than a complete plan, or for finished work', async () => {
    await run();
    damageRecords();
    for (const flags of [
      ['--limit', '1'],
      ['--only', 'note'],
      ['--filter', 'tone=dry'],
      ['--retry-failed'],
    ]) {
      const { code, err } = await promptpress(['plan', 'notes.yaml', '--sandbox', ...flags], { cwd });
      expect([code, err]).toEqual([74, expect.stringContaining('state.db')]);
    }
  });

  const changes: Readonly<Record<string, () => void>> = {
    'the text': () => appendFileSync(file('notes.yaml'), '# edited\n'),
    'a prompt': () => write(pipeline.replace('A title', 'The title')),
    'a row': () => appendFileSync(file('words.csv'), 'elk\n'),
    'an image': () => writeFileSync(file('pic.png'), makePng(2)),
    'a job of the state': () => {
      const store = openState(directory());
      store.commit({ records: [jobRecord('0'.repeat(32), 'done')], attempts: [] });
      store.close();
    },
  };

  it.each(Object.entries(changes))('detects every change: %s', async (_name, change) => {
    await run();
    change();
    const found = await planned();
    expect(found).toEqual(await plannedInFull());
  });

  it('counts failures like a plan that reads each slot', async () => {
    await run('--fault', 'text:400:at 1');
    await run();
    const found = await planned();
    expect(found).toMatchObject({ total: { failed: 1, submits: 0 } });
    expect(found).toEqual(await plannedInFull());
  });

  it('knows the slots after an edit too, when most of the manifest is copied', async () => {
    await run();
    for (const tones of ['[dry, odd]', '[odd]', '[warm, odd, dry]']) {
      write(pipeline.replace('[dry, warm]', tones).replace('submits: 9', 'submits: 99'));
      await run();
      const found = await planned();
      expect(found).toEqual(await plannedInFull());
      expect(found).toMatchObject({ exact: true, total: { submits: 0 } });
    }
  });
});
